import { hashOf, parseAnswerId, type ChatThread, workflowOfTurn } from './chat-thread.ts';
import type { Decision, Receipt } from '../../../contract.ts';
import type { Signer } from '../../../client/sign-message.ts';
import { type Problem, isProblemError } from '../../../core/base/problem.ts';
import type { JsonObject } from '../../../core/base/tool-call.ts';

/** One answer of a front end. */
export interface ChatAnswer {
  /** As `AskedRequest.answerId`. */
  answerId: string;
  approved: boolean;
  reason?: string;
  /** With an approval: all arguments, which run instead of those shown. */
  editedArguments?: JsonObject;
  /** The digest that the front end was shown, if it sends it back. */
  digest?: string;
}

/** Answers that could not be read, by the id of the request. */
export type UnreadAnswer = { answerId: string; problem: Problem };

/**
 * Records each answer as a decision of the principal, at once and by itself: one that is refused does not hold up the
 * others. A repeated answer gets the first receipt.
 */
export async function recordAnswers(
  thread: ChatThread,
  answers: readonly (ChatAnswer | UnreadAnswer)[],
  { channel, sign }: { channel: string; sign: Signer | undefined },
): Promise<Receipt[]> {
  return Promise.all(
    answers.map(async (answer): Promise<Receipt> => {
      const place = parseAnswerId(answer.answerId);
      if (place === undefined) {
        const message = 'No request has this id: answer with the id that the request came with.';
        return refused('', { code: 'unknown_request', message });
      }
      if ('problem' in answer) return refused(place.requestId, answer.problem);
      // The run of the id is looked for only among those of this principal, agent and thread.
      const workflowId = workflowOfTurn(thread, place.turn);
      return record(thread, { workflowId, decision: decisionOf(thread, answer, place.requestId, channel), sign });
    }),
  );
}

function decisionOf(
  { principal }: ChatThread,
  { answerId, approved, reason, editedArguments, digest }: ChatAnswer,
  requestId: string,
  channel: string,
): Decision & { decisionId: string } {
  const content = JSON.stringify([approved, reason, editedArguments, digest]);
  return {
    requestId,
    approved,
    ...(reason !== undefined && reason !== '' && { reason }),
    ...(editedArguments !== undefined && { modifiedArguments: editedArguments }),
    ...(digest !== undefined && { digest }),
    reviewerId: principal.id,
    decisionId: `chat-${hashOf([principal.key, answerId, content])}`,
    viewed: { channel },
  };
}

async function record(
  { client }: ChatThread,
  {
    workflowId,
    decision,
    sign,
  }: { workflowId: string; decision: Decision & { decisionId: string }; sign: Signer | undefined },
): Promise<Receipt> {
  const { requestId, decisionId } = decision;
  try {
    return await client.decide(decision, { workflowId, ...(sign !== undefined && { sign }) });
  } catch (error) {
    if (!isProblemError(error) || error.code === 'server_unreachable') throw error;
    // A signature has a time of its own, so a repeated answer is another message under the same id.
    const { settled } = await client.approvals.get(requestId, { workflowId }).catch(() => ({ settled: undefined }));
    const isRepeated = settled?.decisionId === decisionId && settled.reviewerId === decision.reviewerId;
    if (!isRepeated) return refused(requestId, { code: error.code, message: error.message });
    return { requestId, accepted: true, outcome: settled.outcome, message: 'The answer was recorded before.' };
  }
}

function refused(requestId: string, { code, message }: Problem): Receipt {
  return { requestId, accepted: false, code, message };
}
