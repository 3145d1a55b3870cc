import { decidingTexts } from 'countersign/card';
import type { ApprovalDetails, ApprovalSummary } from 'countersign/client';
import { requiredLines, type Styling } from './card-lines.ts';
import { cardStanding, waitingRows } from './card-state.ts';
import { bodyColumns, layoutOf, scrolling } from './layout.ts';
import { pressInCard, seenAt } from './press-in-card.ts';
import { pressInDialog } from './press-in-dialog.ts';
import {
  changeView,
  type Effect,
  type OpenCard,
  type ReviewEvent,
  type ReviewState,
  type Step,
} from './review-state.ts';

/** The state after an event, and what has to be done. Pure: time comes with the event. */
export function step(before: ReviewState, event: ReviewEvent, nowMs: number, style: Styling): Step {
  const state = { ...before, nowMs };
  switch (event.kind) {
    case 'press':
      if ('key' in event.press && event.press.key === 'interrupt') {
        return { state, effects: [{ kind: 'quit', isInterrupted: true }] };
      }
      return followed(
        state.dialog === undefined ? pressInCard(state, event.press, style) : pressInDialog(state, event.press, style),
      );
    case 'tick':
      return followed({ state: lapsed(before, state), effects: [] });
    case 'resized':
      return { state: resized(state, event.size, style), effects: [] };
    case 'listed':
      return followed({ state: listed(state, event), effects: [] });
    case 'failed':
      return { state: { ...state, outage: event.message }, effects: [] };
    case 'read':
      return followed(read(state, event.request));
    case 'unanswered':
      return { state: unanswered(state, event), effects: [] };
    case 'past':
      if (event.requestId !== state.card?.row.requestId) return { state, effects: [] };
      return { state: { ...state, card: { ...state.card, past: event.calls } }, effects: [] };
    case 'drawn':
      return { state: drawn(state, event.view, style), effects: [] };
    case 'sent':
      return followed(sent(state, event));
    case 'edited':
      return {
        state: changeView(state, { dialog: { kind: 'changes', arguments: event.arguments, scroll: 0, seen: 0 } }),
        effects: [],
      };
    case 'not-edited':
      return {
        state: changeView(state, {
          dialog: undefined,
          ...(event.problem !== undefined && { notice: { text: event.problem, tone: 'bad' } }),
        }),
        effects: [],
      };
  }
}

/** Opens the next request if no card is on the screen. */
function followed({ state, effects }: Step): Step {
  if (state.card !== undefined || state.isSending) return { state, effects };
  const row = waitingRows(state)[0];
  if (row === undefined) return { state, effects };
  const opened = changeView(state, { card: newCard(row), dialog: undefined, arrived: 0 });
  return { state: opened, effects: [...effects, { kind: 'read', row }] };
}

function newCard(row: ApprovalSummary): OpenCard {
  return { row, unfolded: false, scroll: 0, seen: 0 };
}

/** Closes dialogs whose request can no longer be answered. */
function lapsed(before: ReviewState, state: ReviewState): ReviewState {
  const { card } = state;
  if (card === undefined) return state;
  const [was, is] = [cardStanding(card, before.nowMs), cardStanding(card, state.nowMs)];
  return was === is ? state : changeView(state, { dialog: undefined });
}

function listed(state: ReviewState, { rows, unread, isCut = false }: ReviewEvent & { kind: 'listed' }): ReviewState {
  const fresh = rows.filter(({ requestId }) => !state.known.includes(requestId));
  const arrived = state.card === undefined ? 0 : state.arrived + (state.isListed ? fresh.length : 0);
  const isBack = state.outage !== undefined;
  const next = {
    rows,
    unread,
    isCut,
    arrived,
    isListed: true,
    outage: undefined,
    known: [...state.known, ...fresh.map(({ requestId }) => requestId)],
  };
  return isBack ? changeView(state, next) : { ...state, ...next };
}

/** What the run says of the request on the screen. A card whose text changes has to be read again. */
function read(state: ReviewState, request: ApprovalDetails): Step {
  const { card } = state;
  if (card === undefined || state.isSending || card.row.requestId !== request.requestId) return { state, effects: [] };
  const before = card.request;
  if (before !== undefined && JSON.stringify(before) === JSON.stringify(request)) {
    return { state: { ...state, card: { ...card, unanswered: undefined } }, effects: [] };
  }
  const hasChanged =
    before === undefined ||
    decidingTexts(before) !== decidingTexts(request) ||
    cardStanding(card, state.nowMs) !== 'open';
  const effects: Effect[] =
    before === undefined && request.always !== undefined ? [{ kind: 'read-past', request }] : [];
  const next = { ...card, request, unanswered: undefined };
  if (!hasChanged && request.settled === undefined) return { state: { ...state, card: next }, effects };
  const reset = before !== undefined && decidingTexts(before) === decidingTexts(request) ? {} : { scroll: 0, seen: 0 };
  return { state: changeView(state, { card: { ...next, ...reset }, dialog: undefined }), effects };
}

/** A card that could be read stays as it is; one that could not shows what the list knows. */
function unanswered(state: ReviewState, { requestId, message }: ReviewEvent & { kind: 'unanswered' }): ReviewState {
  const { card } = state;
  if (card?.row.requestId !== requestId) return state;
  const next = { ...state, card: { ...card, unanswered: message } };
  return card.request !== undefined || card.unanswered !== undefined ? next : changeView(next, {});
}

/** Keys that were pressed before count no more. Lines break anew, so what was partly read has to be read again. */
function resized(state: ReviewState, size: ReviewState['size'], style: Styling): ReviewState {
  const wide = changeView(state, { size });
  const { card, dialog } = wide;
  if (card === undefined || size.columns === state.size.columns) return wide;
  const seen = requiredLines(card, bodyColumns(state), style) <= card.seen ? Infinity : 0;
  const { scroll } = layoutOf(wide, style);
  const again = { ...wide, card: { ...card, seen, scroll: seen === Infinity ? scroll : 0 } };
  return dialog?.kind === 'changes' ? { ...again, dialog: { ...dialog, seen: 0, scroll: 0 } } : again;
}

/** Counts what was on the screen, and starts the delay after which keys count. */
function drawn(state: ReviewState, view: number, style: Styling): ReviewState {
  if (view !== state.view) return state;
  const next = state.quietFromMs === undefined ? { ...state, quietFromMs: state.nowMs } : state;
  const { card, dialog } = next;
  if (card === undefined) return next;
  const isRead = card.request !== undefined || card.unanswered !== undefined;
  const shown = isRead && card.shownAtMs === undefined ? { ...card, shownAtMs: state.nowMs } : card;
  const { body, height, scroll } = layoutOf(next, style);
  const end = seenAt(scroll, height, scrolling(next));
  const seen = end >= body.length ? Infinity : end;
  if (dialog?.kind === 'changes') return { ...next, card: shown, dialog: { ...dialog, seen } };
  return { ...next, card: dialog === undefined && isRead ? { ...shown, seen } : shown };
}

function sent(state: ReviewState, { notice, isDone }: ReviewEvent & { kind: 'sent' }): Step {
  const { card } = state;
  if (card === undefined) return { state: { ...state, isSending: false, notice }, effects: [] };
  const { row } = card;
  const answered = changeView(state, { isSending: false, notice, dialog: undefined });
  if (!isDone) return { state: answered, effects: [{ kind: 'read', row }] };
  return {
    state: { ...answered, card: undefined, aside: { ...state.aside, [row.requestId]: 'answered' } },
    effects: [],
  };
}
