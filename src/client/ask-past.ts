import type { WorkflowClientInterceptor } from '@temporalio/client';
import { QueryNotRegisteredError } from '@temporalio/client';
import { sentences } from '../core/ledger/sentences.ts';
import { lookUp } from './look-up.ts';

/**
 * Repeats a query for up to 3 seconds while a continued run verifies the state that it carried, which takes one
 * activity.
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

/** True if a query failed because its execution has not restored its carried state yet. */
export function isNotTakenUp(error: unknown): boolean {
  // The SDK uses this class for every failure of a query handler.
  return error instanceof QueryNotRegisteredError && error.message.includes(sentences.notTakenUp);
}
