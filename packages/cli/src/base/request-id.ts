import { lookUp, settledIds } from 'countersign/adapter';
import { ProblemError } from 'countersign/base';
import type { CountersignClient } from 'countersign/client';

const wholeId = /^[0-9a-f]{32}$/;
const startOfId = /^[0-9a-f]{4,31}$/;
/** The least length of a shortened id, because a shorter prefix is soon ambiguous. */
const shortLength = 8;
const mostListedInError = 10;

export interface NamedRequest {
  requestId: string;
  /** The digest of the call. Absent if the inbox was not read, or does not show it. */
  digest?: string | undefined;
}

/**
 * Finds a request by its id, or by the first characters of it, at least 4. A whole id is returned without a look-up.
 * The characters must begin the id of exactly one open request; if no open request has them, of one settled request.
 * Throws `unknown_request`, also if an open request is unreadable and might be the one.
 */
export async function findNamed(client: CountersignClient, named: string, run?: string): Promise<NamedRequest> {
  if (wholeId.test(named)) return { requestId: named };
  if (!startOfId.test(named)) {
    throw unknown(`'${named.slice(0, 80)}' is not a request id: give its 32 hex characters, or the first 4 or more.`);
  }
  const open = await lookUp(() => openStartingWith(client, named, run), client.session.limits.lookUpTimeoutMs);
  if (open === undefined) return findSettled(client, named, run);
  const { rows, more } = open;
  const short = shortIds(rows.map(({ requestId }) => requestId));
  const candidates = new Map(rows.map(({ requestId, toolName }) => [short(requestId), toolName]));
  if (candidates.size > 1) {
    const list = [...candidates].map(([id, tool]) => `${id} (${tool})`).join(', ');
    throw unknown(`'${named}' is the start of ${candidates.size} open requests: ${list}.`);
  }
  if (more > 0) {
    throw unknown(`${more} open requests cannot be read, and '${named}' may be one of them: give the whole id.`);
  }
  const [{ requestId, digest }] = rows as [(typeof rows)[0]];
  // If several runs claim the id, no digest is given, because the client finds out later which run has the request.
  return { requestId, digest: rows.length === 1 ? digest : undefined };
}

/** Returns the open requests whose ids begin with `start`, and the number of unknown ids; undefined without any. */
async function openStartingWith(client: CountersignClient, start: string, run: string | undefined) {
  const { approvals, unread, more } = await client.approvals.list({ workflowId: run, limit: Infinity });
  const known: (NamedRequest & { toolName: string })[] = [
    ...approvals,
    ...unread.flatMap(({ requestIds }) => requestIds.map((requestId) => ({ requestId, toolName: 'unread' }))),
  ];
  // The starter of a workflow can write any text as an id.
  const rows = known.filter(({ requestId }) => wholeId.test(requestId) && requestId.startsWith(start));
  return rows.length > 0 || more > 0 ? { rows, more } : undefined;
}

/** Finds a settled request by the start of its id. Throws `unknown_request` for none and for several. */
async function findSettled({ session }: CountersignClient, named: string, run?: string): Promise<NamedRequest> {
  const ids = (await settledIds(session, { startsWith: named, workflowId: run })).filter((id) => wholeId.test(id));
  if (ids.length === 1) return { requestId: ids[0]! };
  if (ids.length > 1) {
    const list = ids.slice(0, mostListedInError).map(shortIds(ids)).join(', ');
    const rest = ids.length > mostListedInError ? ', …' : '';
    throw unknown(`'${named}' is the start of ${ids.length} settled requests: ${list}${rest}.`);
  }
  throw unknown(`No request that is listed so far starts with '${named}'; one settled long ago needs its whole id.`);
}

/** Returns a function that shortens each id to the same length, at least `least`, at which all stay distinct. */
export function shortIds(ids: readonly string[], least = shortLength): (id: string) => string {
  // In sorted order, ids with long common prefixes are neighbours, so only neighbours are compared.
  const sorted = [...new Set(ids)].toSorted();
  const lengths = sorted.slice(1).map((id, index) => commonLength(sorted[index]!, id) + 1);
  const length = lengths.reduce((longest, needed) => Math.max(longest, needed), least);
  return (id) => id.slice(0, length);
}

function commonLength(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}

function unknown(message: string): ProblemError {
  return new ProblemError({ code: 'unknown_request', message });
}
