import { isProblemError, type Problem, type JsonObject } from 'countersign/base';
import type { Decision, Receipt } from 'countersign/client';
import { type ChatThread, hashOf, parseAnswerId, workflowOf } from './chat-thread.ts';
import type { GatewayContext } from '../gateway-context.ts';
import type { Principal } from '../identity/principal.ts';
import { decideAs } from '../send-as.ts';

export interface ChatAnswer {
  answerId: string;
  approved: boolean;
  reason?: string;
  /** All arguments with which the user approves the call, in place of the shown arguments. */
  editedArguments?: JsonObject;
  digest?: string;
}

export type UnreadAnswer = { answerId: string; problem: Problem };

/** Sends all answers to their runs. A refused or unreadable one gets a receipt with a code. A repeat counts once. */
export async function recordAnswers(
  thread: ChatThread,
  answers: readonly (ChatAnswer | UnreadAnswer)[],
  { channel, gateway }: { channel: string; gateway: GatewayContext },
): Promise<Receipt[]> {
  return Promise.all(
    answers.map(async (answer): Promise<Receipt> => {
      const named = parseAnswerId(answer.answerId);
      if (named === undefined) {
        const message = 'No request has this id: answer with the id that the request came with.';
        return refusalReceipt('', { code: 'unknown_request', message });
      }
      if ('problem' in answer) return refusalReceipt(named.requestId, answer.problem);
      // The workflow id contains a hash of the principal, so a person cannot answer in another person's chat.
      const workflowId = workflowOf(thread, named.run);
      const decision = decisionOf(thread, answer, named.requestId, channel);
      return record(gateway, thread.principal, { workflowId, decision });
    }),
  );
}

/** The decision for an answer of a chat. Its id is a hash of the answer, so that a repeated answer counts once. */
function decisionOf(
  { principal }: ChatThread,
  { answerId, approved, reason, editedArguments, digest }: ChatAnswer,
  requestId: string,
  channel: string,
): Decision {
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

/** Sends a decision to its run. A refusal becomes a receipt. Throws any other error, such as `server_unreachable`. */
async function record(
  gateway: GatewayContext,
  principal: Principal,
  { workflowId, decision }: { workflowId: string; decision: Decision },
): Promise<Receipt> {
  try {
    return await decideAs(gateway, principal, decision, workflowId);
  } catch (error) {
    if (!isProblemError(error) || error.code === 'server_unreachable') throw error;
    return refusalReceipt(decision.requestId, { code: error.code, message: error.message });
  }
}

function refusalReceipt(requestId: string, { code, message }: Problem): Receipt {
  return { requestId, accepted: false, code, message };
}
