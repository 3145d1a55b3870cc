import { escapeText, isProblemError } from 'countersign/base';
import type { CountersignClient, Receipt, Viewed } from 'countersign/client';
import { type ReviewerOptions, reviewerOf } from '../base/reviewer.ts';
import { type SignerOptions, signerOf } from '../base/signer.ts';
import { shownDigest } from './card-lines.ts';
import type { ReviewAnswer, Notice, OpenCard } from './review-state.ts';

/** Who answers. */
export type AnswerSender = Pick<ReviewerOptions, 'reviewer'> & SignerOptions;

/** What the run says of an answer. `isDone`: this reviewer need not see the request again. */
export interface SendResult {
  notice: Notice;
  isDone: boolean;
}

/** A year: a decision that says more is refused. */
const mostShownMs = 365 * 24 * 3_600_000;

/** Sends one decision about exactly the call that the card shows, with what was shown and for how long. */
export function sendAnswer(client: CountersignClient, card: OpenCard, answer: ReviewAnswer, sender: AnswerSender) {
  const { row, request, shownAtMs } = card;
  const { requestId, digest, workflowId } = request ?? row;
  const digestOfCard = shownDigest(card);
  const viewed: Viewed = {
    channel: 'review',
    ...(digestOfCard !== undefined && { card: digestOfCard }),
    ...(request !== undefined && { userMessages: request.userMessages?.count ?? 0 }),
    ...(shownAtMs !== undefined && { durationMs: Math.min(mostShownMs, Math.max(0, Date.now() - shownAtMs)) }),
  };
  const decision = { requestId, digest, ...answer, reviewerId: reviewerOf(sender), viewed };
  return told(row.toolName, true, () => client.decide(decision, { workflowId, ...signerOf(sender) }));
}

/** Moves the deadline of the request on the card. */
export function sendExtension(client: CountersignClient, { row }: OpenCard, untilMs: number, sender: AnswerSender) {
  const { requestId, workflowId, toolName } = row;
  const message = { requestId, until: new Date(untilMs).toISOString(), by: reviewerOf(sender) };
  return told(toolName, false, () => client.extend(message, { workflowId, ...signerOf(sender) }));
}

async function told(toolName: string, isDone: boolean, send: () => Promise<Receipt>): Promise<SendResult> {
  try {
    const { message, recorded } = await send();
    return { notice: { text: escapeText(`${toolName}: ${message}`), tone: recorded ? 'plain' : 'good' }, isDone };
  } catch (error) {
    if (!isProblemError(error)) throw error;
    return { notice: { text: escapeText(`${toolName}: ${error.message}`), tone: 'bad' }, isDone: false };
  }
}
