/**
 * A card as HTML without scripts, addresses and style attributes. All untrusted text is content of elements, never part
 * of a tag.
 */
import { escapeHtml, htmlPage } from '../text/html-page.ts';
import type { ReaderClock } from '../text/instant-text.ts';
import { visibleEscape } from '../text/visible-text.ts';
import type { Card, CardChange, CardField, CardRow, CardText } from './card.ts';
import {
  answerLabels,
  argumentsNote,
  cardFor,
  cardWarnings,
  changeRest,
  changeTitle,
  diffMarks,
  fieldLabel,
  fieldNote,
  headings,
  previewNote,
  timeNote,
  whyOf,
} from './card-words.ts';
import { hiddenNote } from './cut-text.ts';
import { cardStyle } from './html-style.ts';

/**
 * Renders a card as a whole page, which loads nothing and runs nothing. `clock`: the clock of its reader; default UTC.
 */
export function renderHtmlPage(card: Card, clock: ReaderClock = {}): string {
  return htmlPage({ title: card.sentence.text, style: cardStyle, body: renderHtml(card, clock) });
}

/** Renders a card as one `article`, for a page with `cardStyle`. `clock`: the clock of its reader; default UTC. */
export function renderHtml(shown: Card, clock: ReaderClock = {}): string {
  const card = cardFor(shown, clock);
  const note = argumentsNote(card);
  const { words } = card;
  const sections: [heading: string, content: string][] = [
    [headings.arguments, note === '' ? fieldsHtml(card) : `<p>${escapeHtml(note)}</p>`],
    [headings.changes, changesHtml(card)],
    [headings.why, rowsHtml(whyOf(card))],
    [headings.who, rowsHtml(card.who)],
    [headings.words, words === undefined ? '' : `<blockquote><bdi>${textHtml(words)}</bdi></blockquote>`],
    [headings.time, `<p><bdi>${marked(timeNote(card, clock))}</bdi></p>`],
    [headings.settled, rowsHtml(card.settled ?? [])],
    [
      headings.answers,
      rowsHtml(card.answers.map(({ name, effect }) => ({ label: answerLabels[name], texts: [{ text: effect }] }))),
    ],
  ];
  const warnings = cardWarnings(card)
    .map((each) => `<li>${marked(each)}</li>`)
    .join('');
  return [
    '<article class="card">',
    `<h1><bdi>${textHtml(card.sentence)}</bdi></h1>`,
    ...(warnings === '' ? [] : [`<ul class="warnings">${warnings}</ul>`]),
    ...sections.flatMap(([heading, content]) =>
      content === '' ? [] : [`<section><h2>${escapeHtml(heading)}</h2>${content}</section>`],
    ),
    ...(card.raw === ''
      ? []
      : [`<details><summary>${headings.raw}</summary><pre>\n${escapeHtml(card.raw)}</pre></details>`]),
    '</article>',
  ].join('\n');
}

function fieldsHtml({ arguments: fields, notShown }: Card): string {
  const hidden =
    notShown.length === 0 ? '' : entry(headings.notShown, notShown.map((text) => value({ text })).join(', '));
  return `<dl>${fields.map(fieldHtml).join('')}${hidden}</dl>`;
}

function fieldHtml(field: CardField): string {
  const { value: text, description, format } = field;
  const isBlock = text.text.includes('\n') || text.end?.includes('\n') === true;
  const notes = [fieldNote(field), description ?? ''].filter((each) => each !== '');
  const noted = notes.map((each) => `<span class="note">${marked(each)}</span>`).join('');
  if (isBlock) return entry(fieldLabel(field), `${noted}<pre>\n${textHtml(text)}</pre>`, ' class="block"');
  return entry(fieldLabel(field), `${value(text, format)}${noted}`);
}

/** A text of the card as HTML. `name`: its class in `cardStyle`. */
function value(text: CardText, name = 'text'): string {
  return `<bdi class="value ${name}">${textHtml(text)}</bdi>`;
}

function entry(label: string, content: string, attributes = ''): string {
  return `<div><dt><bdi>${marked(label)}</bdi></dt><dd${attributes}>${content}</dd></div>`;
}

function rowsHtml(rows: readonly CardRow[]): string {
  if (rows.length === 0) return '';
  return `<dl>${rows.map(({ label, texts }) => entry(label, texts.map((text) => value(text)).join('<br>'))).join('')}</dl>`;
}

function textHtml(text: CardText): string {
  if (text.hidden === undefined) return marked(text.text);
  const note = `… ${hiddenNote(text).slice(1, -1)}: the raw call shows them …`;
  return `${marked(text.text)}<span class="cut">${escapeHtml(note)}</span>${marked(text.end ?? '')}`;
}

function changesHtml(card: Card): string {
  const note = previewNote(card);
  if (note !== undefined) {
    return `<p>${escapeHtml(note.text)}</p>${note.message === undefined ? '' : `<pre>\n${marked(note.message)}</pre>`}`;
  }
  if (card.preview?.state !== 'ready') return '';
  return card.preview.changes.map(changeHtml).join('');
}

function changeHtml(change: CardChange): string {
  const rest = changeRest(change);
  const cut = rest === '' ? '' : `<span class="cut">… ${escapeHtml(rest)}</span>`;
  return `<p><bdi>${marked(changeTitle(change))}</bdi></p>${change.kind === 'table' ? tableHtml(change) : linesHtml(change)}${cut}`;
}

function linesHtml({ lines }: CardChange & { kind: 'text' }): string {
  const shown = lines.map(
    ({ kind, text }) => `<span class="${kind}">${escapeHtml(diffMarks[kind])}${textHtml(text)}</span>`,
  );
  return `<pre>\n${shown.join('')}</pre>`;
}

function tableHtml({ columns, rows }: CardChange & { kind: 'table' }): string {
  const cell = (text: string | null): string => `<bdi>${marked(text ?? 'nothing')}</bdi>`;
  const shown = rows.map(({ kind, cells }) => {
    const contents = cells.map(({ before, after }) => {
      if (kind === 'removed') return `<del>${cell(before ?? '')}</del>`;
      if (kind === 'added') return `<ins>${cell(after ?? '')}</ins>`;
      return before === after ? cell(after ?? '') : `<del>${cell(before)}</del> → <ins>${cell(after)}</ins>`;
    });
    return `<tr>${contents.map((content) => `<td>${content}</td>`).join('')}</tr>`;
  });
  const head = columns.map((column) => `<th><bdi>${marked(column)}</bdi></th>`).join('');
  return `<div class="table"><table><thead><tr>${head}</tr></thead><tbody>${shown.join('')}</tbody></table></div>`;
}

/** The text as HTML, with the escapes of invisible and look-alike characters highlighted. */
function marked(text: string): string {
  return escapeHtml(text).replace(visibleEscape, (each) => `<mark>${each}</mark>`);
}
