/** No text of a request becomes markup in any channel: the output is parsed back. */
import { describe, expect, test } from 'vitest';
import * as fc from 'fast-check';
import { Lexer, type Token } from 'marked';
import { parse, type DefaultTreeAdapterTypes as Tree } from 'parse5';
import type { CardText } from '../../src/card/card.ts';
import { answerLabels, cardWarnings, headings } from '../../src/card/card-words.ts';
import { cardStyle, renderHtmlPage } from '../../src/card/render-html.ts';
import { renderMarkdown } from '../../src/card/render-markdown.ts';
import { renderSlack } from '../../src/card/render-slack.ts';
import { renderTerminal } from '../../src/card/render-terminal.ts';
import { escapeJson, escapeText, escapeUnseen } from '../../src/core/base/text.ts';
import { runs } from '../support/thorough.ts';
import { hostileCard } from './hostile-cards.ts';

const tried = { numRuns: runs(100) };
const isLong = ({ text, end = '' }: CardText): boolean => text.includes('\n') || end.includes('\n');

/** What a reader sees of a part of rich text. */
function shownText(part: { text: string } | { fallback: string }): string {
  return 'text' in part ? part.text : part.fallback;
}
describe('Markdown', () => {
  const blocks = new Set([
    'heading',
    'paragraph',
    'list',
    'list_item',
    'space',
    'text',
    'code',
    'codespan',
    'strong',
    'em',
    'html',
  ]);
  const details = new Set([`<details>\n<summary>${headings.raw}</summary>`, '</details>']);

  /** Parsers differ in the empty lines at the end of a block. */
  const withoutEnd = (text: string): string => text.replace(/\n+$/, '');

  function* tokensOf(tokens: readonly Token[]): Generator<Token> {
    for (const token of tokens) {
      yield token;
      if (token.type === 'list') yield* tokensOf((token as { items: Token[] }).items);
      if ('tokens' in token) yield* tokensOf(token.tokens ?? []);
    }
  }

  test('has the elements of the card and no others, and all its values', () => {
    fc.assert(
      fc.property(hostileCard, ({ card }) => {
        const found = [...tokensOf(Lexer.lex(renderMarkdown(card), { gfm: true }))];
        expect(found.filter(({ type }) => !blocks.has(type))).toEqual([]);
        const rawOf = (type: string): string[] => found.filter((token) => token.type === type).map(({ raw }) => raw);
        for (const html of rawOf('html')) expect(details).toContain(html.trim());
        expect(rawOf('html')).toHaveLength(2);
        const bold = found.filter(({ type }) => type === 'strong').map((token) => (token as { text: string }).text);
        expect(bold).toEqual(card.answers.map(({ name }) => answerLabels[name]));
        expect(rawOf('heading')).toHaveLength(1 + rawOf('heading').filter((raw) => raw.startsWith('#### ')).length);
        for (const em of rawOf('em'))
          expect(em).toMatch(/^\*[\d,]+ (?:character|more line|more row)s? hidden(?:: the raw call shows them)?\*$/);
        const code = new Set(
          found.flatMap((token) =>
            token.type === 'codespan' || token.type === 'code' ? [withoutEnd((token as { text: string }).text)] : [],
          ),
        );
        expect(code).toContain(card.raw);
        for (const { value } of card.arguments)
          if (value.hidden === undefined) expect(code).toContain(withoutEnd(value.text));
      }),
      tried,
    );
  });
});

describe('HTML', () => {
  const tags = new Set(
    'html head meta title style body article h1 h2 ul li section dl div dt dd bdi span pre mark p blockquote details summary br table thead tbody tr th td del ins'.split(
      ' ',
    ),
  );
  const classes =
    /^(?:card|warnings|note|cut|block|table|same|removed|added|place|value (?:text|code|money|path|address|url|date|duration|bytes|number|flag|json))$/;

  function* nodesOf(node: Tree.Node): Generator<Tree.Node> {
    yield node;
    if ('childNodes' in node) for (const child of node.childNodes) yield* nodesOf(child);
  }

  function textOf(node: Tree.Node): string {
    return [...nodesOf(node)]
      .flatMap((each) => (each.nodeName === '#text' ? [(each as Tree.TextNode).value] : []))
      .join('');
  }

  test('has the elements of the card and no others, and all its values', () => {
    fc.assert(
      fc.property(hostileCard, ({ card }) => {
        const page = renderHtmlPage(card);
        const errors: string[] = [];
        const nodes = [...nodesOf(parse(page, { onParseError: ({ code }) => errors.push(code) }))];
        expect(errors).toEqual([]);
        const elements = nodes.filter((node): node is Tree.Element => 'tagName' in node);
        expect(elements.filter(({ tagName }) => !tags.has(tagName))).toEqual([]);
        expect(nodes.some(({ nodeName }) => nodeName === '#comment')).toBe(false);
        const article = elements.filter(({ tagName }) => tagName === 'article');
        expect(article).toHaveLength(1);
        for (const { tagName, attrs } of elements.filter((each) => each.tagName !== 'meta')) {
          for (const { name, value } of attrs) {
            expect(tagName === 'html' ? [name, value] : name).toEqual(tagName === 'html' ? ['lang', 'en'] : 'class');
            if (tagName !== 'html') expect(value).toMatch(classes);
          }
        }
        const of = (tagName: string): Tree.Element[] => elements.filter((each) => each.tagName === tagName);
        expect(of('style').map(textOf)).toEqual([cardStyle]);
        expect(of('title').map(textOf)).toEqual([card.sentence.text]);
        expect(of('li').map(textOf)).toEqual(cardWarnings(card));
        expect(of('details').map(textOf)).toEqual([`${headings.raw}${card.raw}`]);
        // Each argument is the whole text of its own element.
        const values = new Set([...of('bdi'), ...of('pre')].map(textOf));
        for (const { value } of card.arguments) if (value.hidden === undefined) expect(values).toContain(value.text);
        for (const escape of of('mark')) expect(textOf(escape)).toMatch(/^\\u\{[0-9A-F]{4,6}\}$/);
      }),
      tried,
    );
  });
});

describe('Slack', () => {
  test("fits Slack's limits, and holds no text that Slack parses", () => {
    fc.assert(
      fc.property(hostileCard, ({ card }) => {
        const messages = renderSlack(card);
        for (const { text, blocks } of messages) {
          expect(text).not.toMatch(/[<>]|&(?!amp;|lt;|gt;)/);
          expect(blocks.length).toBeLessThanOrEqual(50);
          expect(JSON.stringify(blocks).length).toBeLessThan(12_000);
          for (const block of blocks) {
            if (block.type === 'header') {
              expect(block.text).toEqual({
                type: 'plain_text',
                text: expect.stringMatching(/^[^]{1,150}$/),
                emoji: false,
              });
              continue;
            }
            expect(block.type).toBe('rich_text');
            const texts = block.elements.flatMap(({ elements }) => elements);
            expect(texts.map(({ type }) => type).filter((type) => !['text', 'date'].includes(type))).toEqual([]);
            expect(texts.map(shownText).filter((each) => each === '')).toEqual([]);
            expect(texts.map(shownText).join('').length).toBeLessThanOrEqual(3_000);
          }
        }
        const texts = messages.flatMap(({ blocks }) =>
          blocks.flatMap((block) => (block.type === 'rich_text' ? block.elements : [])),
        );
        const all = texts.flatMap(({ elements }) => elements.map(shownText)).join('');
        expect(all).toContain(card.raw);
        for (const { value } of card.arguments) if (value.hidden === undefined) expect(all).toContain(value.text);
      }),
      tried,
    );
  });
});

describe('terminal and text', () => {
  const fixed: string[] = Object.values(headings);
  /** A joiner of a word is an escape on a terminal. */
  const spelled = (text: string): string => text.replaceAll(/[\u200c\u200d]\p{M}*/gu, escapeText);

  test('show nothing invisible, fit 60 columns, and keep each text in its place', () => {
    fc.assert(
      fc.property(hostileCard, fc.constantFrom(60, Infinity), ({ card }, width) => {
        const lines = renderTerminal(card, { width, raw: true }).split('\n');
        for (const line of lines) {
          expect(escapeUnseen(line)).toBe(line);
          expect(Array.from(line).length).toBeLessThanOrEqual(width);
        }
        // Only the card writes a heading, and each one once.
        const found = lines.filter((line, index) => lines[index - 1] === '' && fixed.includes(line));
        expect(new Set(found).size).toBe(found.length);
        if (width === 60) return;
        const raw = card.raw.replaceAll(/[\u200c\u200d]\p{M}*/gu, (each) => escapeJson(each).slice(1, -1));
        expect(lines.at(-1)).toBe(`│ ${raw}`);
        const text = lines.join('\n');
        for (const { value } of card.arguments) {
          if (value.hidden !== undefined) continue;
          if (!isLong(value)) expect(text).toContain(spelled(value.text));
          // Beside the bar, where no line passes for a line of the card.
          else
            for (const line of spelled(value.text).split('\n'))
              if (!line.includes('\t')) expect(lines).toContain(`│ ${line}`);
        }
      }),
      tried,
    );
  });
});
