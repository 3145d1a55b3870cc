import {
  defaultMaxPending,
  defaultMaxTimeoutMs,
  defaultTimeoutMs,
  maxPendingBound,
  type PolicyLayers,
} from './policy.ts';

export interface Limits {
  /** How long a request waits, in milliseconds; null waits for ever. */
  timeoutMs: number | null;
  /** Open requests of the run at a time. */
  maxPending: number;
}

/**
 * The limits of a run: of what the layers wrote, the smaller (policy section 3); what none wrote is the default.
 * No time-out is longer than the ceiling's `max_timeout`, 24 hours unless it says otherwise; only a ceiling with
 * `max_timeout: never` lets a request wait for ever.
 */
export function limitsOf({ ceiling, run }: PolicyLayers): Limits {
  const maxTimeoutMs =
    ceiling?.approval.maxTimeoutMs === undefined ? defaultMaxTimeoutMs : ceiling.approval.maxTimeoutMs;
  const writtenMs = [ceiling?.approval.timeoutMs, run?.approval.timeoutMs].filter(
    (timeoutMs) => timeoutMs !== undefined,
  );
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

function orForEver(durationMs: number | null): number {
  return durationMs ?? Infinity;
}
