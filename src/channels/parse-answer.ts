import type { Problem } from '../core/base/problem.ts';
import { parseDecision } from '../core/messages/decision.ts';
import type { ChannelAnswer } from './channel.ts';

/** Checks the members of an answer as those of a decision about this request. An empty reviewer is an absent one. */
export function parseAnswer(
  { userMessages, reviewerId, ...members }: Readonly<Record<string, unknown>>,
  requestId: string,
): { answer: ChannelAnswer } | { problem: Problem } {
  const shown = userMessages === undefined ? {} : { viewed: { userMessages } };
  const named = reviewerId === undefined || reviewerId === '' ? {} : { reviewerId };
  const parsed = parseDecision({ ...members, ...named, ...shown, requestId });
  if ('problem' in parsed) {
    const { message, code } = parsed.problem;
    return { problem: { code, message: message.replace("'viewed.", "'") } };
  }
  const { requestId: _, viewed, ...answer } = parsed.decision;
  return { answer: viewed?.userMessages === undefined ? answer : { ...answer, userMessages: viewed.userMessages } };
}
