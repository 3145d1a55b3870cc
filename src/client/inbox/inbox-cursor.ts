import { ProblemError } from '../../core/base/problem.ts';
import { lastInstantMs } from './find-due.ts';

/**
 * Where a page of the inbox ended: after this request of this run. Runs are in order of their earliest deadline, and
 * those without one come last, in the server's order.
 */
export type InboxCursor = { run: string; request: string } & (
  | { dueMs: number; /** How far apart the deadlines of that page were. */ spanMs: number }
  | { /** The server's token of the page, in base64; '' for the first page. */ token: string }
);

export function writeCursor(cursor: InboxCursor): string {
  return Buffer.from(JSON.stringify(cursor)).toString('base64url');
}

/** Throws `invalid_message` for text that is no cursor. A caller may have written it: it can only name a place. */
export function readCursor(text: string): InboxCursor {
  const cursor = parse(text);
  const { run, request, dueMs, spanMs, token } = cursor;
  const isDated = isInstant(dueMs) && isInstant(spanMs);
  if (typeof run === 'string' && typeof request === 'string' && isDated !== (typeof token === 'string')) {
    return cursor as unknown as InboxCursor;
  }
  throw new ProblemError({
    code: 'invalid_message',
    message: `'${text.slice(0, 40)}' is not where a page ended: give the \`next\` of the page before, as it is.`,
  });
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function isInstant(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= lastInstantMs;
}
