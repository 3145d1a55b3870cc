import { isObject, kindOf } from '../core/base/json.ts';
import type { ChannelAnswer } from './channel.ts';
import { parseAnswer } from './parse-answer.ts';

/**
 * Thrown for an answer of a channel that is not valid. `message` is one sentence.
 *
 * @example See {@link checkAnswer}, which throws it.
 */
export class InvalidAnswer extends Error {
  override readonly name = 'InvalidAnswer' as const;
}

/** The members of a decision that a channel sets. It does not set the others, such as the request and the signature. */
const members = {
  approved: true,
  always: true,
  reason: true,
  modifiedArguments: true,
  response: true,
  reviewerId: true,
  digest: true,
  userMessages: true,
} satisfies Record<keyof ChannelAnswer, true>;

/** `parseDecision` judges whole decisions, so the answer gets an id of that form. */
const anyRequestId = '0'.repeat(32);

/**
 * What a channel's `resolve` returned, as an answer: `true` alone approves, `false` alone denies, an object is checked as
 * every decision is. Throws `InvalidAnswer` for anything else, also for unknown members, which would silently not count.
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
  const unknown = Object.keys(value).find((name) => !Object.hasOwn(members, name));
  if (unknown !== undefined) throw new InvalidAnswer(`An answer has no member '${unknown.slice(0, 40)}'.`);
  // Copied once: a getter must not answer differently later.
  const parsed = parseAnswer({ ...value }, anyRequestId);
  if ('problem' in parsed) throw new InvalidAnswer(`The answer is invalid: ${parsed.problem.message}.`);
  return parsed.answer;
}
