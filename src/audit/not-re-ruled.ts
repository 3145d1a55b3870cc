import { conditionReads } from '../policy-file/condition-reads.ts';
import { limitsOf } from '../core/policy/limits.ts';
import type { PolicyLayers } from '../core/policy/policy.ts';
import { callSubjects } from '../core/match/matching.ts';
import type { RunRules } from '../core/ledger/rule-case.ts';
import type { AuditedEntry, EvidenceCall, Standing } from './evidence.ts';
import type { RecordedRuling } from './rule-again.ts';

/** Why a ruling cannot be made again although call and policies are known; undefined if it can. */
export function notReRuled(
  { rules, context }: RecordedRuling,
  isVague: { ofCounts: boolean; ofSums: boolean },
): string | undefined {
  const { policies } = rules;
  const unread = (context.unknown ?? []).find((name) => readsOf(policies, [name]));
  if (unread !== undefined) return `a rule reads '${unread}', which the history does not keep`;
  const isLimited = limitsOf(policies).maxIrreversiblePerRun !== null;
  if (isVague.ofCounts && (isLimited || readsOf(policies, ['counts']))) {
    return 'the policies count irreversible calls, and an earlier call is not known';
  }
  if (isVague.ofSums && readsOf(policies, ['sum'])) {
    return 'a rule adds up arguments, and those of an earlier call are not known';
  }
  return undefined;
}

/** True if the answer to a call may depend on its arguments: then it cannot be given without them. */
export function readsArguments(
  { layers, assessRules }: RunRules,
  call: EvidenceCall,
  { grants, engine }: Standing,
): boolean {
  const { ceiling, parents = [], run } = layers;
  const subjects = callSubjects({ tool: call.tool, args: {} }, engine);
  const candidates = [ceiling, ...parents, run].flatMap((policy) => policy?.candidates(subjects).all ?? []);
  return (
    call.shell !== undefined ||
    assessRules.length > 0 ||
    grants.some(({ tool, scope }) => tool === call.tool && scope.kind === 'arguments') ||
    candidates.some(({ rule }) => {
      return (
        'problem' in rule.pattern ||
        rule.pattern.args !== undefined ||
        rule.fields.length > 0 ||
        rule.condition !== undefined
      );
    })
  );
}

/**
 * What later rulings cannot know because of this entry, as a clause; undefined if nothing. A redacted export leaves out
 * members of entries.
 */
export function lostWith({ seq, kind, outcome, grantId, withheld = [] }: AuditedEntry): string | undefined {
  const isLost = (name: string): boolean => withheld.includes(name);
  if (kind === 'grant' && ['scope', 'voters'].some(isLost)) return `the scope of ${grantId ?? 'a grant'} is withheld`;
  if (outcome === 'denied' && isLost('digest')) return `the call that entry ${seq} denied is withheld`;
  return kind === 'delegated' && isLost('to') ? `the delegation of entry ${seq} is withheld` : undefined;
}

function readsOf({ ceiling, parents = [], run }: PolicyLayers, names: Parameters<typeof conditionReads>[1]): boolean {
  const rules = [ceiling, ...parents, run].flatMap((policy) => policy?.rules ?? []);
  return rules.some(({ when }) => when !== undefined && conditionReads(when, names));
}
