import {
  defaultMaxPending,
  defaultMaxTimeoutMs,
  defaultTimeoutMs,
  maxPendingBound,
  type AskSettings,
  type PolicyLayers,
} from './policy.ts';
import type { Ruling } from './ruling.ts';

export interface Limits {
  /** How long a request waits, in milliseconds; null waits for ever. */
  timeoutMs: number | null;
  /** Open requests of the run at a time. */
  maxPending: number;
}

/**
 * The limits of a run: of what the layers wrote, the smaller (policy section 3); what none wrote is the default.
 * No time-out is longer than the ceiling's `max_timeout`, 24 hours unless it says otherwise; only a ceiling with
 * `max_timeout: never` lets a request wait for ever. `ruling`: the time-outs of the rules that asked stand in the place
 * of their policy's.
 */
export function limitsOf({ ceiling, run }: PolicyLayers, ruling?: Pick<Ruling, 'ask'>): Limits {
  const maxTimeoutMs =
    ceiling?.approval.maxTimeoutMs === undefined ? defaultMaxTimeoutMs : ceiling.approval.maxTimeoutMs;
  const asking = ruling?.ask?.by ?? [];
  const writtenMs = [
    ...ownOr(
      asking.filter(({ layer }) => layer === 'ceiling'),
      ceiling?.approval.timeoutMs,
    ),
    ...ownOr(
      asking.filter(({ layer }) => layer !== 'ceiling'),
      run?.approval.timeoutMs,
    ),
  ];
  const timeoutMs = Math.min(
    ...(writtenMs.length === 0 ? [defaultTimeoutMs] : writtenMs.map(orForEver)),
    orForEver(maxTimeoutMs),
  );
  const writtenPending = [ceiling?.approval.maxPending, run?.approval.maxPending].filter(
    (count) => count !== undefined,
  );
  return {
    timeoutMs: timeoutMs === Infinity ? null : timeoutMs,
    maxPending: Math.min(...(writtenPending.length === 0 ? [defaultMaxPending] : writtenPending), maxPendingBound),
  };
}

/** What the rules say, each for itself; where one of them says nothing, or there is none, what the policy says. */
function ownOr(asking: readonly AskSettings[], policyMs: number | null | undefined): (number | null)[] {
  const said = asking.length === 0 ? [policyMs] : asking.map(({ timeoutMs = policyMs }) => timeoutMs);
  return said.filter((timeoutMs) => timeoutMs !== undefined);
}

function orForEver(durationMs: number | null): number {
  return durationMs ?? Infinity;
}
