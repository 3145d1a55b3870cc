import type { Decision } from '../contract.ts';
import type { ChannelAnswer, ChannelRequest } from './channel.ts';
import type { Problem } from '../core/base/problem.ts';
import { parseDecision } from '../core/messages/decision.ts';
import { isObject, kindOf, parseJson } from '../core/base/json.ts';
import { jsonDigest } from '../core/base/digest.ts';
import { severityRank } from '../core/assess/assessment.ts';
import type { Json, Severity } from '../core/base/tool-call.ts';

/** Converts an answer to a decision without a request id. Its `viewed` records the channel, and what that showed. */
export function answerDecision(
  { userMessages, ...answer }: ChannelAnswer,
  channel?: string,
): Omit<Decision, 'requestId'> {
  const viewed = {
    ...(channel !== undefined && { channel: channel.slice(0, 40) }), // a name may be longer than `viewed` admits
    ...(userMessages !== undefined && { userMessages }),
  };
  return { ...answer, ...(Object.keys(viewed).length > 0 && { viewed }) };
}

/** The reason that an answer gives: a text of at most 2,000 characters, or a function that returns one. */
export type AnswerReason = string | ((request: ChannelRequest, approved: boolean) => string);

/** Options of the channels that give reasons. */
export interface ReasonOptions {
  reason?: AnswerReason;
}

export function answerReason(reason: AnswerReason, request: ChannelRequest, approved: boolean): string {
  return typeof reason === 'function' ? reason(request, approved) : reason;
}

/** Builds an answer with the digest of the request's call, so that it counts for no other call. */
export function answerTo(request: ChannelRequest, approved: boolean, reason?: AnswerReason): ChannelAnswer {
  const why = reason === undefined ? {} : { reason: answerReason(reason, request, approved) };
  return { approved, ...why, digest: request.digest };
}

/** Validates an answer by `parseDecision`, as a decision about this request. An empty `reviewerId` counts as absent. */
export function parseAnswer(
  { userMessages, reviewerId, ...members }: Readonly<Record<string, unknown>>,
  requestId: string,
): { answer: ChannelAnswer } | { problem: Problem } {
  const viewedMember = userMessages === undefined ? {} : { viewed: { userMessages } };
  const reviewerMember = reviewerId === undefined || reviewerId === '' ? {} : { reviewerId };
  const parsed = parseDecision({ ...members, ...reviewerMember, ...viewedMember, requestId });
  if ('problem' in parsed) {
    const { message, code } = parsed.problem;
    // An answer has `userMessages`, which a decision has inside `viewed`.
    return { problem: { code, message: message.replace("'viewed.", "'") } };
  }
  const { requestId: _, viewed, ...answer } = parsed.decision;
  return { answer: viewed?.userMessages === undefined ? answer : { ...answer, userMessages: viewed.userMessages } };
}

/**
 * The error for an answer of a channel that is invalid. Its `message` is one sentence.
 *
 * @example See {@link checkAnswer}, which throws it.
 */
export class InvalidAnswer extends Error {
  override readonly name = 'InvalidAnswer' as const;
}

/** The members of a decision that Countersign adds to a channel's answer. The answer itself may not have them. */
type AddedMember = 'requestId' | 'reviewerName' | 'decisionId' | 'viewed' | 'signature';

/** The members of a decision that a channel's answer may set. */
export const answerMembers = {
  approved: true,
  always: true,
  reason: true,
  modifiedArguments: true,
  response: true,
  reviewerId: true,
  digest: true,
  userMessages: true,
} satisfies Record<keyof ChannelAnswer | Exclude<keyof Decision, AddedMember>, true>;

/** A placeholder for the request id: `parseDecision` needs one, and `checkAnswer` does not know the request. */
const anyRequestId = '0'.repeat(32);

/**
 * Validates the result of a channel's `resolve` and returns it as an answer: `true` approves, `false` denies, an object
 * is checked like a decision. Throws `InvalidAnswer` for anything else, such as an object with an unknown member.
 *
 * @example
 * ```ts
 * import { checkAnswer } from 'countersign/channels';
 *
 * console.log(checkAnswer(true)); // { approved: true }
 * console.log(checkAnswer({ approved: false, reason: 'Not today' })); // { approved: false, reason: 'Not today' }
 * try {
 *   checkAnswer({ aproved: true });
 * } catch (error) {
 *   console.log(String(error)); // InvalidAnswer: An answer has no member 'aproved'.
 * }
 * ```
 */
export function checkAnswer(value: unknown): ChannelAnswer {
  if (typeof value === 'boolean') return { approved: value };
  if (!isObject(value)) throw new InvalidAnswer(`An answer is true, false or { approved, … }, not ${kindOf(value)}.`);
  if (typeof value['then'] === 'function') throw new InvalidAnswer('An answer is no promise: await it first.');
  const unknown = Object.keys(value).find((name) => !Object.hasOwn(answerMembers, name));
  if (unknown !== undefined) throw new InvalidAnswer(`An answer has no member '${unknown.slice(0, 40)}'.`);
  // Copy the object, so that a getter cannot return another value after the check.
  const parsed = parseAnswer({ ...value }, anyRequestId);
  if ('problem' in parsed) throw new InvalidAnswer(`The answer is invalid: ${parsed.problem.message}.`);
  return parsed.answer;
}

/** The members of an answer that say what was shown. The run refuses the answer if that has changed since. */
export function whatWasShown({
  digest,
  userMessages,
}: Pick<ChannelRequest, 'digest' | 'userMessages'>): Required<Pick<ChannelAnswer, 'digest' | 'userMessages'>> {
  return { digest, userMessages: userMessages?.count ?? 0 };
}

/** The digest of an answer, in 64 hex characters. `ResolveContext.refused` identifies the refused answer by it. */
export function answerDigest(answer: ChannelAnswer | boolean): string {
  // The round trip through JSON removes members that are undefined.
  return jsonDigest(parseJson(JSON.stringify(answer)) as Json);
}

/** True if a severity is above a cap. A severity that this version does not know counts as above every cap. */
export function exceeds(severity: Severity, cap: Severity): boolean {
  const rank = severityRank(severity);
  return rank === -1 || rank > severityRank(cap);
}

const mostRecent = 10_000;

/** Creates a set that keeps the last 10,000 ids: of sent messages, so that a retry does not send them again. */
export function recentIds(): Pick<Set<string>, 'add' | 'has'> {
  const ids = new Set<string>();
  return {
    has: (id) => ids.has(id),
    add: (id) => {
      const [oldest] = ids;
      if (oldest !== undefined && ids.size >= mostRecent) ids.delete(oldest);
      return ids.add(id);
    },
  };
}
