/** Pages that show a card as a terminal and as Slack show it, for pictures. */
import { styleText } from 'node:util';
import stringWidth from 'string-width';
import type { Card } from '../../../src/card/card.ts';
import { renderSlack, type RichElement } from '../../../src/card/render-slack.ts';
import { renderTerminal } from '../../../src/card/render-terminal.ts';

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

const classes: Record<string, string> = { 1: 'bold', 2: 'dim', 7: 'inverse', 31: 'red', 32: 'green', 33: 'yellow' };
const ends: Record<string, readonly string[]> = {
  22: ['bold', 'dim'],
  27: ['inverse'],
  39: ['red', 'green', 'yellow'],
};

/** Text with ANSI styles, as spans. */
function spans(text: string): string {
  const open = new Set<string>();
  // oxlint-disable-next-line no-control-regex -- the control sequences of the terminal
  const parts = text.split(/\u001b\[(\d+)m/);
  return parts
    .map((part, index) => {
      if (index % 2 === 0) return part === '' ? '' : `<span class="${[...open].join(' ')}">${escaped(part)}</span>`;
      if (classes[part] !== undefined) open.add(classes[part]);
      for (const name of ends[part] ?? []) open.delete(name);
      return '';
    })
    .join('');
}

/** The bytes that a terminal of so many columns gets, as that terminal shows them. */
export function terminalPage(card: Card, width: number): string {
  const text = renderTerminal(card, {
    width,
    style: (style, part) => styleText(style, part, { validateStream: false }),
    columnsOf: stringWidth,
    seeAll: '--all shows it',
  });
  return `<!doctype html><meta charset="utf-8"><style>
body { margin: 0; background: #1d1f21; } pre { display: inline-block; margin: 0; padding: 18px 22px; color: #d0d4d8;
font: 15px/1.4 "DejaVu Sans Mono", monospace; } .bold { font-weight: bold; color: #fff; } .dim { color: #8b949e; }
.inverse { background: #d0d4d8; color: #1d1f21; } .red { color: #ff8f86; } .green { color: #7fdc9c; }
.yellow { color: #f2c55c; } .yellow .inverse, .yellow.inverse { background: #f2c55c; color: #1d1f21; }
</style><pre>${spans(text)}</pre>`;
}

function elementHtml({ type, elements }: RichElement): string {
  const parts = elements.map((each) => {
    const names = each.type === 'text' ? Object.keys(each.style ?? {}).join(' ') : '';
    return `<span class="${names}">${escaped(each.type === 'text' ? each.text : each.fallback)}</span>`;
  });
  return type === 'rich_text_section' ? `<div class="section">${parts.join('')}</div>` : `<pre>${parts.join('')}</pre>`;
}

/** The blocks, as a page that says it is not Slack. */
export function slackPage(card: Card): string {
  const messages = renderSlack(card).map(({ blocks }) => {
    const shown = blocks.map((block) =>
      block.type === 'header'
        ? `<h1>${escaped(block.text.text)}</h1>`
        : `<div class="block">${block.elements.map(elementHtml).join('')}</div>`,
    );
    return `<div class="message"><b>Countersign</b> <small>APP</small>${shown.join('')}</div>`;
  });
  return `<!doctype html><meta charset="utf-8"><style>
body { margin: 0; padding: 18px 22px; width: 640px; box-sizing: border-box; background: #fff; color: #1d1c1d;
font: 15px/1.46 "Noto Sans", "DejaVu Sans", sans-serif; } small { background: #ddd; border-radius: 2px; padding: 0 3px; }
h1 { font-size: 18px; margin: 6px 0; } .block { margin: 8px 0; } .section, pre { white-space: pre-wrap;
overflow-wrap: anywhere; } pre, .code { font: 12px/1.5 "DejaVu Sans Mono", monospace; border: 1px solid #ddd;
border-radius: 3px; background: #f8f8f8; } pre { margin: 4px 0; padding: 8px; } .code { padding: 1px 3px; color: #c01343; }
.bold { font-weight: bold; } .italic { font-style: italic; } .message + .message { margin: 12px 0 0 24px; padding-left: 12px;
border-left: 2px solid #ddd; } p { margin: 0 0 12px; color: #666; font-size: 13px; }
</style><p>A rendering of the Block Kit JSON, not Slack itself.</p>${messages.join('')}`;
}

/** Pictures side by side, on a grey ground. */
export function besidePage(pictures: readonly Buffer[]): string {
  const images = pictures.map((each) => `<img src="data:image/png;base64,${each.toString('base64')}">`);
  return `<!doctype html><meta charset="utf-8"><style>body { display: inline-flex; gap: 20px; margin: 0; padding: 20px;
background: #8a9099; align-items: flex-start; } img { display: block; }</style>${images.join('')}`;
}
