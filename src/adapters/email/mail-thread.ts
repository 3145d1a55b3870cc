import { createHash } from 'node:crypto';
import { isObject } from '../../core/base/is-object.ts';
import type { Json } from '../../core/base/tool-call.ts';
import type { Recipient } from './recipients.ts';

/** What `notify` returns: for each message the recipients whom it was the first to reach. No address, no name, no link. */
export interface MailThread {
  first: { message: string; to: string[] }[];
  /** How many recipients the server refused for good. */
  refused?: number;
}

/** The thread that an earlier step returned; empty if there is none. */
export function readThread(sent: Json | undefined): MailThread {
  if (!isObject(sent) || !Array.isArray(sent['first'])) return { first: [] };
  return sent as unknown as MailThread;
}

/** A message, from the key of its step: the same for every attempt. */
export function threadMessage(key: string): string {
  return digest(key, 32);
}

/** A recipient in a thread. */
export function recipientMark({ reviewer, address }: Recipient): string {
  return digest(reviewer === undefined ? `to ${address}` : `reviewer ${reviewer}`, 16);
}

/** The `Message-ID` of a message to one recipient. */
export function messageId(message: string, mark: string, domain: string): string {
  return `<${message}.${mark}@${domain}>`;
}

/** The message that reached a recipient first; undefined if none did. */
export function firstMessage({ first }: MailThread, mark: string): string | undefined {
  return first.find(({ to }) => to.includes(mark))?.message;
}

/** The thread with one message more. */
export function continued(
  thread: MailThread,
  message: string,
  reached: readonly string[],
  refused: number,
): MailThread {
  const to = reached.filter((mark) => firstMessage(thread, mark) === undefined);
  const all = refused + (thread.refused ?? 0);
  return {
    first: to.length === 0 ? thread.first : [...thread.first, { message, to }],
    ...(all > 0 && { refused: all }),
  };
}

function digest(text: string, length: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length);
}
