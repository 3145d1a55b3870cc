import { escapeText, isProblemError, viewedBounds } from 'countersign/base';
import { cardDigest } from 'countersign/card';
import type { ApprovalSummary, CountersignClient, Receipt, Viewed } from 'countersign/client';
import { type ReviewerOptions, reviewerOf, type SignerOptions, signerOf } from '../base/reviewer.ts';
import type { ReviewAnswer, ShownRequest } from './ask-answer.ts';

/** The reviewer and their key. */
export type AnswerSender = Pick<ReviewerOptions, 'reviewer'> & SignerOptions;

/** The run's reply to an answer. `isDone`: this reviewer need not see the request again. */
interface SendResult {
  text: string;
  accepted: boolean;
  isDone: boolean;
}

/** Sends one decision about exactly the call that was shown, with what was shown and for how long. */
export function sendAnswer(client: CountersignClient, shown: ShownRequest, answer: ReviewAnswer, sender: AnswerSender) {
  const { row, request, card, shownAtMs } = shown;
  const { requestId, digest, workflowId } = request ?? row;
  const viewed: Viewed = {
    channel: 'review',
    ...(card !== undefined && { card: cardDigest(card) }),
    ...(request !== undefined && { userMessages: request.userMessages?.count ?? 0 }),
    durationMs: Math.min(viewedBounds.durationMs, Math.max(0, Date.now() - shownAtMs)),
  };
  const decision = { requestId, digest, ...answer, reviewerId: reviewerOf(sender), viewed };
  return resultOf(row.toolName, true, () => client.decide(decision, { workflowId, ...signerOf(sender) }));
}

/** Moves the deadline of a request. */
export function sendExtension(client: CountersignClient, row: ApprovalSummary, untilMs: number, sender: AnswerSender) {
  const { requestId, workflowId, toolName } = row;
  const message = { requestId, until: new Date(untilMs).toISOString(), by: reviewerOf(sender) };
  return resultOf(toolName, false, () => client.extend(message, { workflowId, ...signerOf(sender) }));
}

async function resultOf(toolName: string, isDone: boolean, send: () => Promise<Receipt>): Promise<SendResult> {
  try {
    const { message } = await send();
    return { text: escapeText(`${toolName}: ${message}`), accepted: true, isDone };
  } catch (error) {
    if (!isProblemError(error)) throw error;
    return { text: escapeText(`${toolName}: ${error.message}`), accepted: false, isDone: false };
  }
}
