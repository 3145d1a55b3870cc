/** Renders cards as GitHub-flavoured Markdown. Untrusted text is in code spans and fences, except plain words. */
import type { ReaderClock } from '../text/instant-text.ts';
import type { Card, CardChange, CardField, CardRow, CardText } from './card.ts';
import * as cardWords from './card-words.ts';
import { tableText } from './card-change.ts';
import { hiddenNote, wholeText } from './cut-text.ts';

/** Renders a card as Markdown. `clock` is that of the reader; its default is UTC. */
export function renderMarkdown(shown: Card, clock: ReaderClock = {}): string {
  const card = cardWords.cardFor(shown, clock);
  const note = cardWords.argumentsNote(card);
  const hidden = card.notShown.map((text) => ({ text }));
  const notShown = hidden.length === 0 ? [] : [{ label: cardWords.headings.notShown, texts: hidden }];
  const sections: [heading: string, blocks: string[]][] = [
    [
      cardWords.headings.arguments,
      note === '' ? [...card.arguments.map(fieldBlock), ...notShown.map(rowBlock)] : [note],
    ],
    [cardWords.headings.changes, changeBlocks(card)],
    [cardWords.headings.why, cardWords.whyOf(card).map(rowBlock)],
    [cardWords.headings.who, card.who.map(rowBlock)],
    [cardWords.headings.words, card.words === undefined ? [] : [fence(wholeText(card.words))]],
    [cardWords.headings.time, [codeSpan(cardWords.timeNote(card, clock))]],
    [cardWords.headings.settled, (card.settled ?? []).map(rowBlock)],
    [
      cardWords.headings.answers,
      card.answers.map(({ name, effect }) => `- **${cardWords.answerLabels[name]}**: ${markdownText(effect)}`),
    ],
  ];
  return [
    `### ${markdownText(wholeText(card.sentence))}`,
    cardWords
      .cardWarnings(card)
      .map((each) => `- ⚠ ${markdownText(each)}`)
      .join('\n'),
    ...sections.flatMap(([heading, blocks]) => (blocks.length === 0 ? [] : [`#### ${heading}`, joinBlocks(blocks)])),
    ...(card.raw === ''
      ? []
      : [`<details>\n<summary>${cardWords.headings.raw}</summary>`, fence(card.raw, 'json'), '</details>']),
  ]
    .filter((block) => block !== '')
    .join('\n\n');
}

/** Joins blocks: items of a list without a blank line, and fences with one before and after. */
function joinBlocks(blocks: readonly string[]): string {
  return blocks.map((block, index) => (index === 0 ? '' : separator(blocks[index - 1]!, block)) + block).join('');
}

function separator(before: string, after: string): string {
  return before.includes('\n') || after.includes('\n') || !after.startsWith('- ') ? '\n\n' : '\n';
}

/** Renders a field, its reading and its description. A text of several lines is in a fence. */
function fieldBlock(field: CardField): string {
  const { name, title, value, description } = field;
  const label = cardWords.saysName(title, name)
    ? markdownText(title ?? name)
    : `${markdownText(title ?? '')} (${codeSpan(name)})`;
  const notes = [cardWords.fieldNote(field), description ?? ''].filter((text) => text !== '').map(markdownText);
  const rest = notes.length === 0 ? '' : ` (${notes.join('; ')})`;
  const isBlock = value.text.includes('\n') || value.end?.includes('\n') === true;
  return isBlock ? `- ${label}${rest}:\n\n${fence(wholeText(value))}` : `- ${label}: ${codeText(value)}${rest}`;
}

function rowBlock({ label, texts }: CardRow): string {
  return `- ${label}: ${texts.map(codeText).join(', ')}`;
}

function codeText(text: CardText): string {
  if (text.hidden === undefined) return codeSpan(text.text);
  const note = `*${hiddenNote(text).slice(1, -1)}: the raw call shows them*`;
  return `${codeSpan(text.text)} … ${note} … ${codeSpan(text.end ?? '')}`;
}

/** Renders the changes of a preview, or the note in their place; none without a preview. */
function changeBlocks(card: Card): string[] {
  const note = cardWords.previewNote(card);
  if (note !== undefined) return [note.text, ...(note.message === undefined ? [] : [fence(note.message)])];
  if (card.preview?.state !== 'ready') return [];
  return card.preview.changes.flatMap((change) => {
    const rest = cardWords.changeRest(change);
    return [markdownText(cardWords.changeTitle(change)), changeFence(change), ...(rest === '' ? [] : [`*${rest}*`])];
  });
}

function changeFence(change: CardChange): string {
  if (change.kind === 'table') {
    const rows = tableText(change, (text) => Array.from(text).length);
    return fence(rows.map(({ text }) => text).join('\n'));
  }
  return fence(change.lines.map(({ kind, text }) => cardWords.diffMarks[kind] + wholeText(text)).join('\n'), 'diff');
}

/** Matches a word of letters, which no reader of Markdown takes for a link, a mention or markup. */
const plainWord = /^[\p{L}\p{M}]+(?:['’-][\p{L}\p{M}]+)*[,.;:!?]?$/u;

/** Converts a line to Markdown: plain words stay, and everything else is in code spans. */
function markdownText(text: string): string {
  const parts: string[] = [];
  let otherWords: string[] = [];
  for (const word of text.split(' ')) {
    if (!plainWord.test(word)) otherWords.push(word);
    else {
      parts.push(...spanOf(otherWords), word);
      otherWords = [];
    }
  }
  return [...parts, ...spanOf(otherWords)].join(' ');
}

/** Returns one code span with these words, and the punctuation at their end after the span; empty without words. */
function spanOf(words: readonly string[]): string[] {
  const whole = words.join(' ');
  // Use a loop: a regular expression takes quadratic time for many punctuation marks.
  let end = whole.length;
  while (end > 0 && ',.;:!?'.includes(whole[end - 1]!)) end -= 1;
  const [inside, after] = [whole.slice(0, end), whole.slice(end)];
  if (inside.trim() !== '') return [codeSpan(inside) + after];
  return after === '' ? [] : [codeSpan(after)];
}

/** Returns a code span that contains exactly this text, which must have no line feeds. */
export function codeSpan(text: string): string {
  if (text === '') return '``` ```';
  const ticks = '`'.repeat(longestRun(text) + 1);
  const isPadded = /^`|`$/.test(text) || (/^ .* $/s.test(text) && text.trim() !== '');
  const space = isPadded ? ' ' : '';
  return `${ticks}${space}${text}${space}${ticks}`;
}

function fence(text: string, language = 'text'): string {
  const ticks = '`'.repeat(Math.max(3, longestRun(text) + 1));
  return `${ticks}${language}\n${text}\n${ticks}`;
}

function longestRun(text: string): number {
  return (text.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 0);
}
