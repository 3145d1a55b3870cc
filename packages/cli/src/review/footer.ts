import { escapeText, shownPerson } from 'countersign/base';
import type { Settlement } from 'countersign/client';
import { wrap } from '../base/fit-text.ts';
import { isArmed } from './arming.ts';
import { breakLine, type Styling } from './card-lines.ts';
import { skippedCount, cardStanding } from './card-state.ts';
import type { Dialog, OpenCard, ReviewState } from './review-state.ts';
import { shownField } from './text-field.ts';

/** The keys of a card, with the letter that is pressed in brackets. */
const cardKeys = '[a]pprove [d]eny [A]lways [e]dit [c]omment [r]espond [x]tend [s]kip [v]iew [?] [q]uit';

export const helpLines = [
  'a  approve: the call runs as shown',
  'd  deny: the call does not run; you may give a reason',
  'A  always: approve, and choose which later calls of this run are approved too',
  'e  edit: approve other arguments; you see the difference first',
  "c  comment: write what the model reads before the tool's result; a, A and e send it",
  "r  respond: you answer in the tool's place",
  'x  extend: give the request more time',
  's  skip: leave it open, and look at the next one',
  'b  see what you skipped again',
  'v  view everything: the raw call, and what is cut',
  'j k, arrows, space, PgUp PgDn, Home End  move',
  'q  quit; Ctrl-C too. What is not answered stays open',
  '',
  'Keys have brackets once they count: half a second after the request is on the screen,',
  'and later for the key that answered the last one.',
  'A call can be approved once what it does and why it is asked about was on the screen.',
];

/** The last lines of the screen: what can be done now. */
export function footerLines(state: ReviewState, style: Styling): string[] {
  const { card, dialog, isSending, size } = state;
  const lines = (text: string): string[] => wrap(text, size.columns);
  // Dimmed and without brackets, so that it shows without colours, too.
  const plain = (text: string): string => (isArmed(state) ? text : style('dim', text.replaceAll(/[[\]]/g, ' ')));
  if (isSending) return ['Sending your answer …'];
  if (dialog?.kind === 'changes' || (dialog?.kind === 'scope' && dialog.editor.field === undefined)) {
    return dialogLines(dialog, size.columns).map(plain);
  }
  if (dialog !== undefined) return dialogLines(dialog, size.columns);
  if (card === undefined)
    return lines(skippedCount(state) > 0 ? '[b]ack to what you skipped [?] [q]uit' : '[?] [q]uit').map(plain);
  const standing = cardStanding(card, state.nowMs);
  if (standing === 'loading') return lines('[s]kip [?] [q]uit').map(plain);
  if (standing === 'open') return [...commentLines(card, size.columns), ...lines(cardKeys).map(plain)];
  const text = standing === 'expired' ? 'Expired: it can no longer be answered.' : settledText(card);
  return [
    ...breakLine(text, size.columns).map((line) => style('yellow', line)),
    ...lines('[n]ext [?] [q]uit').map(plain),
  ];
}

function dialogLines(dialog: Dialog, columns: number): string[] {
  const field = (label: string): string[] => {
    const shown = 'field' in dialog ? shownField(dialog.field).join('') : '';
    const lines = breakLine(`${label} ${shown}`, columns);
    const problem = problemLines(dialog, columns);
    // The end of a long text, where people write.
    return [...lines.slice(0, 1), ...lines.slice(1).slice(-3), ...problem];
  };
  switch (dialog.kind) {
    case 'reason':
      return field('Deny. Reason (may be empty; Enter denies, Esc goes back):');
    case 'comment':
      return field('Comment, sent with your approval; the model reads it (Enter keeps it, Esc goes back):');
    case 'response':
      return field("Answer in the tool's place (Enter sends, Esc goes back):");
    case 'duration':
      return field('How much longer, such as 30m (Enter sends, Esc goes back):');
    case 'arguments':
      return [...wrap('Ctrl-S: see the difference. Esc: go back.', columns), ...problemLines(dialog, columns)];
    case 'scope':
      return wrap(
        dialog.editor.field === undefined
          ? '[y]es, approve and always approve these. Up, down: move. Space: choose. [e]dit a pattern. Esc: go back.'
          : 'Enter: take this pattern. Esc: keep the old one. * stands for any text.',
        columns,
      );
    case 'changes':
      return wrap('[y]es, approve with these arguments. [e]dit again. Esc: go back.', columns);
    case 'help':
      return ['Any key goes back.'];
  }
}

/** What goes with an approval. */
function commentLines({ comment }: OpenCard, columns: number): string[] {
  return comment === undefined ? [] : breakLine(`With your comment: ${escapeText(comment)}`, columns).slice(0, 3);
}

function problemLines(dialog: Dialog, columns: number): string[] {
  const problem = 'problem' in dialog ? dialog.problem : undefined;
  return problem === undefined ? [] : breakLine(problem, columns);
}

/** Who settled it, and how. */
function settledText({ request }: OpenCard): string {
  const settled = request!.settled!;
  return `Settled elsewhere: ${outcomeText(settled)}. No key answers it any more.`;
}

function outcomeText({ outcome, by, byId, reviewerId, reviewerName, identity, reason }: Settlement): string {
  const person =
    reviewerId === undefined
      ? ''
      : ` by ${escapeText(shownPerson(reviewerId, reviewerName))}${identity === undefined ? '' : ` (${identity})`}`;
  const thing = by === undefined ? '' : ` by ${by}${byId === undefined || byId === null ? '' : ` ${escapeText(byId)}`}`;
  const why = reason === undefined ? '' : `: ${escapeText(reason)}`;
  return `${outcome.replaceAll('_', ' ')}${person}${thing}${why}`;
}
