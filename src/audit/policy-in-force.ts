import { compilePolicy } from '../core/policy/compiled-policy.ts';
import type { Policy, Rule } from '../core/policy/policy.ts';
import type { RuleLines } from '../core/policy/rule-place.ts';

/** A run, and the operator's policy that it recorded at its start. */
export interface RecordingRun {
  /** ISO 8601. */
  startedAt: string;
  /** Null: the run recorded that no policy of the operator binds it. Absent: it has recorded nothing. */
  ceiling?: { digest: string; policy: Policy; lines?: RuleLines } | null;
}

/** A policy of the operator, and the runs that recorded it. */
export interface RecordedPolicy {
  /** SHA-256 of its canonical JSON. */
  digest: string;
  /** ISO 8601: the start of the first of these runs. The policy may be older. */
  firstAt: string;
  /** ISO 8601: the start of the last of these runs. */
  lastAt: string;
  runs: number;
}

/** A rule of the operator's policy. */
export interface PlacedRule {
  /** As journals name it. */
  id: string;
  /** `FILE:LINE`, if the policy was read from a file. */
  place?: string;
  rule: Rule;
}

/** The result of `policyInForce`. */
export interface PolicyInForce {
  /** The policy of the last started run that recorded anything. Absent: that run recorded none, or there is no run. */
  present?: RecordedPolicy & { policy: Policy; rules: PlacedRule[] };
  /** Other policies that these runs recorded, the last used first. At most 50. */
  others: RecordedPolicy[];
  /** Runs that no policy binds. */
  withoutPolicy: number;
}

const mostOthers = 50;

/** Reads from runs, in any order, which policy of the operator binds new ones. */
export function policyInForce(runs: readonly RecordingRun[]): PolicyInForce {
  const newestFirst = runs
    .flatMap(({ startedAt, ceiling }) => (ceiling === undefined ? [] : [{ startedAt, ceiling }]))
    .sort((one, other) => (one.startedAt < other.startedAt ? 1 : -1));
  const all = new Map<string, RecordedPolicy>();
  for (const { startedAt, ceiling } of newestFirst) {
    if (ceiling === null) continue;
    const { digest } = ceiling;
    const known = all.get(digest) ?? { digest, firstAt: startedAt, lastAt: startedAt, runs: 0 };
    all.set(digest, { ...known, firstAt: startedAt, runs: known.runs + 1 });
  }
  const newest = newestFirst[0]?.ceiling ?? undefined;
  const recorded = newest === undefined ? undefined : all.get(newest.digest);
  return {
    ...(newest !== undefined &&
      recorded !== undefined && {
        present: { ...recorded, policy: newest.policy, rules: placedRules(newest.policy, newest.lines) },
      }),
    others: [...all.values()].filter((each) => each !== recorded).slice(0, mostOthers),
    withoutPolicy: newestFirst.filter(({ ceiling }) => ceiling === null).length,
  };
}

function placedRules(policy: Policy, lines: RuleLines | undefined): PlacedRule[] {
  return compilePolicy(policy, 'ceiling').rules.map(({ id }, index) => {
    const line = lines?.lines[index];
    return { id, ...(line !== undefined && { place: `${lines!.file}:${line}` }), rule: policy.rules[index]! };
  });
}
