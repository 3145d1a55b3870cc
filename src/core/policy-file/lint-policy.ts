/** Finds what is valid in a policy and still looks like a mistake. */
import { compilePolicy, type CompiledRule } from '../policy/compiled-policy.ts';
import { globMatches, type Glob } from '../match/glob.ts';
import { lintPeople } from './lint-people.ts';
import type { Policy, Rule } from '../policy/policy.ts';
import type { PolicyWarning } from './policy-warning.ts';

/**
 * Warnings about a valid policy: rules that a later rule always overrides, grants that they offer in vain, people and
 * groups that its directory lacks, time-outs that allow, and, in an agent's policy (`of: 'agent'`), denies that a run
 * can lift. `of` says whose policy it is; default `run`. Never throws.
 *
 * @example
 * ```ts
 * import { lintPolicy, parsePolicy } from 'countersign';
 *
 * const parsed = parsePolicy('rules: [{ pattern: rm, action: deny }, { pattern: "*", action: allow }]');
 * const warnings = 'policy' in parsed ? lintPolicy(parsed.policy) : [];
 * for (const { message } of warnings) console.log(message);
 * // rule run#1 can never decide: rule run#2 matches all it matches, and comes later
 * ```
 */
export function lintPolicy(policy: Policy, { of = 'run' }: { of?: 'ceiling' | 'agent' | 'run' } = {}): PolicyWarning[] {
  const compiled = compilePolicy(policy, of === 'ceiling' ? 'ceiling' : 'run').rules;
  const rules = policy.rules.map((rule, index) => ({ rule, index, compiled: compiled[index]! }));
  const warnings: PolicyWarning[] = rules.flatMap(({ rule, index, compiled: own }) => {
    const about = (message: string): PolicyWarning => ({ index, rule: own.id, message });
    const over = rules.find((later) => later.index > index && covers(later.rule, later.compiled, rule, own));
    const found: PolicyWarning[] = [];
    if (over !== undefined) found.push(about(shadowed(own, over.compiled)));
    if (rule.ask?.onTimeout === 'allow') found.push(about(`rule ${own.id} allows when nobody answers`));
    if (of === 'agent' && rule.action === 'deny') {
      found.push(
        about(
          `rule ${own.id} denies in an agent's policy, where a run's own policy can lift it: put it in the ceiling`,
        ),
      );
    }
    return found;
  });
  if (policy.approval.onTimeout === 'allow') {
    warnings.push({ message: "'approval.on_timeout' is allow: a call runs when nobody answers" });
  }
  return [...warnings, ...lintPeople(policy, (index) => compiled[index]!.id, of === 'ceiling')];
}

function shadowed(rule: CompiledRule, over: CompiledRule): string {
  if (over.action === 'deny' && rule.ask?.always !== undefined && rule.ask.always !== false) {
    return `rule ${rule.id} offers grants for calls that rule ${over.id} denies: a grant never touches a deny`;
  }
  if (over.action === rule.action)
    return `rule ${rule.id} is not needed: rule ${over.id} matches all it matches, and comes later`;
  return `rule ${rule.id} can never decide: rule ${over.id} matches all it matches, and comes later`;
}

/** True if `wide` certainly matches every call that `narrow` matches. False in doubt. */
function covers(wide: Rule, { pattern: one }: CompiledRule, narrow: Rule, { pattern: other }: CompiledRule): boolean {
  if ('problem' in one || 'problem' in other) return false;
  if (wide.agent !== undefined && wide.agent !== narrow.agent) return false;
  if (wide.when !== undefined && wide.when !== narrow.when) return false;
  const fields = Object.entries(wide.args ?? {});
  if (fields.some(([name, glob]) => !Object.hasOwn(narrow.args ?? {}, name) || narrow.args![name] !== glob))
    return false;
  if (!globCovers(one.name, other.name)) return false;
  return one.args === undefined || (other.args !== undefined && globCovers(one.args, other.args));
}

/**
 * A glob of literals and `*` covers another if it matches the other's text, in which each wildcard is replaced by a
 * character that nobody writes, so that no literal matches across one.
 */
function globCovers(wide: Glob, narrow: Glob): boolean {
  if (wide.source === narrow.source) return true;
  if (/[?[]/.test(wide.source)) return false;
  return globMatches(wide, { mapped: narrow.literals.join('\ufdd1') }) === true;
}
