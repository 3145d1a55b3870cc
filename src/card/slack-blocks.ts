/** Rich text of Slack, and its division into blocks and messages that Slack accepts. */
import { instantMs } from '../core/messages/control.ts';
import { instantText } from '../text/instant-text.ts';

interface RichText {
  type: 'text';
  text: string;
  style?: { bold?: true; italic?: true; code?: true };
}

/** An instant, which Slack shows to each reader in the reader's time zone. `timestamp`: in seconds since 1970. */
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
  /** The text of notifications. */
  text: string;
  blocks: SlackBlock[];
}

/** Slack's documented limits. */
const mostBlocks = 50;
const longestText = 3_000;
/**
 * The most characters of a message. Slack refuses a message of about 13,200 characters, and does not document how it
 * counts them.
 */
const longestMessage = 9_000;

/** One line, or a paragraph. `at`: an instant (ISO 8601) that follows the text. Slack accepts no empty text. */
export function section(
  parts: readonly { text: string; at?: string; bold?: boolean; italic?: boolean; code?: boolean }[],
): RichElement {
  const elements = parts.flatMap(
    ({ text, at, bold = false, italic = false, code = false }): RichElement['elements'] => {
      const after = at === undefined || at === '' ? [] : [dateOf(at)];
      if (text === '') return after;
      const style = {
        ...(bold && { bold: true as const }),
        ...(italic && { italic: true as const }),
        ...(code && { code: true as const }),
      };
      return [{ type: 'text', text, ...(Object.keys(style).length > 0 && { style }) }, ...after];
    },
  );
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

/**
 * Makes as many messages as the groups of elements need. Each group begins a new block. `first`: a block at the top of
 * the first message.
 */
export function slackMessages(
  title: string,
  groups: readonly (readonly RichElement[])[],
  first?: SlackBlock,
): SlackMessage[] {
  const messages: SlackMessage[] = [];
  let blocks: SlackBlock[] = first === undefined ? [] : [first];
  let used = JSON.stringify(blocks).length;
  for (const group of groups) {
    let block: RichElement[] | undefined;
    for (const element of group.flatMap(fittingElements)) {
      const length = JSON.stringify(element).length + 60;
      if (used + length > longestMessage || blocks.length === mostBlocks) {
        messages.push({ text: fallbackText(title), blocks });
        [blocks, used, block] = [[], 0, undefined];
      }
      if (block === undefined || textLength(block) + textLength([element]) > longestText) {
        block = [];
        blocks.push({ type: 'rich_text', elements: block });
      }
      append(block, element);
      used += length;
    }
  }
  return blocks.length === 0 ? messages : [...messages, { text: fallbackText(title), blocks }];
}

/**
 * Makes one block from all elements of `first`, and from as many of the others as fit in `most` characters of JSON.
 * `left`: the number of elements that do not fit.
 */
export function richText(
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

/** Adds an element to a block. Consecutive lines are joined to one section. */
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

/** The element; if its text is too long for Slack, several elements with parts of the text. */
function fittingElements(element: RichElement): RichElement[] {
  if (element.elements.length === 0) return [];
  if (textLength([element]) < longestText) return [element];
  return element.elements.flatMap((each): RichElement[] => {
    if (each.type === 'date') return [{ ...element, elements: [each] }];
    return slices(each.text, longestText - 10).map((text) => ({ ...element, elements: [{ ...each, text }] }));
  });
}

/** The parts of a text, each of at most `most` characters. No part ends within a surrogate pair. */
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

/** A text for a field in which Slack reads `&`, `<` and `>` as markup. */
export function fallbackText(title: string): string {
  return title.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
