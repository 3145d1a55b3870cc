import { createHash } from 'node:crypto';
import { isObject } from '../../core/base/json.ts';
import type { Json } from '../../core/base/tool-call.ts';
import type { Recipient } from './recipients.ts';

/**
 * What `notify` returns, so that later mails join the same thread. `first` lists, for each message, the recipients
 * whose first mail it was. History stores this value, so it has digests in place of addresses and names.
 */
export interface MailThread {
  first: { message: string; to: string[] }[];
  /** The messages that some recipients still lack, the oldest first, each with the recipients who have it. */
  unfinished?: { message: string; to: string[] }[];
  /** How many recipients the server has refused permanently. */
  refused?: number;
}

export function readThread(sent: Json | undefined): MailThread {
  if (!isObject(sent) || !Array.isArray(sent['first'])) return { first: [] };
  return sent as unknown as MailThread;
}

/** Returns the id of a message, a digest of its key. Every attempt to send the message has the same key. */
export function threadMessage(key: string): string {
  return digest(key, 32);
}

export function recipientMark({ reviewer, address }: Recipient): string {
  return digest(reviewer === undefined ? `to ${address}` : `reviewer ${reviewer}`, 16);
}

export function messageId(message: string, mark: string, domain: string): string {
  return `<${message}.${mark}@${domain}>`;
}

/** Returns the message that reached a recipient first; undefined if none has. */
export function firstMessage({ first }: MailThread, mark: string): string | undefined {
  return first.find(({ to }) => to.includes(mark))?.message;
}

/** Returns who has a message already, if other recipients still lack it. */
export function gotBefore({ unfinished = [] }: MailThread, message: string): readonly string[] {
  return unfinished.find((each) => each.message === message)?.to ?? [];
}

/** The most unfinished messages: the result of `notify` lists them, and its size is limited. */
const mostUnfinished = 2;

/** Returns the thread after a message reached some recipients and others refused it. `isUnfinished`: some lack it. */
export function continued(
  thread: MailThread,
  message: string,
  { reached, refused, isUnfinished }: { reached: readonly string[]; refused: number; isUnfinished: boolean },
): MailThread {
  const newcomers = reached.filter((mark) => firstMessage(thread, mark) === undefined);
  const refusedSoFar = refused + (thread.refused ?? 0);
  const others = (thread.unfinished ?? []).filter((each) => each.message !== message);
  const unfinished = isUnfinished ? [...others, { message, to: [...reached] }].slice(-mostUnfinished) : others;
  return {
    first: newcomers.length === 0 ? thread.first : [...thread.first, { message, to: newcomers }],
    ...(unfinished.length > 0 && { unfinished }),
    ...(refusedSoFar > 0 && { refused: refusedSoFar }),
  };
}

function digest(text: string, length: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length);
}
