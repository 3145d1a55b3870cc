/** Renders cards as HTML without scripts, URLs and style attributes. Untrusted text is only content of elements. */
import { escapeHtml, htmlPage } from '../text/html-page.ts';
import type { ReaderClock } from '../text/instant-text.ts';
import { visibleEscape } from '../text/visible-text.ts';
import type { Card, CardChange, CardField, CardRow, CardText } from './card.ts';
import * as cardWords from './card-words.ts';
import { hiddenNote } from './cut-text.ts';

/** Renders a card as a page that loads and runs nothing. `clock` is that of the reader; its default is UTC. */
export function renderHtmlPage(card: Card, clock: ReaderClock = {}): string {
  return htmlPage({ title: card.sentence.text, style: cardStyle, body: renderHtml(card, clock) });
}

/** Renders a card as an `article` for a page with `cardStyle`. `clock` is that of the reader; its default is UTC. */
export function renderHtml(shown: Card, clock: ReaderClock = {}): string {
  const card = cardWords.cardFor(shown, clock);
  const note = cardWords.argumentsNote(card);
  const { words } = card;
  const answers = card.answers.map(({ name, effect }) => ({
    label: cardWords.answerLabels[name],
    texts: [{ text: effect }],
  }));
  const sections: [heading: string, content: string][] = [
    [cardWords.headings.arguments, note === '' ? fieldsHtml(card) : `<p>${escapeHtml(note)}</p>`],
    [cardWords.headings.changes, changesHtml(card)],
    [cardWords.headings.why, rowsHtml(cardWords.whyOf(card))],
    [cardWords.headings.who, rowsHtml(card.who)],
    [cardWords.headings.words, words === undefined ? '' : `<blockquote><bdi>${textHtml(words)}</bdi></blockquote>`],
    [cardWords.headings.time, `<p><bdi>${marked(cardWords.timeNote(card, clock))}</bdi></p>`],
    [cardWords.headings.settled, rowsHtml(card.settled ?? [])],
    [cardWords.headings.answers, rowsHtml(answers)],
  ];
  const warnings = cardWords
    .cardWarnings(card)
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
      : [`<details><summary>${cardWords.headings.raw}</summary><pre>\n${escapeHtml(card.raw)}</pre></details>`]),
    '</article>',
  ].join('\n');
}

function fieldsHtml({ arguments: fields, notShown }: Card): string {
  const hidden =
    notShown.length === 0 ? '' : entry(cardWords.headings.notShown, notShown.map((text) => value({ text })).join(', '));
  return `<dl>${fields.map(fieldHtml).join('')}${hidden}</dl>`;
}

/** Renders a field, its reading and its description. A text of several lines is a block. */
function fieldHtml(field: CardField): string {
  const { value: text, description, format } = field;
  const isBlock = text.text.includes('\n') || text.end?.includes('\n') === true;
  const notes = [cardWords.fieldNote(field), description ?? ''].filter((each) => each !== '');
  const noted = notes.map((each) => `<span class="note">${marked(each)}</span>`).join('');
  if (isBlock) return entry(cardWords.fieldLabel(field), `${noted}<pre>\n${textHtml(text)}</pre>`, ' class="block"');
  return entry(cardWords.fieldLabel(field), `${value(text, format)}${noted}`);
}

/** Renders a text of the card as HTML. `name` is its class in `cardStyle`. */
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

/** Renders the changes of a preview, or the note in their place; empty without a preview. */
function changesHtml(card: Card): string {
  const note = cardWords.previewNote(card);
  if (note !== undefined) {
    return `<p>${escapeHtml(note.text)}</p>${note.message === undefined ? '' : `<pre>\n${marked(note.message)}</pre>`}`;
  }
  if (card.preview?.state !== 'ready') return '';
  return card.preview.changes.map(changeHtml).join('');
}

function changeHtml(change: CardChange): string {
  const rest = cardWords.changeRest(change);
  const cut = rest === '' ? '' : `<span class="cut">… ${escapeHtml(rest)}</span>`;
  return `<p><bdi>${marked(cardWords.changeTitle(change))}</bdi></p>${change.kind === 'table' ? tableHtml(change) : linesHtml(change)}${cut}`;
}

function linesHtml({ lines }: CardChange & { kind: 'text' }): string {
  const shown = lines.map(
    ({ kind, text }) => `<span class="${kind}">${escapeHtml(cardWords.diffMarks[kind])}${textHtml(text)}</span>`,
  );
  return `<pre>\n${shown.join('')}</pre>`;
}

/** Renders the table of a change. A changed cell has the value before, struck out, and the value after. */
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

/** The style sheet for cards, on narrow and wide screens, dark and light. It loads nothing. */
export const cardStyle = `
:root { color-scheme: light dark; }
body { margin: 0; background: #f4f5f7; }
.card { --ink: #16191d; --soft: #59626e; --line: #dde1e6; --paper: #fff; --code: #f4f5f7; --warn: #7a4b00;
  --warn-paper: #fff4d6; --odd: #fff; --odd-paper: #b3261e; --added: #0b5d2a; --added-paper: #e3f6e8;
  --removed: #8f1d17; --removed-paper: #fdeaea;
  box-sizing: border-box; max-width: 46rem; margin: 0 auto; padding: 1rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
.card * { box-sizing: border-box; }
.card h1 { margin: 0 0 .75rem; font-size: 1.3rem; line-height: 1.3; overflow-wrap: anywhere; }
.card h2 { margin: 1.5rem 0 .4rem; font-size: .8rem; font-weight: 600; letter-spacing: .04em; color: var(--soft);
  text-transform: uppercase; }
.card p, .card ul, .card dl, .card dd { margin: 0; }
.card .warnings { padding: .6rem .8rem; list-style: none; border-radius: .5rem; background: var(--warn-paper);
  color: var(--warn); overflow-wrap: anywhere; }
.card .warnings li + li { margin-top: .35rem; }
.card dl > div { padding: .45rem 0; border-top: 1px solid var(--line); }
.card dl > div:first-child { border-top: 0; }
.card dt { color: var(--soft); font-size: .9rem; overflow-wrap: anywhere; }
.card dd { overflow-wrap: anywhere; }
.card bdi { unicode-bidi: isolate; white-space: pre-wrap; }
.card .value { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .93em; }
.card .money, .card .text { font-family: inherit; font-size: 1em; }
.card .note, .card .cut { display: block; color: var(--soft); font-size: .88rem; }
.card .cut { color: var(--warn); }
.card mark { padding: 0 .15em; border-radius: .2em; background: var(--odd-paper); color: var(--odd); }
.card pre { margin: .35rem 0 0; padding: .6rem .7rem; border-radius: .5rem; background: var(--code); color: inherit;
  font: .85rem/1.45 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre-wrap;
  overflow-wrap: anywhere; unicode-bidi: isolate; }
.card pre span { display: block; min-height: 1.45em; }
.card .added { background: var(--added-paper); color: var(--added); }
.card .removed { background: var(--removed-paper); color: var(--removed); }
.card .place { color: var(--soft); }
.card .table { overflow-x: auto; }
.card table { margin-top: .35rem; border-collapse: collapse; font-size: .93rem; }
.card th, .card td { padding: .3rem .8rem .3rem 0; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: top; overflow-wrap: anywhere; }
.card del { color: var(--removed); }
.card ins { color: var(--added); font-weight: 600; text-decoration: none; }
.card blockquote { margin: 0; padding-left: .8rem; border-left: 3px solid var(--line); color: var(--soft);
  overflow-wrap: anywhere; }
.card summary { margin-top: 1.5rem; color: var(--soft); cursor: pointer; }
@media (min-width: 40rem) {
  body { padding: 1.5rem; }
  .card { padding: 1.5rem 1.75rem; border: 1px solid var(--line); border-radius: .75rem; }
  .card dl > div { display: grid; grid-template-columns: 11rem 1fr; gap: 1rem; }
  .card dl > div > dd.block { grid-column: 1 / -1; }
}
@media (prefers-color-scheme: dark) {
  body { background: #0e1013; }
  .card { --ink: #e8eaed; --soft: #9aa4b0; --line: #2c3138; --paper: #16191d; --code: #0e1013; --warn: #ffd98a;
    --warn-paper: #33270a; --odd: #1b0605; --odd-paper: #ff9a90; --added: #7fdc9c; --added-paper: #10281a;
    --removed: #ffa49c; --removed-paper: #331312; }
}
`;
