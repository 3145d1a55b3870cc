import type { Session } from '../server/session.ts';
import { type WaitingRun, countWaitingRuns, largestPage, allWaitingRuns, waitingRuns } from './waiting-runs.ts';
import { ProblemError } from '../../core/base/problem.ts';

/** Consecutive runs in the order of the inbox. */
export interface Batch {
  runs: WaitingRun[];
  /** The place where the batch was found, for the cursor of a page that ends in it. */
  from: { spanMs: number } | { token: string };
  isLast: boolean;
}

/** For each session, the end of the first batch of its latest search. The next search begins there. */
const lastEnds = new WeakMap<Session, number>();

/**
 * Yields the runs with open requests, earliest deadline first, then those without one in the server's order. The server
 * cannot sort by deadline, but quickly counts the runs due up to an instant: each batch spans about `size` runs.
 */
export async function* inboxBatches(session: Session, size: number, after?: InboxCursor): AsyncGenerator<Batch> {
  if (size === Infinity) {
    yield { runs: inOrder(await allWaitingRuns(session)), from: { spanMs: 0 }, isLast: true };
    return;
  }
  if (after === undefined || 'dueMs' in after) yield* datedBatches(session, size, after);
  yield* undatedBatches(session, size, after !== undefined && 'token' in after ? after.token : '');
}

/** Yields the runs with a deadline, in spans of time that `findDue` makes wide enough for a batch. */
async function* datedBatches(
  session: Session,
  size: number,
  after: { dueMs: number; spanMs: number } | undefined,
): AsyncGenerator<Batch> {
  const { due } = session.attributes;
  const begin = await searchStart(session, size, after);
  if ('allRuns' in begin) {
    yield { runs: inOrder(begin.allRuns), from: { spanMs: 0 }, isLast: true };
    return;
  }
  let fromMs = after?.dueMs;
  let start = begin;
  // Who reads on gets ever larger batches, because each costs some counts.
  for (let wanted = size; ; wanted = Math.min(wanted * 2, largestPage / 2)) {
    const since = fromMs === undefined ? '' : `${due} > ${justAfter(fromMs - 1)} AND `;
    const where = (upToMs: number): string => `${since}${due} < ${justAfter(upToMs)}`;
    const upToMs = await findDue({
      count: (ms) => countWaitingRuns(session, where(ms)),
      least: wanted,
      most: wanted + Math.max(20, Math.ceil(wanted / 2)), // the wider the aim, the fewer the counts
      lowMs: fromMs ?? Math.min(Date.now(), start.firstMs - 1),
      ...start,
    });
    const runs = inOrder(
      await allWaitingRuns(session, upToMs === undefined ? `${since}${due} IS NOT NULL` : where(upToMs)),
    );
    if (fromMs === undefined && upToMs === undefined) lastEnds.delete(session);
    else if (fromMs === undefined) lastEnds.set(session, upToMs!);
    const spanMs = Math.max(0, (runs.at(-1)?.dueMs ?? 0) - (runs[0]?.dueMs ?? 0));
    yield { runs, from: { spanMs }, isLast: false };
    if (upToMs === undefined) return;
    fromMs = upToMs + 1;
    // Twice as many runs are likely to span twice as long.
    start = { firstMs: fromMs + 2 * spanMs, stepMs: 2 * spanMs + 1_000 };
  }
}

/**
 * Returns where to search for the end of the first batch: behind the page before, or where this session's last search
 * ended. Without either, reads one page in the server's order: its deadlines are a sample, unless it has all runs.
 */
async function searchStart(
  session: Session,
  size: number,
  after: { dueMs: number; spanMs: number } | undefined,
): Promise<Pick<DueSearch, 'firstMs' | 'stepMs' | 'perRunMs'> | { allRuns: WaitingRun[] }> {
  if (after !== undefined) return { firstMs: after.dueMs + after.spanMs, stepMs: after.spanMs + 1_000 };
  const lastEndMs = lastEnds.get(session);
  if (lastEndMs !== undefined) return { firstMs: lastEndMs, stepMs: Math.abs(lastEndMs - Date.now()) / 8 + 1_000 };
  const page = await waitingRuns(session, { pageSize: size });
  if (page.nextPageToken.length === 0) return { allRuns: page.runs };
  const sample = page.runs.flatMap(({ dueMs }) => dueMs ?? []).toSorted((one, other) => one - other);
  const spanMs = sample.length === 0 ? 0 : sample.at(-1)! - sample[0]!;
  const perRunMs = spanMs / Math.max(1, sample.length - 1);
  return { firstMs: sample[0] ?? Date.now(), stepMs: spanMs + 1_000, perRunMs };
}

/** Yields the runs without a deadline, in pages of the server from `firstToken` on. */
async function* undatedBatches(session: Session, size: number, firstToken: string): AsyncGenerator<Batch> {
  let token = firstToken;
  for (;;) {
    const page = await waitingRuns(session, {
      where: `${session.attributes.due} IS NULL`,
      pageSize: size,
      token: Buffer.from(token, 'base64'),
    });
    const isLast = page.nextPageToken.length === 0;
    yield { runs: page.runs, from: { token }, isLast };
    if (isLast) return;
    token = Buffer.from(page.nextPageToken).toString('base64');
  }
}

/** Sorts runs by deadline, then by id. Runs without a deadline stay in the server's order. */
function inOrder(runs: WaitingRun[]): WaitingRun[] {
  return runs.toSorted((one, other) => {
    if (one.dueMs === null || other.dueMs === null) return Number(one.dueMs === null) - Number(other.dueMs === null);
    return one.dueMs - other.dueMs || (one.workflowId < other.workflowId ? -1 : 1);
  });
}

/**
 * Returns half a millisecond after an instant, as a text for a query. Deadlines are whole milliseconds, and no query
 * must name one: SQLite compares texts, and Temporal writes `.120` in the store and `.12` in a query.
 */
function justAfter(atMs: number): string {
  return `"${new Date(Math.max(0, atMs)).toISOString().replace('Z', '500Z')}"`;
}

/** A search in the deadlines of many runs, for a server that can only count runs due up to an instant. */
interface DueSearch {
  /** Counts the runs due up to an instant. The fewer there are, the cheaper is the count. */
  count: (upToMs: number) => Promise<number>;
  /** The least and the most runs that are wanted. */
  least: number;
  most: number;
  /** The instant at which the search begins. */
  firstMs: number;
  /** An instant before which few runs are likely to be due. */
  lowMs: number;
  /** The first step from `firstMs`, in milliseconds. */
  stepMs: number;
  /** An estimate of the time between one deadline and the next, in milliseconds. */
  perRunMs?: number;
}

interface Point {
  ms: number;
  count: number;
}

/** The end of the year 9999: the last instant that a query can name. */
export const lastInstantMs = 253_402_300_799_000;
const mostCounts = 60;
const growth = 8;

/**
 * Finds an instant up to which `least` to `most` runs are due: steps until one instant has too few and another too
 * many, then narrows the range between them. The instant has more runs if they are due at the same millisecond, or
 * after `mostCounts` counts. Undefined if the last instant has too few, or if none with enough was counted.
 */
export async function findDue(search: DueSearch): Promise<number | undefined> {
  const { count, least, most, perRunMs } = search;
  const wanted = Math.ceil((least + most) / 2);
  let low: Point | undefined;
  let high: Point | undefined;
  let { stepMs } = search;
  let mayTryLow = true;
  let mayEstimate = perRunMs !== undefined;
  let ms = Math.min(search.firstMs, lastInstantMs);
  for (let counts = 0; counts < mostCounts; counts += 1) {
    const rangeBeforeMs = low === undefined || high === undefined ? undefined : high.ms - low.ms;
    const here = { ms, count: await count(ms) };
    if (here.count >= least && here.count <= most) return ms;
    if (here.count < least) low = here;
    else high = here;
    if (high === undefined) {
      // No instant had too many runs yet: step forward, further each time.
      if (ms >= lastInstantMs) return undefined;
      ms = Math.min(ms + stepMs, lastInstantMs);
      stepMs *= growth;
    } else if (low === undefined) {
      // No instant had too few runs yet: go back by the estimate, then to `lowMs`, then further each time.
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
      if (high.ms - low.ms <= 1) return high.ms;
      ms = instantBetween(low, high, wanted, rangeBeforeMs);
    }
  }
  return high?.ms;
}

/** Interpolates while that at least halves the range, as with evenly spread deadlines. Otherwise halves the range. */
function instantBetween(low: Point, high: Point, wanted: number, rangeBeforeMs: number | undefined): number {
  const rangeMs = high.ms - low.ms;
  const mayInterpolate = rangeBeforeMs === undefined || rangeMs <= rangeBeforeMs / 2;
  const share = mayInterpolate ? (wanted - low.count) / (high.count - low.count) : 0.5;
  return Math.min(high.ms - 1, Math.max(low.ms + 1, Math.round(low.ms + rangeMs * share)));
}

/** The place where a page of the inbox ended: after this request of this run. */
export type InboxCursor = { run: string; request: string } & (
  | { dueMs: number; /** How far apart the deadlines of that page were. */ spanMs: number }
  | { /** The server's token of the page, in base64; '' for the first page. */ token: string }
);

export function writeCursor(cursor: InboxCursor): string {
  return Buffer.from(JSON.stringify(cursor)).toString('base64url');
}

/** Reads a cursor. Throws for another form. Any caller may write one, which is harmless: it only names a place. */
export function readCursor(text: string): InboxCursor {
  const cursor = parseCursor(text);
  const { run, request, dueMs, spanMs, token } = cursor;
  const isDated = isMilliseconds(dueMs) && isMilliseconds(spanMs);
  const isUndated = typeof token === 'string';
  if (typeof run === 'string' && typeof request === 'string' && isDated !== isUndated) {
    return cursor as unknown as InboxCursor;
  }
  const message = `'${text.slice(0, 40)}' is not where a page ended: give the \`next\` of the page before, as it is.`;
  throw new ProblemError({ code: 'invalid_message', message });
}

/** Decodes a cursor; empty for a text that none can have. */
function parseCursor(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function isMilliseconds(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= lastInstantMs;
}
