import { escapeJson, type JsonObject } from 'countersign/base';
import { isArmed, pressedInVain } from './arming.ts';
import { requiredLines, showsWhole, type Styling } from './card-lines.ts';
import { skippedCount, cardStanding } from './card-state.ts';
import type { KeyPress, NamedKey } from './key-press.ts';
import { bodyColumns, layoutOf } from './layout.ts';
import { changeView, type OpenCard, type ReviewState, type Step, withComment } from './review-state.ts';
import { openScopeEditor } from './scope-editor.ts';
import { textField } from './text-field.ts';

const scrollKeys: Partial<Record<NamedKey, (height: number) => number>> = {
  up: () => -1,
  down: () => 1,
  'page-up': (height) => 1 - height,
  'page-down': (height) => height - 1,
  home: () => -Infinity,
  end: () => Infinity,
};
const scrollLetters: Record<string, NamedKey> = { j: 'down', k: 'up', ' ': 'page-down' };

/** The state after a key on a card, or while nothing waits. */
export function pressInCard(state: ReviewState, press: KeyPress, style: Styling): Step {
  const moved = scrolled(state, press, style);
  if (moved !== undefined) return { state: moved, effects: [] };
  if (!('typed' in press)) return same(state);
  const { typed } = press;
  if (typed === '?') return same(changeView(state, { dialog: { kind: 'help' } }));
  if (!isArmed(state, typed)) return same(pressedInVain(state));
  if (typed === 'q') return { state, effects: [{ kind: 'quit', isInterrupted: false }] };
  const { card } = state;
  if (typed === 'b' && skippedCount(state) > 0) return same(backToSkipped(state));
  if (card === undefined) return same(state);
  const standing = cardStanding(card, state.nowMs);
  if (typed === 's' || (typed === 'n' && standing !== 'open')) return same(putAside(state, card));
  if (standing !== 'open') return same(state);
  return answerKey(state, card, typed, style);
}

/** The state after a key that moves through a long text; undefined for any other key. */
export function scrolled(state: ReviewState, press: KeyPress, style: Styling): ReviewState | undefined {
  const key = 'key' in press ? press.key : 'typed' in press ? scrollLetters[press.typed] : undefined;
  const by = key === undefined ? undefined : scrollKeys[key];
  const { card, dialog } = state;
  if (by === undefined || card === undefined) return undefined;
  const { body, height, scroll: from } = layoutOf(state, style);
  const scroll = Math.max(0, Math.min(body.length - height, from + by(height)));
  if (dialog?.kind === 'changes')
    return { ...state, dialog: { ...dialog, scroll, seen: seenAt(scroll, height, dialog) } };
  return { ...state, card: { ...card, scroll, seen: seenAt(scroll, height, card) } };
}

/** The lines that have been on the screen without a gap, now that it begins at line `scroll`. */
export function seenAt(scroll: number, height: number, { seen }: { seen: number }): number {
  return scroll <= seen ? Math.max(seen, scroll + height) : seen;
}

function answerKey(state: ReviewState, card: OpenCard, typed: string, style: Styling): Step {
  const { request } = card;
  switch (typed) {
    case 'a': {
      const problem = unseen(state, card, style);
      if (problem !== undefined) return refused(state, problem);
      return {
        state: { ...state, isSending: true, lastKey: typed },
        effects: [{ kind: 'decide', card, answer: withComment(card, { approved: true }) }],
      };
    }
    case 'd':
      return same(changeView(state, { dialog: { kind: 'reason', field: textField() } }));
    case 'c':
      return same(changeView(state, { dialog: { kind: 'comment', field: textField(card.comment) } }));
    case 'r':
      return same(changeView(state, { dialog: { kind: 'response', field: textField() } }));
    case 'x':
      if ((request ?? card.row).deadline === null)
        return refused(state, 'It has no deadline, so there is nothing to extend.');
      return same(changeView(state, { dialog: { kind: 'duration', field: textField() } }));
    case 'A': {
      const problem =
        unseen(state, card, style) ??
        (request?.redacted === undefined ? undefined : 'Placeholders hide values, so "always" is not offered.') ??
        (request?.always === undefined ? 'The rule that asks admits no "always".' : undefined);
      if (problem !== undefined) return refused(state, problem);
      const asked = { tool: request!.toolName, args: request!.arguments, terms: request!.always! };
      return same(changeView(state, { dialog: { kind: 'scope', editor: openScopeEditor(asked) } }));
    }
    case 'e': {
      const problem =
        request === undefined ? 'No worker answers, so the arguments cannot be edited.' : unseen(state, card, style);
      if (problem !== undefined) return refused(state, problem);
      return editArguments(state, request!.arguments);
    }
    case 'v': {
      // What was read stays read, unless the other view shows more.
      const seen = unseen(state, card, style) === undefined ? Infinity : 0;
      return same(changeView(state, { card: { ...card, unfolded: !card.unfolded, scroll: 0, seen } }));
    }
    default:
      return same(state);
  }
}

/** Opens the reviewer's editor on the arguments; without one, they are edited here. */
export function editArguments(state: ReviewState, args: JsonObject): Step {
  if (state.hasEditor) return { state, effects: [{ kind: 'open-editor', arguments: args }] };
  const field = { ...textField(escapeJson(args, 2)), at: 0 };
  return same(changeView(state, { dialog: { kind: 'arguments', field } }));
}

/** Why the call cannot be approved from what was on the screen; undefined if all of it was. */
function unseen(state: ReviewState, card: OpenCard, style: Styling): string | undefined {
  if ((card.request ?? card.row).shown !== 'all') {
    return 'Not all arguments are shown to you, so it cannot be approved here: deny, respond or skip.';
  }
  if (!showsWhole(card)) return 'Not all is on this card: v shows everything.';
  const left = requiredLines(card, bodyColumns(state), style) - card.seen;
  if (left <= 0) return undefined;
  return `You have not seen ${left} of its lines: space or PgDn shows them.`;
}

function refused(state: ReviewState, text: string): Step {
  return same({ ...state, notice: { text, tone: 'bad' } });
}

function putAside(state: ReviewState, { row }: OpenCard): ReviewState {
  const { requestId } = row;
  const how = cardStanding(state.card!, state.nowMs) === 'settled' ? 'answered' : 'skipped';
  return changeView(state, {
    card: undefined,
    aside: { ...state.aside, [requestId]: how },
    notice: undefined,
  });
}

function backToSkipped(state: ReviewState): ReviewState {
  const kept = Object.entries(state.aside).filter(([, how]) => how === 'answered');
  return changeView(state, { aside: Object.fromEntries(kept), notice: undefined });
}

function same(state: ReviewState): Step {
  return { state, effects: [] };
}
