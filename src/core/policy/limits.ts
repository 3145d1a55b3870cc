import {
  defaultMaxPending,
  defaultMaxRetriesAfterDeny,
  defaultMaxTimeoutMs,
  defaultTimeoutMs,
  maxPendingBound,
  type ApprovalSettings,
  type AskSettings,
  type PolicyLayers,
} from './policy.ts';
import type { Ruling } from './ruling.ts';

/** The `approval` settings of a run's layers, merged. For terms that only an ask has, see ask-terms.ts. */
export interface Limits {
  /** How long a request waits, in milliseconds; null: for ever. */
  timeoutMs: number | null;
  /** Maximum number of open requests of the run at a time. */
  maxPending: number;
  /** After this many denials by reviewers, further calls of the tool are denied at once. */
  maxRetriesAfterDeny: number;
  /** Maximum number of irreversible calls of the run; null: no limit. */
  maxIrreversiblePerRun: number | null;
  /** True if reviewers see arguments. */
  includeArguments: boolean;
  /** True if what they see is redacted. */
  redact: boolean;
  batch: 'parallel' | 'sequential';
  deniedAs: 'result' | 'error';
}

/**
 * Merges the limits of a run's layers (docs/policy.md): the smallest number counts, and the strictest option (arguments
 * hidden, `sequential`, `error`); the default applies if no layer sets a value. If there is a ceiling, only it can
 * switch redaction off. No time-out exceeds the ceiling's `max_timeout`, 24 hours by default; only a ceiling with
 * `max_timeout: never` lets a request wait for ever. `ruling`: the time-outs of the rules that asked replace those of
 * their policies.
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
    maxIrreversiblePerRun: irreversible.length === 0 ? null : Math.min(...irreversible),
    includeArguments: !written('includeArguments').includes(false),
    redact: written('redact').includes(true) || ((ceiling ?? parents[0] ?? run)?.redact ?? true),
    batch: written('batch').includes('sequential') ? 'sequential' : 'parallel',
    deniedAs: written('deniedAs').includes('error') ? 'error' : 'result',
  };
}

function smallest(written: readonly number[], fallback: number, bound = Infinity): number {
  return Math.min(...(written.length === 0 ? [fallback] : written), bound);
}

/** The longest that a request may wait, extensions included, in milliseconds; null: for ever. */
export function longestWaitMs({ ceiling, parents = [] }: PolicyLayers): number | null {
  const { maxTimeoutMs = defaultMaxTimeoutMs } = ceiling?.approval ?? {};
  // A parent has a maximum if it was a ceiling when the run above started.
  const all = [maxTimeoutMs, ...parents.map(({ approval }) => approval.maxTimeoutMs ?? null)];
  const longestMs = Math.min(...all.map(orForEver));
  return longestMs === Infinity ? null : longestMs;
}

function timeoutOf(
  { ceiling, parents = [], run }: PolicyLayers,
  asking: NonNullable<Ruling['ask']>['by'],
): number | null {
  const ofCeiling = asking.filter(({ layer }) => layer === 'ceiling');
  const ofRun = asking.filter(({ layer }) => layer === 'agent' || layer === 'run');
  const ofParent = (index: number) => asking.filter(({ parent }) => parent === index);
  const writtenMs = [
    ...ownOr(ofCeiling, ceiling?.approval.timeoutMs),
    ...parents.flatMap(({ approval }, index) => ownOr(ofParent(index), approval.timeoutMs)),
    ...ownOr(ofRun, run?.approval.timeoutMs),
  ];
  const timeoutMs = smallest(
    writtenMs.map(orForEver),
    defaultTimeoutMs,
    orForEver(longestWaitMs({ ceiling, parents })),
  );
  return timeoutMs === Infinity ? null : timeoutMs;
}

/** The time-out of each rule, else its policy's; the policy's own if no rule asks. */
function ownOr(asking: readonly AskSettings[], policyMs: number | null | undefined): (number | null)[] {
  const said = asking.length === 0 ? [policyMs] : asking.map(({ timeoutMs = policyMs }) => timeoutMs);
  return said.filter((timeoutMs) => timeoutMs !== undefined);
}

function orForEver(durationMs: number | null): number {
  return durationMs ?? Infinity;
}
