import { ActivityFailure, ApplicationFailure, TemporalFailure, isCancellation } from '@temporalio/workflow';
import type { Gate } from '../gate/gate.ts';

/**
 * What a run that cannot go on ends with: one sentence, the code, and the journal entries not carried yet.
 * Anything but Temporal's own failures passes unchanged: a defect of ours repeats the task until a deploy mends it.
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
    details: [{ status: 'failed', journal: gate.takeJournal() }],
  });
}
