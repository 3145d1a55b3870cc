/** Mistakes of code that uses a gate. */
import { ApplicationFailure } from '@temporalio/workflow';

export const needsPlugin =
  'ApprovalGate needs a worker made by createWorker, or with CountersignPlugin, from countersign/worker';

export function misused(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, 'internal');
}
