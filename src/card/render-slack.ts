/**
 * A card as Slack messages. Untrusted text is in rich text, which Slack does not parse: no part of it becomes a
 * mention, a link or markup.
 */
import type { Card, CardChange, CardField, CardRow, CardText } from './card.ts';
import {
  answerLabels,
  argumentsNote,
  cardWarnings,
  changeRest,
  changeTitle,
  diffMarks,
  fieldLabel,
  fieldNote,
  headings,
  previewNote,
  timeParts,
  whyOf,
} from './card-words.ts';
import { tableText } from './card-change.ts';
import { hiddenNote } from './cut-text.ts';
import {
  type RichElement,
  richText,
  section,
  preformatted,
  type SlackBlock,
  type SlackMessage,
  slackMessages,
} from './slack-blocks.ts';

/**
 * Renders a card as messages, to be sent in this order: first the card, and then the raw call as replies to the first
 * message. Each message fits Slack's limits. The caller adds buttons.
 */
export function renderSlack(card: Card): SlackMessage[] {
  const title: SlackBlock = { type: 'header', text: { type: 'plain_text', text: titleOf(card), emoji: false } };
  const sentence = titleOf(card) === card.sentence.text ? [] : [section(text(card.sentence))];
  const groups: RichElement[][] = [
    [...sentence, ...cardWarnings(card).map((each) => section([{ text: `⚠ ${each}` }]))],
    argumentElements(card),
    headed(headings.changes, changeElements(card)),
    headed(headings.why, whyOf(card).map(rowElement)),
    headed(headings.who, card.who.map(rowElement)),
    headed(headings.words, card.words === undefined ? [] : [preformatted(wholeText(card.words))]),
    headed(headings.time, [section(timeParts(card))]),
    headed(headings.settled, (card.settled ?? []).map(rowElement)),
    headed(
      headings.answers,
      card.answers.map(({ name, effect }) =>
        section([{ text: answerLabels[name], bold: true }, { text: `: ${effect}` }]),
      ),
    ),
  ];
  const raw = card.raw === '' ? [] : headed(headings.raw, [preformatted(card.raw)]);
  return [...slackMessages(titleOf(card), groups, title), ...slackMessages(headings.raw, [raw])];
}

/**
 * The card in one block of about `most` characters of JSON, for a message about several requests. It has the call's
 * sentence, warnings and arguments, and then the reasons, as far as there is room. `whole`: true if sentence, warnings
 * and arguments are complete.
 */
export function renderSlackSummary(card: Card, most: number): { block: SlackBlock; whole: boolean } {
  const title = section([{ text: titleOf(card), bold: true }]);
  const deciding = [
    ...(titleOf(card) === card.sentence.text ? [] : [section(text(card.sentence))]),
    ...cardWarnings(card).map((each) => section([{ text: `⚠ ${each}` }])),
    ...argumentRows(card),
    ...headed(headings.changes, changeElements(card)),
  ];
  const all = richText([title], deciding, most);
  if (card.whole && all.left === 0) {
    const rest = [...whyOf(card).map(rowElement), section(timeParts(card))];
    return { block: { type: 'rich_text', elements: richText(all.elements, rest, most).elements }, whole: true };
  }
  const note = section([{ text: 'This is a part: the thread has the whole card.', italic: true }]);
  const { elements } = richText([title, note], deciding, most);
  return { block: { type: 'rich_text', elements }, whole: false };
}

/** Rows of a card in one block of about `most` characters of JSON. */
export function renderSlackRows(rows: readonly CardRow[], most: number): SlackBlock {
  const [first, ...others] = rows.map(rowElement);
  return { type: 'rich_text', elements: richText(first === undefined ? [] : [first], others, most).elements };
}

/** The most characters that Slack accepts in a header. */
const longestTitle = 150;

function titleOf({ sentence, toolName }: Card): string {
  if (sentence.hidden === undefined && sentence.text.length <= longestTitle) return sentence.text;
  const name = toolName.length <= 100 ? toolName : 'a tool';
  return `Approval of ${name}`;
}

function headed(heading: string, elements: RichElement[]): RichElement[] {
  return elements.length === 0 ? [] : [section([{ text: heading, bold: true }]), ...elements];
}

function argumentElements(card: Card): RichElement[] {
  return headed(headings.arguments, argumentRows(card));
}

function argumentRows(card: Card): RichElement[] {
  const note = argumentsNote(card);
  const hidden = card.notShown.map((name) => ({ text: name }));
  return [
    ...(note === '' ? card.arguments.flatMap(fieldElements) : [section([{ text: note }])]),
    ...(hidden.length === 0 ? [] : [rowElement({ label: headings.notShown, texts: hidden })]),
  ];
}

function fieldElements(field: CardField): RichElement[] {
  const { value, description } = field;
  const notes = [fieldNote(field), description ?? ''].filter((each) => each !== '').join('; ');
  const rest = notes === '' ? [] : [{ text: `  ${notes}`, italic: true }];
  const isBlock = value.text.includes('\n') || value.end?.includes('\n') === true;
  const label = { text: `${fieldLabel(field)}: ` };
  return isBlock
    ? [section([label, ...rest]), preformatted(wholeText(value))]
    : [section([label, ...text(value, true), ...rest])];
}

function rowElement({ label, texts }: CardRow): RichElement {
  const values = texts.flatMap((each, index) => [...(index === 0 ? [] : [{ text: '\n' }]), ...text(each, true)]);
  return section([{ text: `${label}: ` }, ...values]);
}

function text(value: CardText, code = false): Parameters<typeof section>[0] {
  const { text: start, hidden, end = '', at } = value;
  const instant = at === undefined ? [] : [{ text: start === '' ? '' : ', ', at }];
  if (hidden === undefined) return [{ text: start, code }, ...instant];
  const note = ` … ${hiddenNote(value).slice(1, -1)}: the message after this one shows them … `;
  return [
    { text: start, code },
    { text: note, italic: true },
    { text: end, code },
  ];
}

function wholeText(value: CardText): string {
  return value.hidden === undefined ? value.text : `${value.text}\n… ${hiddenNote(value)} …\n${value.end ?? ''}`;
}

function changeElements(card: Card): RichElement[] {
  const note = previewNote(card);
  if (note !== undefined) {
    return [section([{ text: note.text }]), ...(note.message === undefined ? [] : [preformatted(note.message)])];
  }
  if (card.preview?.state !== 'ready') return [];
  return card.preview.changes.flatMap((change) => {
    const rest = changeRest(change);
    return [
      section([{ text: changeTitle(change) }]),
      preformatted(changeText(change)),
      ...(rest === '' ? [] : [section([{ text: `… ${rest}`, italic: true }])]),
    ];
  });
}

function changeText(change: CardChange): string {
  if (change.kind === 'table')
    return tableText(change, (each) => Array.from(each).length)
      .map(({ text }) => text)
      .join('\n');
  return change.lines.map(({ kind, text }) => diffMarks[kind] + wholeText(text).replaceAll('\n', ' ')).join('\n');
}
