import type { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { Agent } from '../agents/definitions.ts';
import { shownTranscript } from '../contract.ts';
import type { KeptMessage } from '../contract/provider-turn.ts';
import type { ProblemCode } from '../core/base/problem.ts';
import { runCheck } from './run-check.ts';

/** After this many attempts, a check that gives no verdict fails the model call for good. */
const attempts = 5;

/**
 * Runs the agent's `checkInput` on what the model would get. Throws `input_refused` with its reason, never retried, or
 * `check_failed` if it gives no verdict: a service that it asks may answer at the next attempt.
 */
export async function checkInput(
  { name, checkInput: check }: Pick<Agent, 'name' | 'checkInput'>,
  messages: readonly KeptMessage[],
  { cancellationSignal, info, log }: Pick<Context, 'cancellationSignal' | 'info' | 'log'>,
): Promise<void> {
  if (check === undefined) return;
  // A copy: the model gets what was checked.
  const checked = structuredClone(shownTranscript(messages.filter((each) => !isRefused(each))));
  const workflowId = info.workflowExecution?.workflowId ?? '';
  const end = await runCheck((signal) => check(checked, { workflowId, agent: name, log, signal }), cancellationSignal);
  cancellationSignal.throwIfAborted();
  if (end === undefined) return;
  if ('refused' in end) throw failure('input_refused', `The input was refused: ${end.refused}`, true);
  throw failure(
    'check_failed',
    `The input for agent '${name}' was not checked: ${end.failed}`,
    info.attempt >= attempts,
  );
}

function isRefused(message: KeptMessage): boolean {
  return message.role === 'user' && message.refused === true;
}

function failure(type: ProblemCode, message: string, nonRetryable: boolean): ApplicationFailure {
  return ApplicationFailure.create({ message, type, nonRetryable });
}
