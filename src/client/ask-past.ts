import type { WorkflowClientInterceptor } from '@temporalio/client';
import { QueryNotRegisteredError } from '@temporalio/client';
import { sentences } from '../core/ledger/sentences.ts';
import { lookUp } from './look-up.ts';

/**
 * Repeats a query for 3 seconds while the run continues as new: it knows its past once that is verified, which takes
 * one activity.
 */
export const askPast: WorkflowClientInterceptor = {
  async query(input, next) {
    let refusal: unknown;
    const answer = await lookUp(async () => {
      try {
        return { value: await next(input) };
      } catch (error) {
        if (!isNotTakenUp(error)) throw error;
        refusal = error;
        return undefined;
      }
    });
    if (answer === undefined) throw refusal;
    return answer.value;
  },
};

/** True for the failure of a query in an execution that has not taken up yet what it continues. */
export function isNotTakenUp(error: unknown): boolean {
  // The SDK gives every failure of a query handler this class.
  return error instanceof QueryNotRegisteredError && error.message.includes(sentences.notTakenUp);
}
