import { parseDuration } from 'countersign/base';
import { isArmed, pressedInVain } from './arming.ts';
import { readArguments } from './read-arguments.ts';
import type { Styling } from './card-lines.ts';
import type { KeyPress } from './key-press.ts';
import { layoutOf } from './layout.ts';
import { editArguments, scrolled } from './press-in-card.ts';
import {
  type ReviewAnswer,
  changeView,
  type Dialog,
  type ReviewState,
  type Step,
  withComment,
} from './review-state.ts';
import { pressInScopeEditor, scopeOf, scopeProblem } from './scope-editor.ts';
import { fieldText, typeInto } from './text-field.ts';

type Writing = Dialog & { kind: 'reason' | 'comment' | 'response' | 'duration' | 'arguments' };

/** The state after a key while a question about the card is open. Enter never approves anything. */
export function pressInDialog(state: ReviewState, press: KeyPress, style: Styling): Step {
  const dialog = state.dialog!;
  const isEscape = 'key' in press && press.key === 'escape';
  switch (dialog.kind) {
    case 'help':
      return same(changeView(state, { dialog: undefined }));
    case 'scope': {
      const { editor } = dialog;
      if (editor.field === undefined && isEscape) return same(changeView(state, { dialog: undefined }));
      if (editor.field === undefined && 'typed' in press && press.typed === 'y') {
        if (!isArmed(state, 'y')) return same(pressedInVain(state));
        const problem = scopeProblem(editor);
        if (problem !== undefined) return same({ ...state, notice: { text: problem, tone: 'bad' } });
        return answered(state, { approved: true, always: scopeOf(editor) }, 'y');
      }
      return same({ ...state, dialog: { kind: 'scope', editor: pressInScopeEditor(editor, press) } });
    }
    case 'changes': {
      const moved = scrolled(state, press, style);
      if (moved !== undefined) return same(moved);
      if (isEscape) return same(changeView(state, { dialog: undefined }));
      if (!('typed' in press)) return same(state);
      if (!isArmed(state, press.typed)) return same(pressedInVain(state));
      if (press.typed === 'e') return editArguments(state, dialog.arguments);
      if (press.typed !== 'y') return same(state);
      const left = layoutOf(state, style).body.length - dialog.seen;
      if (left > 0)
        return same({ ...state, notice: { text: `You have not seen ${left} of these lines.`, tone: 'bad' } });
      return answered(state, { approved: true, modifiedArguments: dialog.arguments }, 'y');
    }
    default:
      if (isEscape) return same(changeView(state, { dialog: undefined }));
      if ('key' in press && press.key === (dialog.kind === 'arguments' ? 'save' : 'enter'))
        return finished(state, dialog);
      return same({
        ...state,
        dialog: { kind: dialog.kind, field: typeInto(dialog.field, press, { lines: dialog.kind === 'arguments' }) },
      });
  }
}

function finished(state: ReviewState, dialog: Writing): Step {
  const text = fieldText(dialog.field);
  const wrong = (problem: string): Step => same({ ...state, dialog: { ...dialog, problem } });
  switch (dialog.kind) {
    case 'reason':
      return answered(state, { approved: false, ...(text.trim() !== '' && { reason: text.trim() }) }, 'd');
    case 'comment': {
      const comment = text.trim() === '' ? undefined : text.trim();
      return same(changeView(state, { card: { ...state.card!, comment }, dialog: undefined }));
    }
    case 'response':
      if (text.trim() === '') return wrong("Write what the model gets instead of the tool's result.");
      return answered(state, { approved: false, response: text }, 'r');
    case 'duration': {
      const parsed = parseDuration(text.trim());
      if (!('durationMs' in parsed) || parsed.durationMs === null)
        return wrong('Write a whole number and a unit, such as 30s, 5m, 1h or 1d.');
      const card = state.card!;
      const untilMs = Date.parse((card.request ?? card.row).deadline!) + parsed.durationMs;
      return {
        state: changeView(state, { isSending: true, dialog: undefined }),
        effects: [{ kind: 'extend', card, untilMs }],
      };
    }
    case 'arguments': {
      const read = readArguments(text);
      if ('problem' in read) return wrong(read.problem);
      return same(changeView(state, { dialog: { kind: 'changes', arguments: read.arguments, scroll: 0, seen: 0 } }));
    }
  }
}

function answered(state: ReviewState, answer: ReviewAnswer, lastKey: string): Step {
  return {
    state: changeView(state, { isSending: true, dialog: undefined, lastKey }),
    effects: [{ kind: 'decide', card: state.card!, answer: withComment(state.card!, answer) }],
  };
}

function same(state: ReviewState): Step {
  return { state, effects: [] };
}
