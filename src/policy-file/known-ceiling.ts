import { conditionReads } from './condition-reads.ts';
import type { Policy, Rule } from '../core/policy/policy.ts';

/** What a condition reads and a tool's worker cannot know: only the run that sends the call has its value. */
const unknownThere = ['metadata', 'counts', 'severity', 'sum'] as const;

/**
 * The ceiling as the second gate applies it. A rule whose condition reads data that only the run has may or may not
 * have matched there. If it allows or asks, it becomes an ask here: it lifts an earlier deny, as it may have done in
 * the run. If it denies, it is left out: it lifted nothing in the run, and a call that it denied there never gets here.
 */
export function knownCeiling(ceiling: Policy): Policy {
  return { ...ceiling, rules: ceiling.rules.flatMap(knownRule) };
}

/** The condition variables that a worker does not know for a call that no run has admitted. */
const unknownOutside = [...unknownThere, 'agent', 'caller'] as const;

/**
 * The ceiling for a call that no run has admitted. A rule for one agent, or whose condition reads what is unknown, counts
 * whenever its pattern matches if it denies, and is left out otherwise.
 */
export function strictCeiling(ceiling: Policy): Policy {
  const rules = ceiling.rules.flatMap((each) => {
    const { when, agent, ...rule } = each;
    const isKnown = agent === undefined && (when === undefined || !conditionReads(when, unknownOutside));
    if (isKnown) return [each];
    return rule.action === 'deny' ? [rule] : [];
  });
  return { ...ceiling, rules };
}

function knownRule({ when, ...rule }: Rule): Rule[] {
  if (when === undefined) return [rule];
  if (!conditionReads(when, unknownThere)) return [{ ...rule, when }];
  return rule.action === 'deny' ? [] : [{ ...rule, action: 'ask' }];
}
