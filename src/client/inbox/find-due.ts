import { ProblemError } from '../../core/base/problem.ts';

/** A search in the deadlines of many runs, which a server can only count up to an instant. */
export interface DueSearch {
  /** The number of runs that are due up to an instant. The fewer there are, the cheaper is the count. */
  count: (upToMs: number) => Promise<number>;
  /** The wanted number of runs. */
  least: number;
  most: number;
  /** The first instant. */
  firstMs: number;
  /** An instant before which few runs are likely to be due. */
  lowMs: number;
  /** The first step from there, in milliseconds. */
  stepMs: number;
  /** An estimate of the time between one deadline and the next, in milliseconds. */
  perRunMs?: number;
}

interface Point {
  ms: number;
  count: number;
}

/** The end of the year 9999, the last instant that a query can name. */
export const lastInstantMs = 253_402_300_799_000;
const mostCounts = 60;
const growth = 8;

/**
 * Finds an instant up to which at least `least` and at most `most` runs are due; more if they are due at the same
 * millisecond. Undefined if fewer than `least` are due at all.
 */
export async function findDue(search: DueSearch): Promise<number | undefined> {
  const { count, least, most, perRunMs } = search;
  const wanted = Math.ceil((least + most) / 2);
  let low: Point | undefined;
  let high: Point | undefined;
  let { stepMs } = search;
  let mayTryLow = true;
  let mayEstimate = perRunMs !== undefined;
  let mayInterpolate = true;
  let ms = Math.min(search.firstMs, lastInstantMs);
  for (let counts = 0; counts < mostCounts; counts += 1) {
    const widthMs = low === undefined || high === undefined ? undefined : high.ms - low.ms;
    const here = { ms, count: await count(ms) };
    if (here.count >= least && here.count <= most) return ms;
    if (here.count < least) low = here;
    else high = here;
    if (high === undefined) {
      if (ms >= lastInstantMs) return undefined;
      ms = Math.min(ms + stepMs, lastInstantMs);
      stepMs *= growth;
    } else if (low === undefined) {
      const estimateMs = Math.floor(high.ms - (high.count - wanted) * (perRunMs ?? 0));
      if (mayEstimate && estimateMs < high.ms && estimateMs > search.lowMs) ms = estimateMs;
      else if (mayTryLow && search.lowMs < high.ms) {
        ms = search.lowMs;
        mayTryLow = false;
      } else {
        ms = high.ms - stepMs;
        stepMs *= growth;
      }
      mayEstimate = false;
    } else {
      const leftMs = high.ms - low.ms;
      if (leftMs <= 1) return high.ms;
      // Interpolation is quick where deadlines are spread evenly; elsewhere it hardly narrows the range.
      mayInterpolate = widthMs === undefined || leftMs <= widthMs / 2;
      const share = mayInterpolate ? (wanted - low.count) / (high.count - low.count) : 0.5;
      ms = Math.min(high.ms - 1, Math.max(low.ms + 1, Math.round(low.ms + leftMs * share)));
    }
  }
  return high?.ms;
}

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

/** Throws `invalid_message` for text that is not a cursor. A caller may have written it: it only names a place. */
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
