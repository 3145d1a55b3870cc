/** Renders cards as Slack messages. Untrusted text is in rich text, in which Slack reads no mention, link or markup. */
import type { Card, CardChange, CardField, CardRow, CardText } from './card.ts';
import * as cardWords from './card-words.ts';
import { tableText } from './card-change.ts';
import { hiddenNote } from './cut-text.ts';
import { instantMs } from '../core/messages/control.ts';
import { instantText } from '../text/instant-text.ts';

/**
 * Renders a card as messages within Slack's limits, in the order in which to send them: first the card, then the raw
 * call as replies to it. The messages have no buttons.
 */
export function renderSlack(card: Card): SlackMessage[] {
  const title: SlackBlock = { type: 'header', text: { type: 'plain_text', text: titleOf(card), emoji: false } };
  const sentence = titleOf(card) === card.sentence.text ? [] : [section(text(card.sentence))];
  const groups: RichElement[][] = [
    [...sentence, ...cardWords.cardWarnings(card).map((each) => section([{ text: `⚠ ${each}` }]))],
    headed(cardWords.headings.arguments, argumentRows(card)),
    headed(cardWords.headings.changes, changeElements(card)),
    headed(cardWords.headings.why, cardWords.whyOf(card).map(rowElement)),
    headed(cardWords.headings.who, card.who.map(rowElement)),
    headed(cardWords.headings.words, card.words === undefined ? [] : [preformatted(wholeText(card.words))]),
    headed(cardWords.headings.time, [section(cardWords.timeParts(card))]),
    headed(cardWords.headings.settled, (card.settled ?? []).map(rowElement)),
    headed(
      cardWords.headings.answers,
      card.answers.map(({ name, effect }) =>
        section([{ text: cardWords.answerLabels[name], bold: true }, { text: `: ${effect}` }]),
      ),
    ),
  ];
  const raw = card.raw === '' ? [] : headed(cardWords.headings.raw, [preformatted(card.raw)]);
  return [...slackMessages(titleOf(card), groups, title), ...slackMessages(cardWords.headings.raw, [raw])];
}

/**
 * Renders a card in one block of about `most` characters of JSON: sentence, warnings and arguments, and then the
 * reasons, as far as they fit. `whole` is true if sentence, warnings and arguments are complete.
 */
export function renderSlackSummary(card: Card, most: number): { block: SlackBlock; whole: boolean } {
  const title = section([{ text: titleOf(card), bold: true }]);
  const deciding = [
    ...(titleOf(card) === card.sentence.text ? [] : [section(text(card.sentence))]),
    ...cardWords.cardWarnings(card).map((each) => section([{ text: `⚠ ${each}` }])),
    ...argumentRows(card),
    ...headed(cardWords.headings.changes, changeElements(card)),
  ];
  const fitted = richText([title], deciding, most);
  if (card.whole && fitted.left === 0) {
    const reasons = [...cardWords.whyOf(card).map(rowElement), section(cardWords.timeParts(card))];
    return { block: { type: 'rich_text', elements: richText(fitted.elements, reasons, most).elements }, whole: true };
  }
  const note = section([{ text: 'This is a part: the thread has the whole card.', italic: true }]);
  const { elements } = richText([title, note], deciding, most);
  return { block: { type: 'rich_text', elements }, whole: false };
}

/** Renders rows of a card in one block of about `most` characters of JSON. */
export function renderSlackRows(rows: readonly CardRow[], most: number): SlackBlock {
  const [first, ...others] = rows.map(rowElement);
  return { type: 'rich_text', elements: richText(first === undefined ? [] : [first], others, most).elements };
}

/** The most characters of a header in Slack. */
const longestTitle = 150;

function titleOf({ sentence, toolName }: Card): string {
  if (sentence.hidden === undefined && sentence.text.length <= longestTitle) return sentence.text;
  return `Approval of ${toolName.length <= 100 ? toolName : 'a tool'}`;
}

function headed(heading: string, elements: RichElement[]): RichElement[] {
  return elements.length === 0 ? [] : [section([{ text: heading, bold: true }]), ...elements];
}

/** Renders the fields, or the note in their place, and the names of hidden arguments. */
function argumentRows(card: Card): RichElement[] {
  const note = cardWords.argumentsNote(card);
  const hidden = card.notShown.map((name) => ({ text: name }));
  return [
    ...(note === '' ? card.arguments.flatMap(fieldElements) : [section([{ text: note }])]),
    ...(hidden.length === 0 ? [] : [rowElement({ label: cardWords.headings.notShown, texts: hidden })]),
  ];
}

/** Renders a field, its reading and its description. A text of several lines is a block. */
function fieldElements(field: CardField): RichElement[] {
  const { value, description } = field;
  const notes = [cardWords.fieldNote(field), description ?? ''].filter((each) => each !== '').join('; ');
  const rest = notes === '' ? [] : [{ text: `  ${notes}`, italic: true }];
  const isBlock = value.text.includes('\n') || value.end?.includes('\n') === true;
  const label = { text: `${cardWords.fieldLabel(field)}: ` };
  return isBlock
    ? [section([label, ...rest]), preformatted(wholeText(value))]
    : [section([label, ...text(value, true), ...rest])];
}

function rowElement({ label, texts }: CardRow): RichElement {
  const values = texts.flatMap((each, index) => [...(index === 0 ? [] : [{ text: '\n' }]), ...text(each, true)]);
  return section([{ text: `${label}: ` }, ...values]);
}

/** Converts a text to parts of a paragraph. A cut text has a note in its middle, and no instant after it. */
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

/** Renders the changes of a preview, or the note in their place; none without a preview. */
function changeElements(card: Card): RichElement[] {
  const note = cardWords.previewNote(card);
  if (note !== undefined) {
    return [section([{ text: note.text }]), ...(note.message === undefined ? [] : [preformatted(note.message)])];
  }
  if (card.preview?.state !== 'ready') return [];
  return card.preview.changes.flatMap((change) => {
    const rest = cardWords.changeRest(change);
    return [
      section([{ text: cardWords.changeTitle(change) }]),
      preformatted(changeText(change)),
      ...(rest === '' ? [] : [section([{ text: `… ${rest}`, italic: true }])]),
    ];
  });
}

function changeText(change: CardChange): string {
  const lines =
    change.kind === 'table'
      ? tableText(change, (each) => Array.from(each).length).map(({ text }) => text)
      : change.lines.map(({ kind, text }) => cardWords.diffMarks[kind] + wholeText(text).replaceAll('\n', ' '));
  return lines.join('\n');
}

interface RichText {
  type: 'text';
  text: string;
  style?: { bold?: true; italic?: true; code?: true };
}

/** An instant, which Slack shows in the time zone of each reader. `timestamp`: in seconds since 1970. */
interface RichDate {
  type: 'date';
  timestamp: number;
  format: string;
  fallback: string;
}

export interface RichElement {
  type: 'rich_text_section' | 'rich_text_preformatted';
  elements: (RichText | RichDate)[];
}

export type SlackBlock =
  | { type: 'header'; text: { type: 'plain_text'; text: string; emoji: false } }
  | { type: 'rich_text'; elements: RichElement[] };

/** The arguments of `chat.postMessage` besides the channel. */
export interface SlackMessage {
  text: string;
  blocks: SlackBlock[];
}

/** Slack's documented limits: the blocks of a message, and the characters of a block. */
const mostBlocks = 50;
const longestText = 3_000;
/** The most characters of a message as JSON. Slack refuses about 13,200, and does not document how it counts. */
const longestMessage = 9_000;
/** More than the characters of JSON that a block adds to its elements. */
const longestBlockFrame = 60;

/** Builds a paragraph without empty parts, which Slack refuses. `at` is an instant (ISO 8601) that follows the text. */
export function section(
  parts: readonly { text: string; at?: string; bold?: boolean; italic?: boolean; code?: boolean }[],
): RichElement {
  const elements = parts.flatMap(({ text, at, ...styles }): RichElement['elements'] => {
    const after = at === undefined || at === '' ? [] : [dateOf(at)];
    if (text === '') return after;
    const style: RichText['style'] = {
      ...(styles.bold === true && { bold: true }),
      ...(styles.italic === true && { italic: true }),
      ...(styles.code === true && { code: true }),
    };
    return [{ type: 'text', text, ...(Object.keys(style).length > 0 && { style }) }, ...after];
  });
  return { type: 'rich_text_section', elements };
}

function dateOf(instant: string): RichText | RichDate {
  const [atMs, fallback] = [instantMs(instant), instantText(instant)];
  if (atMs === undefined) return { type: 'text', text: fallback };
  return { type: 'date', timestamp: Math.floor(atMs / 1_000), format: '{date_short_pretty}, {time}', fallback };
}

export function preformatted(text: string): RichElement {
  return { type: 'rich_text_preformatted', elements: [{ type: 'text', text: text === '' ? ' ' : text }] };
}

/** Distributes elements to messages, each group in a new block. `first` is the first block of the first message. */
export function slackMessages(
  title: string,
  groups: readonly (readonly RichElement[])[],
  first?: SlackBlock,
): SlackMessage[] {
  const messages: SlackMessage[] = [];
  let blocks: SlackBlock[] = first === undefined ? [] : [first];
  let messageLength = JSON.stringify(blocks).length;
  for (const group of groups) {
    let block: RichElement[] | undefined;
    for (const element of group.flatMap(fittingElements)) {
      const length = JSON.stringify(element).length + longestBlockFrame;
      if (messageLength + length > longestMessage || blocks.length === mostBlocks) {
        messages.push({ text: fallbackText(title), blocks });
        [blocks, messageLength, block] = [[], 0, undefined];
      }
      if (block === undefined || textLength(block) + textLength([element]) > longestText) {
        block = [];
        blocks.push({ type: 'rich_text', elements: block });
      }
      append(block, element);
      messageLength += length;
    }
  }
  return blocks.length === 0 ? messages : [...messages, { text: fallbackText(title), blocks }];
}

/** Builds a block of `first` and, up to `most` characters of JSON, of `others`. `left`: how many do not fit. */
function richText(
  first: readonly RichElement[],
  others: readonly RichElement[],
  most: number,
): { elements: RichElement[]; left: number } {
  const fitting = others.flatMap(fittingElements);
  let elements = mergeElements(first);
  for (const [index, element] of fitting.entries()) {
    const longer = mergeElements([...elements, element]);
    if (JSON.stringify(longer).length > most || textLength(longer) > longestText) {
      return { elements, left: fitting.length - index };
    }
    elements = longer;
  }
  return { elements, left: 0 };
}

function mergeElements(elements: readonly RichElement[]): RichElement[] {
  const block: RichElement[] = [];
  for (const element of elements) append(block, element);
  return block;
}

/** Adds an element to a block. A section is joined to a section before it. */
function append(block: RichElement[], element: RichElement): void {
  const last = block.at(-1);
  if (last?.type !== 'rich_text_section' || element.type !== 'rich_text_section') {
    block.push({ ...element, elements: [...element.elements] });
  } else last.elements.push({ type: 'text', text: '\n' }, ...element.elements);
}

function textLength(elements: readonly RichElement[]): number {
  return elements.flatMap((each) => each.elements).reduce((sum, each) => sum + elementText(each).length + 1, 0);
}

function elementText(each: RichText | RichDate): string {
  return each.type === 'text' ? each.text : each.fallback;
}

/** Splits an element into several if its text is too long for Slack. */
function fittingElements(element: RichElement): RichElement[] {
  if (element.elements.length === 0) return [];
  if (textLength([element]) < longestText) return [element];
  return element.elements.flatMap((each): RichElement[] => {
    if (each.type === 'date') return [{ ...element, elements: [each] }];
    // `textLength` counts one more for each element, so leave some room.
    return slices(each.text, longestText - 10).map((text) => ({ ...element, elements: [{ ...each, text }] }));
  });
}

/** Splits a text into parts of at most `most` characters, but never within a surrogate pair. */
function slices(text: string, most: number): string[] {
  const parts: string[] = [];
  for (let from = 0; from < text.length;) {
    let to = Math.min(text.length, from + most);
    if (/[\uD800-\uDBFF]/.test(text[to - 1]!) && to < text.length) to -= 1;
    parts.push(text.slice(from, to));
    from = to;
  }
  return parts;
}

/** Escapes a text for a field in which Slack reads `&`, `<` and `>` as markup. */
export function fallbackText(title: string): string {
  return title.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
