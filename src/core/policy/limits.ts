import type { ApprovalSettings, Policy, PolicyLayers } from './policy.ts';
import {
  defaultMaxPending,
  defaultMaxRetriesAfterDeny,
  defaultMaxTimeoutMs,
  defaultMinRemindMs,
  defaultTimeoutMs,
  maxPendingBound,
} from './policy.ts';
import type { Ruling } from './ruling.ts';

/** The merged `approval` settings of a run's layers. Terms that only an ask has are in ask-terms.ts. */
export interface Limits {
  /** How long a request waits, in milliseconds; null: for ever. */
  timeoutMs: number | null;
  maxPending: number;
  maxRetriesAfterDeny: number;
  /** How long denials count and answer identical calls: until a message of the run's user, or for the whole run. */
  denialsHoldFor: 'message' | 'run';
  /** Maximum number of irreversible calls of the run; null: no limit. */
  maxIrreversiblePerRun: number | null;
  /** True if reviewers see arguments. */
  includeArguments: boolean;
  /** True if reviewers see redacted arguments. */
  redact: boolean;
  batch: 'parallel' | 'sequential';
  /** True if earlier results may answer equal calls. */
  cachedResults: boolean;
  deniedAs: 'result' | 'error';
}

/**
 * Merges the limits of a run's layers (docs/policy-reference.md): the smallest number and the strictest option count.
 * Under a ceiling, only the ceiling can switch redaction off. No time-out exceeds the ceiling's `max_timeout`, which
 * is 24 hours by default, or `never`. The time-outs of the rules in `ruling` replace those of their policies.
 */
export function limitsOf(layers: PolicyLayers, ruling?: Pick<Ruling, 'ask'>): Limits {
  const ceiling = layers.ceiling?.approval;
  const parents = layers.parents?.map(({ approval }) => approval) ?? [];
  const run = layers.run?.approval;
  const written = <Key extends keyof ApprovalSettings>(key: Key) =>
    [ceiling, ...parents, run].map((approval) => approval?.[key]).filter((value) => value !== undefined);
  const irreversible = written('maxIrreversiblePerRun');
  return {
    timeoutMs: timeoutOf(layers, ruling?.ask?.by ?? []),
    maxPending: smallest(written('maxPending'), defaultMaxPending, maxPendingBound),
    maxRetriesAfterDeny: smallest(written('maxRetriesAfterDeny'), defaultMaxRetriesAfterDeny),
    denialsHoldFor: written('denialsHoldFor').includes('run') ? 'run' : 'message',
    maxIrreversiblePerRun: irreversible.length === 0 ? null : Math.min(...irreversible),
    includeArguments: !written('includeArguments').includes(false),
    redact: written('redact').includes(true) || ((ceiling ?? parents[0] ?? run)?.redact ?? true),
    batch: written('batch').includes('sequential') ? 'sequential' : 'parallel',
    cachedResults: !written('cachedResults').includes(false),
    deniedAs: written('deniedAs').includes('error') ? 'error' : 'result',
  };
}

function smallest(written: readonly number[], fallback: number, bound = Infinity): number {
  return Math.min(...(written.length === 0 ? [fallback] : written), bound);
}

/** The least time between notices of lower policies, which must not flood reviewers; 0 without a ceiling. */
export function shortestReminderMs({ ceiling, parents = [] }: PolicyLayers): number {
  const ofCeilingMs = ceiling === undefined ? 0 : (ceiling.approval.minRemindMs ?? defaultMinRemindMs);
  // A parent has a minimum only if it was the ceiling when its run started.
  return Math.max(ofCeilingMs, ...parents.map(({ approval }) => approval.minRemindMs ?? 0));
}

/** The longest that a request may wait, extensions included, in milliseconds; null: for ever. */
export function longestWaitMs({ ceiling, parents = [] }: PolicyLayers): number | null {
  const { maxTimeoutMs = defaultMaxTimeoutMs } = ceiling?.approval ?? {};
  // A parent has a maximum only if it was the ceiling when its run started.
  const all = [maxTimeoutMs, ...parents.map(({ approval }) => approval.maxTimeoutMs ?? null)];
  const longestMs = Math.min(...all.map(orForEver));
  return longestMs === Infinity ? null : longestMs;
}

/** How long a call waits before it runs unanswered: the longest time that a layer gives reviewers. Null: for ever. */
export function vetoWindowMs(layers: PolicyLayers, asking: Asking): number | null {
  const windowsMs = byLayer(layers, asking).flatMap(({ policy, by }) => {
    const { timeoutMs: ofPolicyMs = defaultTimeoutMs } = policy.approval;
    return timeoutsOf(by, ofPolicyMs);
  });
  return boundedMs(Math.max(...windowsMs.map(orForEver)), longestWaitMs(layers));
}

function timeoutOf(layers: PolicyLayers, asking: Asking): number | null {
  const writtenMs = byLayer(layers, asking).flatMap(({ policy, by }) => timeoutsOf(by, policy.approval.timeoutMs));
  return boundedMs(smallest(writtenMs.map(orForEver), defaultTimeoutMs), longestWaitMs(layers));
}

type Asking = NonNullable<Ruling['ask']>['by'];

/** Each policy with its asking rules. The rules of the agent go with the policy of the run. */
function byLayer({ ceiling, parents = [], run }: PolicyLayers, asking: Asking): { policy: Policy; by: Asking }[] {
  const all = [
    { policy: ceiling, by: asking.filter(({ layer }) => layer === 'ceiling') },
    ...parents.map((policy, index) => ({ policy, by: asking.filter(({ parent }) => parent === index) })),
    { policy: run, by: asking.filter(({ layer }) => layer === 'agent' || layer === 'run') },
  ];
  return all.flatMap(({ policy, by }) => (policy === undefined ? [] : [{ policy, by }]));
}

/** The time-out of each asking rule, or its policy's if the rule has none. Without rules: the policy's time-out. */
function timeoutsOf(asking: Asking, policyMs: number | null | undefined): (number | null)[] {
  const timeoutsMs = asking.length === 0 ? [policyMs] : asking.map(({ timeoutMs = policyMs }) => timeoutMs);
  return timeoutsMs.filter((timeoutMs) => timeoutMs !== undefined);
}

function boundedMs(durationMs: number, longestMs: number | null): number | null {
  const shorterMs = Math.min(durationMs, orForEver(longestMs));
  return shorterMs === Infinity ? null : shorterMs;
}

function orForEver(durationMs: number | null): number {
  return durationMs ?? Infinity;
}
