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

/** The `approval` of a run's layers, merged. What only an ask has is in ask-terms.ts. */
export interface Limits {
  /** How long a request waits, in milliseconds; null waits for ever. */
  timeoutMs: number | null;
  /** Open requests of the run at a time. */
  maxPending: number;
  /** Reviewers' denials of one tool, after which it is denied for good. */
  maxRetriesAfterDeny: number;
  /** Irreversible calls of the run; null: no limit. */
  maxIrreversiblePerRun: number | null;
  /** Whether reviewers see arguments. */
  includeArguments: boolean;
  /** Whether what they see is redacted. */
  redact: boolean;
  batch: 'parallel' | 'sequential';
  deniedAs: 'result' | 'error';
}

/**
 * The limits of a run: of what the layers wrote, the smaller (policy section 3), and of two ways the stricter
 * (arguments hidden, `sequential`, `error`); what none wrote is the default. Only a ceiling switches redaction off, if
 * there is one. No time-out is longer than the ceiling's `max_timeout`, 24 hours unless it says otherwise; only a
 * ceiling with `max_timeout: never` lets a request wait for ever. `ruling`: the time-outs of the rules that asked stand
 * in the place of their policy's.
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
  // A parent has a longest one if it was a ceiling when the agent above began.
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

/** What the rules say, each for itself; where one of them says nothing, or there is none, what the policy says. */
function ownOr(asking: readonly AskSettings[], policyMs: number | null | undefined): (number | null)[] {
  const said = asking.length === 0 ? [policyMs] : asking.map(({ timeoutMs = policyMs }) => timeoutMs);
  return said.filter((timeoutMs) => timeoutMs !== undefined);
}

function orForEver(durationMs: number | null): number {
  return durationMs ?? Infinity;
}
