import { answerMembers, parseAnswer } from '../../channels/channel-answer.ts';
import type { ChannelAnswer } from '../../channels/channel.ts';
import { isObject } from '../../core/base/json.ts';
import { ProblemError } from '../../core/base/problem.ts';
import { readJson } from '../../text/read-json.ts';

/** The request of an answer. */
export interface AnsweredRequest {
  requestId: string;
  /** Absent: unknown here; the run compares it. */
  digest?: string;
  /** The members that the answer must have, because nothing else ties it to this request. */
  named: readonly ('requestId' | 'digest')[];
}

/** When the receiver decided. The run goes by when the answer came. */
const unusedMember = 'timestamp';
const members = [...Object.keys(answerMembers), 'requestId'];
/** Our names by their snake case, which receivers in Python write. */
const spellings: ReadonlyMap<string, string> = new Map(
  members.map((name) => [name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), name]),
);

/**
 * Reads the JSON of an answer strictly: refuses a duplicate name, an unknown member, and an answer about another
 * request or call. Throws a `ProblemError` (`invalid_decision`, `too_large`, `digest_mismatch`).
 */
export function readAnswer(text: string, { requestId, digest, named }: AnsweredRequest): ChannelAnswer {
  const read = readJson(text, { root: 'answer', refusedKeys: ['__proto__'] });
  if ('problem' in read) throw invalidAnswer(read.problem);
  if (!isObject(read.value)) throw invalidAnswer('it must be an object { approved }');
  const value = inOurSpelling(read.value);
  const unknown = Object.keys(value).find((name) => !members.includes(name));
  if (unknown !== undefined) throw invalidAnswer(`unknown member '${unknown.slice(0, 40)}'`);
  const missing = named.find((name) => value[name] === undefined);
  if (missing !== undefined) throw invalidAnswer(`it must name the '${missing}' of the request`);
  if (value['requestId'] !== undefined && value['requestId'] !== requestId)
    throw invalidAnswer('it is about another request');
  const parsed = parseAnswer(value, requestId);
  if ('problem' in parsed) throw invalidAnswer(parsed.problem.message, parsed.problem.code);
  const { answer } = parsed;
  if (digest !== undefined && answer.digest !== undefined && answer.digest !== digest) {
    throw invalidAnswer('it is about another call: its digest is not the one that was sent', 'digest_mismatch');
  }
  return { ...answer, ...(digest !== undefined && { digest }) };
}

/**
 * The members under their camelCase names, without those that are `null`, also in a scope: Python writes null for a
 * missing value.
 */
function inOurSpelling(given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const value: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(given)) {
    const ours = spellings.get(name) ?? name;
    if (ours !== name && Object.hasOwn(given, ours)) throw invalidAnswer(`it has both '${ours}' and '${name}'`);
    if (name !== unusedMember) value[ours] = member;
  }
  const { always } = value;
  return withoutNulls(isObject(always) ? { ...value, always: withoutNulls(always) } : value);
}

function withoutNulls(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, member]) => member !== null));
}

function invalidAnswer(why: string, code: ProblemError['code'] = 'invalid_decision'): ProblemError {
  return new ProblemError({ code, message: `The answer of the webhook's receiver does not count: ${why}.` });
}
