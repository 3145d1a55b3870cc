import type { WorkflowClientInterceptor, WorkflowQueryInput } from '@temporalio/client';
import { QueryNotRegisteredError, QueryRejectedError } from '@temporalio/client';
import proto from '@temporalio/proto';
import { ProblemError } from '../../core/base/problem.ts';
import { sentences } from '../../core/ledger/sentences.ts';
import { lookUp } from './look-up.ts';

type Query = NonNullable<WorkflowClientInterceptor['query']>;

/** Longer than a worker waits for a task that the server may withdraw (workflows/sandbox/untaken-events.ts). */
const leastMs = 6_000;

const { QUERY_REJECT_CONDITION_NOT_OPEN: ifOpen } = proto.temporal.api.enums.v1.QueryRejectCondition;

/**
 * Repeats a query, as often as `lookUp` does: while a continued run verifies the state that it carried, which takes one
 * activity, and while events of a run wait for its next workflow task. For up to `queryTimeoutMs`, and six seconds at
 * least: a caller that has less time ends its call itself.
 */
export class AskPast implements WorkflowClientInterceptor {
  readonly #longestMs: number;

  constructor(queryTimeoutMs: number) {
    this.#longestMs = Math.max(queryTimeoutMs, leastMs);
  }

  async query(input: WorkflowQueryInput, next: Parameters<Query>[1]): Promise<unknown> {
    let refusal: unknown;
    let ask: Query = async (query, goOn) => goOn(query);
    const answer = await lookUp(async () => {
      try {
        return { value: await ask(input, next) };
      } catch (error) {
        if (isNotTakenYet(error)) ask = askIfOpen;
        else if (!isNotTakenUp(error)) throw error;
        refusal = error;
        return undefined;
      }
    }, this.#longestMs);
    if (answer === undefined) throw refusal;
    return answer.value;
  }
}

/**
 * The last events of a run that was terminated may wait for a task for ever: then nobody can say what the run would.
 * Events of a run that completes meanwhile were taken, so a closed run is asked once more.
 */
const askIfOpen: Query = async (input, next) => {
  try {
    return await next({ ...input, queryRejectCondition: ifOpen });
  } catch (error) {
    if (!(error instanceof QueryRejectedError)) throw error;
  }
  try {
    return await next(input);
  } catch (error) {
    if (!isNotTakenYet(error)) throw error;
    const { workflowId } = input.workflowExecution;
    throw new ProblemError({ code: 'run_closed', message: sentences.endedUntaken(workflowId) }, { cause: error });
  }
};

/** True if a query failed because its execution has not restored its carried state yet. */
export function isNotTakenUp(error: unknown): boolean {
  return saysInAnswer(error, sentences.notTakenUp);
}

/** True if a query failed because its run has events that no workflow task has taken yet. */
export function isNotTakenYet(error: unknown): boolean {
  return saysInAnswer(error, sentences.notTakenYet);
}

function saysInAnswer(error: unknown, sentence: string): boolean {
  // The SDK uses this class for every failure of a query.
  return error instanceof QueryNotRegisteredError && error.message.includes(sentence);
}
