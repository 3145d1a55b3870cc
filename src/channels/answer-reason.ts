import type { ChannelAnswer, ChannelRequest } from './channel.ts';

/** Why a channel answers as it does: a text of at most 2,000 characters, or a function that makes it. */
export type AnswerReason = string | ((request: ChannelRequest, approved: boolean) => string);

/** Options of the channels that give reasons. */
export interface ReasonOptions {
  reason?: AnswerReason;
}

export function answerReason(reason: AnswerReason, request: ChannelRequest, approved: boolean): string {
  return typeof reason === 'function' ? reason(request, approved) : reason;
}

/** An answer to exactly the call of this request. */
export function answerTo(request: ChannelRequest, approved: boolean, reason?: AnswerReason): ChannelAnswer {
  const why = reason === undefined ? {} : { reason: answerReason(reason, request, approved) };
  return { approved, ...why, digest: request.digest };
}
