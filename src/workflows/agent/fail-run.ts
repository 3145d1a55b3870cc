import { ActivityFailure, ApplicationFailure, TemporalFailure, isCancellation } from '@temporalio/workflow';
import type { Gate } from '../gate/gate.ts';

/**
 * The error of a run that cannot go on: one sentence, the code, and the journal entries that no payload has carried.
 * Other errors than Temporal's failures pass unchanged: a defect of ours makes the task retry until a deploy fixes it.
 */
export function failRun(error: unknown, gate: Gate): unknown {
  if (!(error instanceof TemporalFailure) || isCancellation(error)) return error;
  const cause = error instanceof ActivityFailure ? error.cause : error;
  const message = cause instanceof Error ? cause.message : String(cause);
  const type = cause instanceof ApplicationFailure ? (cause.type ?? 'internal') : 'internal';
  return ApplicationFailure.create({
    message,
    type,
    nonRetryable: true,
    details: [{ status: 'failed', ...gate.takeLast() }],
  });
}
