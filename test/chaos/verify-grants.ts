import type { RequestedScope, JournalEntry } from '../../src/contract.ts';
import { orderedEntries } from '../../src/events/journal.ts';
import type { RunBook } from './run-book.ts';
import type { Seats } from './seats.ts';
import { seatsOf } from './seats.ts';
import type { SentItem } from './sent-item.ts';

interface Held {
  tool: string;
  approved: boolean;
  scope: NonNullable<JournalEntry['scope']>;
  /** The reviewer whose decision made it. */
  reviewerId: string;
  expiresAtMs: number;
  usesLeft: number;
}

/** A call that a grant answered, and whether it ran. */
interface Answered {
  entry: JournalEntry;
  runs: boolean;
  /** The seats that may decide its request; for a call that opened no request, those that would have decided. */
  seats: Seats;
}

/**
 * Follows every grant from the decision that requested it through each use to its revocation. Uses the journal and the
 * sent decisions, because the journal holds neither the number of uses nor the expiry.
 */
export function grantsAreKept(book: RunBook): string[] {
  const { plan } = book;
  const wrong: string[] = [];
  const held = new Map<string, Held>();
  const open = new Map<string, Seats>();
  const ended = new Map<string, JournalEntry>();
  const use = (grantId: string, answered: Answered): void => {
    const grant = held.get(grantId);
    const { callId, requestId, toolName, at } = answered.entry;
    const what = `call ${callId} of ${toolName} at ${at}`;
    if (grant === undefined) wrong.push(`${what} was answered by ${grantId}, which this run did not have then`);
    else wrong.push(...misuses(book, grant, answered).map((why) => `${what} was answered by ${grantId}, ${why}`));
    if (grant !== undefined) grant.usesLeft--;
    if (requestId !== undefined) ended.set(requestId, answered.entry);
  };
  for (const entry of orderedEntries(book.entries)) {
    const { kind, requestId = '', grantId = '', reviewerId = '', at } = entry;
    if (kind === 'opened') open.set(requestId, seatsOf(plan.reviewers));
    else if (kind === 'delegated') open.get(requestId)?.move(reviewerId, entry.to?.[0] ?? '');
    else if (kind === 'grant') {
      if (held.has(grantId)) wrong.push(`${grantId} was made twice`);
      const made = madeBy(book, entry, ended.get(requestId));
      if ('problem' in made) wrong.push(`${grantId}: ${made.problem}`);
      else held.set(grantId, made);
    } else if (kind === 'revoked') {
      if (!held.delete(grantId)) wrong.push(`${grantId} was revoked at ${at}, and this run did not have it`);
      if (!wasRevoked(book, grantId, entry)) wrong.push(`${grantId} was revoked at ${at}, and nobody had sent that`);
    } else if (kind === 'settled') {
      const seats = open.get(requestId) ?? seatsOf(plan.reviewers);
      if (entry.by === 'grant') use(entry.byId ?? '', { entry, runs: entry.runs === true, seats });
      else ended.set(requestId, entry);
    } else if (kind === 'ruling') {
      const seats = seatsOf(plan.reviewers);
      if (entry.layer === 'grant') use(entry.rule ?? '', { entry, runs: entry.outcome === 'allowed', seats });
      else if (entry.grantId !== undefined) use(entry.grantId, { entry, runs: false, seats });
      else if (entry.outcome === 'denied') wrong.push(`call ${entry.callId} is denied by nobody's word`);
    }
  }
  return wrong;
}

/** The grant as the decision that settled the request asked for it. */
function madeBy(
  book: RunBook,
  { requestId, toolName = '', approved, scope, at }: JournalEntry,
  settled: JournalEntry | undefined,
): Held | { problem: string } {
  const wish = book.sent.find((sent) => sent.requestId === requestId && wins(sent, settled));
  const wished = wish?.item.always;
  if (settled === undefined || wish === undefined || wished === undefined) {
    return { problem: `it was made at ${at} for request ${requestId}, and who settled that wished for none` };
  }
  const { kind, match, uses = Infinity, expiresIn } = wished === true ? ({ kind: 'tool' } as RequestedScope) : wished;
  const expected = { call: { kind, digest: settled.digest }, arguments: { kind, match }, tool: { kind } }[kind];
  if (!sameScope(scope, expected) || approved !== wish.item.approved || toolName !== settled.toolName) {
    const text = `${approved ? '' : 'denial '}${JSON.stringify(scope)} of ${toolName}`;
    return { problem: `it is ${text}, wished for was ${JSON.stringify(wished)} of ${settled.toolName}` };
  }
  const expiresAtMs = expiresIn === undefined ? Infinity : Date.parse(at) + durationMs(expiresIn);
  return { tool: toolName, approved, scope: scope!, reviewerId: wish.item.reviewerId, expiresAtMs, usesLeft: uses };
}

function wins({ item }: SentItem, settled: JournalEntry | undefined): boolean {
  return item.fault === undefined && item.decisionId !== undefined && item.decisionId === settled?.decisionId;
}

function sameScope(one: JournalEntry['scope'], other: object): boolean {
  const fields = (scope: object): string =>
    JSON.stringify(Object.entries(scope).toSorted(([one], [other]) => (one < other ? -1 : 1)));
  return one !== undefined && fields(one) === fields(other);
}

/** Parses `2s` or `1m`, the forms that the plan uses. */
function durationMs(text: string): number {
  return Number.parseInt(text, 10) * (text.endsWith('m') ? 60_000 : 1_000);
}

function misuses({ plan }: RunBook, grant: Held, { entry, runs, seats }: Answered): string[] {
  const { callId = '', toolName, digest, at } = entry;
  const { tool, approved, scope, reviewerId, expiresAtMs, usesLeft } = grant;
  const [turn, index] = callId.split('.').map(Number);
  const text = plan.turns[turn! - 1]?.calls[index! - 1]?.text ?? '';
  const fits =
    scope.kind === 'tool' ||
    (scope.kind === 'call' && scope.digest === digest) ||
    (scope.kind === 'arguments' && text.startsWith(scope.match['text']!.slice(0, -1)));
  return [
    ...(tool === toolName && fits ? [] : [`whose scope is ${JSON.stringify(scope)} of ${tool}`]),
    ...(approved === runs ? [] : [`which ${approved ? 'approves' : 'denies'}`]),
    ...(Date.parse(at) > expiresAtMs ? ['which had expired'] : []),
    ...(usesLeft > 0 ? [] : ['which was used up']),
    ...(seats.holds(reviewerId) ? [] : [`and ${reviewerId}, who left it, had no seat there`]),
  ];
}

function wasRevoked({ controls }: RunBook, grantId: string, { at, reviewerId }: JournalEntry): boolean {
  return controls.some(
    ({ control, sentAtMs }) =>
      control.kind === 'revoke' &&
      control.fault === undefined &&
      control.by === reviewerId &&
      (control.grants === 'all' || control.grants.includes(grantId)) &&
      sentAtMs <= Date.parse(at),
  );
}
