import { createHash } from 'node:crypto';
import { isObject } from '../../core/base/json.ts';
import type { Json } from '../../core/base/tool-call.ts';
import type { Recipient } from './recipients.ts';

/**
 * The result of `notify`, by which later mails join one thread. `first`: for each message, the recipients who had no
 * earlier one. History keeps it, so recipients and messages are digests here, never addresses or names.
 */
export interface MailThread {
  first: { message: string; to: string[] }[];
  /** The messages that some recipients do not have yet, the newest last, and who has them. */
  unfinished?: { message: string; to: string[] }[];
  /** How many recipients the server refused for good. */
  refused?: number;
}

export function readThread(sent: Json | undefined): MailThread {
  if (!isObject(sent) || !Array.isArray(sent['first'])) return { first: [] };
  return sent as unknown as MailThread;
}

/** A message, named by the key of its step: the same for every attempt. */
export function threadMessage(key: string): string {
  return digest(key, 32);
}

export function recipientMark({ reviewer, address }: Recipient): string {
  return digest(reviewer === undefined ? `to ${address}` : `reviewer ${reviewer}`, 16);
}

export function messageId(message: string, mark: string, domain: string): string {
  return `<${message}.${mark}@${domain}>`;
}

/** The message that reached a recipient first; undefined if none did. */
export function firstMessage({ first }: MailThread, mark: string): string | undefined {
  return first.find(({ to }) => to.includes(mark))?.message;
}

/** The recipients of a message that others have yet to get. */
export function gotBefore({ unfinished = [] }: MailThread, message: string): readonly string[] {
  return unfinished.find((each) => each.message === message)?.to ?? [];
}

/** More would exceed the stored size of a thread. */
const mostUnfinished = 2;

/** The thread with one more message, or with more recipients of it. `isUnfinished`: others have yet to get it. */
export function continued(
  thread: MailThread,
  message: string,
  { reached, refused, isUnfinished }: { reached: readonly string[]; refused: number; isUnfinished: boolean },
): MailThread {
  const to = reached.filter((mark) => firstMessage(thread, mark) === undefined);
  const all = refused + (thread.refused ?? 0);
  const others = (thread.unfinished ?? []).filter((each) => each.message !== message);
  const unfinished = isUnfinished ? [...others, { message, to: [...reached] }].slice(-mostUnfinished) : others;
  return {
    first: to.length === 0 ? thread.first : [...thread.first, { message, to }],
    ...(unfinished.length > 0 && { unfinished }),
    ...(all > 0 && { refused: all }),
  };
}

function digest(text: string, length: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length);
}
