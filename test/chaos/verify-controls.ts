import type { JournalEntry } from '../../src/contract.ts';
import { orderedEntries, type ProjectedRequest } from '../../src/events/journal.ts';
import { longestWaitMs } from './approval-settings.ts';
import type { RunBook } from './run-book.ts';
import { surelySeated } from './seats.ts';
import type { SentControl } from './sent-control.ts';
import { winners } from './winners.ts';

const nameOf = ({ control }: SentControl): string =>
  `${control.messageId ?? `the message of ${control.by}`} (${control.kind} by ${control.via})`;

/** The journal entries that the message caused. A revocation of all grants causes none if there were none. */
function tracesOf({ entries }: RunBook, { control, requestId, untilMs }: SentControl): JournalEntry[] {
  if (control.fault !== undefined) return [];
  return orderedEntries(entries).filter((entry) => {
    if (entry.reviewerId !== control.by) return false;
    if (control.kind === 'revoke') {
      return entry.kind === 'revoked' && (control.grants === 'all' || control.grants.includes(entry.grantId ?? ''));
    }
    if (entry.requestId !== requestId) return false;
    return control.kind === 'extend'
      ? entry.kind === 'extended' && Date.parse(entry.deadline ?? '') === untilMs
      : entry.kind === 'delegated' && entry.to?.[0] === control.to;
  });
}

function isAccepted({ answer }: SentControl): boolean {
  return answer.kind === 'receipt' && answer.receipt.accepted;
}

function isRecorded({ answer }: SentControl): boolean {
  return answer.kind === 'recorded';
}

/**
 * An accepted message must be in the journal; so must a recorded one that arrived in time, unless something could have
 * refused it.
 */
export function controlsAreFound(book: RunBook): string[] {
  if (book.status === 'TERMINATED') return [];
  const byId = new Map(book.projection.requests.map((request) => [request.requestId, request]));
  return book.controls.flatMap((sent) => {
    if (sent.control.kind === 'revoke') return revokesNothing(book, sent);
    if (tracesOf(book, sent).length > 0) return [];
    if (isAccepted(sent)) return [`${nameOf(sent)} was accepted, and the journal has nothing of it`];
    if (!isRecorded(sent) || sent.control.fault !== undefined || hasRival(book, sent)) return [];
    const request = byId.get(sent.requestId);
    if (request === undefined) return [`${nameOf(sent)} was recorded for a request that history does not know`];
    return wasInTime(book, sent, request) ? [`${nameOf(sent)} was recorded in time, and changed nothing`] : [];
  });
}

/** True if it was recorded while the request waited under its original deadline, and nothing known forbids it. */
function wasInTime(book: RunBook, sent: SentControl, request: ProjectedRequest): boolean {
  const { control, answeredAtMs, sentAtMs, untilMs = 0 } = sent;
  const openedMs = Date.parse(request.openedAt);
  if (answeredAtMs >= Math.min(openedMs + book.plan.timeoutMs, endedFromMs(book, request))) return false;
  if (!isSeated(book, sent)) return false;
  if (control.kind === 'extend') return untilMs <= openedMs + longestWaitMs && sentAtMs >= openedMs;
  return book.plan.reviewers.includes(control.by);
}

/**
 * The earliest time at which the message that settled the request may have arrived. One task can handle messages that
 * arrived long before it began.
 */
function endedFromMs(book: RunBook, request: ProjectedRequest): number {
  if (request.outcome === 'expired') return Infinity;
  if (request.outcome === 'superseded' || request.outcome === 'cancelled') return -Infinity;
  return Math.min(...winners(book, request).map(({ sentAtMs }) => sentAtMs));
}

/** The sender of a delegation starts to give up their own seat; that alone is no reason to refuse it. */
function isSeated({ controls, ...book }: RunBook, sent: SentControl): boolean {
  const others = controls.filter((each) => each !== sent && each.control.messageId !== sent.control.messageId);
  const { requestId, sentAtMs, control } = sent;
  return surelySeated({ ...book, controls: others }, requestId, { person: control.by, sentAtMs });
}

/** True if another message may have come first and left nothing for this one to change. */
function hasRival({ controls }: RunBook, sent: SentControl): boolean {
  const { control, requestId, untilMs = 0 } = sent;
  return controls.some((other) => {
    if (other === sent || other.requestId !== requestId) return false;
    if (other.control.kind !== control.kind) return false;
    if (other.control.kind === 'delegate') return true;
    return (other.untilMs ?? 0) >= untilMs || saysOtherwise(other, sent);
  });
}

/** True if the other message has the same id but different content: the second of the two is refused. */
function saysOtherwise(one: SentControl, other: SentControl): boolean {
  const { messageId } = one.control;
  const text = ({ control, requestId, untilMs }: SentControl): string => {
    const { when: _when, via: _via, ...said } = control;
    return JSON.stringify([said, requestId, untilMs]);
  };
  return messageId !== undefined && messageId === other.control.messageId && text(one) !== text(other);
}

/** An acknowledged revocation must revoke every grant that existed before it was sent, unless the grant was used up. */
function revokesNothing(book: RunBook, sent: SentControl): string[] {
  const { control, sentAtMs } = sent;
  if (control.kind !== 'revoke' || control.fault !== undefined || !(isAccepted(sent) || isRecorded(sent))) return [];
  if (!isAccepted(sent) && book.controls.some((other) => saysOtherwise(other, sent))) return [];
  const entries = orderedEntries(book.entries);
  const there = entries.filter(
    ({ kind, at, grantId = '' }) =>
      kind === 'grant' &&
      Date.parse(at) < sentAtMs &&
      (control.grants === 'all' || control.grants.includes(grantId)) &&
      !mayBeUsedUp(book, grantId),
  );
  const gone = new Set(entries.flatMap(({ kind, grantId }) => (kind === 'revoked' ? [grantId] : [])));
  const left = there.filter(({ grantId }) => !gone.has(grantId));
  const wrong = left.map(({ grantId }) => `${nameOf(sent)} was acknowledged, and ${grantId} was never revoked`);
  const isVain = isAccepted(sent) && control.grants !== 'all' && control.grants.some((id) => !gone.has(id));
  return isVain ? [...wrong, `${nameOf(sent)} was accepted, and the journal has nothing of it`] : wrong;
}

/** A call with edited arguments may use a grant too, and the journal does not show that. */
function mayBeUsedUp({ entries, sent }: RunBook, grantId: string): boolean {
  const { requestId } = entries.find((entry) => entry.kind === 'grant' && entry.grantId === grantId)!;
  return sent.some(({ item, ...each }) => {
    const { always } = item;
    return each.requestId === requestId && typeof always === 'object' && always.uses !== undefined;
  });
}

/**
 * Every refusal must have a true reason. Skips terminated runs: they may have given answers that they could not record.
 */
export function refusalsAreTrue(book: RunBook): string[] {
  if (book.status === 'TERMINATED') return [];
  return book.controls.flatMap((sent) => {
    const { answer, requestId } = sent;
    if (answer.kind !== 'refused' || answer.code === 'run_closed') return [];
    const request = book.projection.requests.find((each) => each.requestId === requestId);
    const possible = codesFor(book, sent, request);
    return possible.includes(answer.code)
      ? []
      : [`${nameOf(sent)} was refused as ${answer.code}; the request is ${request?.outcome}`];
  });
}

function codesFor(book: RunBook, sent: SentControl, request: ProjectedRequest | undefined): string[] {
  const { control, untilMs = 0 } = sent;
  if (control.fault === 'misshapen') return ['invalid_message'];
  if (control.fault === 'unknown') return ['unknown_request'];
  const isDoubted = book.controls.some((other) => saysOtherwise(other, sent)) ? ['invalid_message'] : [];
  if (control.kind === 'revoke') return [...isDoubted, ...(mayBeMissing(book, sent) ? ['grant_unknown'] : [])];
  if (request === undefined) return [];
  const deadlineMs = Date.parse(request.deadline ?? '');
  const common = [...isDoubted, ...(request.outcome === undefined ? [] : ['already_settled', 'expired'])];
  if (!isSeated(book, sent)) common.push('not_entitled');
  if (control.kind === 'delegate') {
    return hasNoSeat(book, sent) || mayBeTooFew(book) ? [...common, 'invalid_message'] : common;
  }
  return [
    ...common,
    ...(untilMs <= deadlineMs ? ['invalid_message'] : []),
    ...(untilMs > Date.parse(request.openedAt) + longestWaitMs ? ['not_permitted_by_ceiling'] : []),
  ];
}

/** A delegation after which too few people could approve, or sign, is refused. */
function mayBeTooFew({ plan }: RunBook): boolean {
  return plan.votes !== undefined || plan.verified === true;
}

/** The sender has no seat, or the delegation would be circular. */
function hasNoSeat(book: RunBook, { requestId, control }: SentControl): boolean {
  if (control.kind !== 'delegate' || book.plan.reviewers.length === 0) return true;
  return book.controls.some(
    (other) => other.control.kind === 'delegate' && other.requestId === requestId && other.control.by === control.to,
  );
}

/** True if a named grant may not have existed yet, or no longer existed, when the revocation arrived. */
function mayBeMissing(book: RunBook, { control, sentAtMs }: SentControl): boolean {
  if (control.kind !== 'revoke' || control.grants === 'all') return false;
  return control.grants.some((id) => {
    const made = book.entries.find(({ kind, grantId }) => kind === 'grant' && grantId === id);
    const isGone = book.entries.some(({ kind, grantId }) => kind === 'revoked' && grantId === id);
    return made === undefined || isGone || Date.parse(made.at) >= sentAtMs || mayBeUsedUp(book, id);
  });
}

/**
 * Messages that were recorded without any trace in the journal. Each must be among the refusals that the run counted.
 */
export function vainControls(book: RunBook): SentControl[] {
  return book.controls.filter((sent) => {
    const isVain = tracesOf(book, sent).length === 0;
    const isQuiet = sent.control.kind === 'revoke' && sent.control.grants === 'all' && sent.control.fault === undefined;
    return isRecorded(sent) && isVain && !isQuiet;
  });
}
