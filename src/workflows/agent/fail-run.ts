import { ActivityFailure, ApplicationFailure, TemporalFailure, isCancellation } from '@temporalio/workflow';
import { type Problem, problemCodeOf } from '../../core/base/problem.ts';
import type { Gate } from '../gate/gate.ts';

/**
 * The error of a run that cannot go on: one sentence, the code, and the journal entries that no payload has carried.
 * Other errors than Temporal's failures pass unchanged: a defect of ours makes the task retry until a deploy fixes it.
 */
export function failRun(error: unknown, gate: Gate): unknown {
  if (!(error instanceof TemporalFailure) || isCancellation(error)) return error;
  const { message, type } = reasonOf(error);
  return ApplicationFailure.create({
    message,
    type,
    nonRetryable: true,
    details: [{ status: 'failed', ...gate.takeLast() }],
  });
}

/** Why an activity failed, in its own sentence. */
export function problemOf(failure: ActivityFailure): Problem {
  const { message, type } = reasonOf(failure);
  return { code: problemCodeOf(type), message };
}

function reasonOf(error: TemporalFailure): { message: string; type: string } {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  const message = cause instanceof Error ? cause.message : String(cause);
  return { message, type: cause instanceof ApplicationFailure ? (cause.type ?? 'internal') : 'internal' };
}
