import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Program, parseSync } from '@swc/core';
import { expect, test } from 'vitest';

/**
 * Words that stand for a noun without a name: `nobody` and `whoever` for a sender or a reviewer, `told` for notified.
 * The comments and texts of the code may have at most as many as they have now. Lower a number when a word goes. Terms
 * stay, such as a standing denial, a held request, and the person for whom a run works.
 */
const limits: Readonly<Record<string, number>> = {
  anybody: 14,
  hears: 0,
  held: 23,
  nobody: 56,
  "one's own": 2,
  said: 33,
  somebody: 6,
  standing: 25,
  taker: 0,
  told: 37,
  whoever: 13,
  whom: 23,
  wish: 1,
};

const root = join(import.meta.dirname, '..');
const files = globSync(['src/**/*.{ts,tsx}', 'packages/*/src/**/*.{ts,tsx}'], { cwd: root });

/** The texts of string literals, templates and JSX, without the names of modules. */
function literalsIn(node: unknown): string[] {
  if (Array.isArray(node)) return node.flatMap(literalsIn);
  if (typeof node !== 'object' || node === null) return [];
  const { type, value, cooked } = node as { type?: string; value?: unknown; cooked?: unknown };
  if (type === 'StringLiteral' || type === 'JSXText') return [String(value)];
  if (type === 'TemplateElement') return [String(cooked)];
  return Object.entries(node).flatMap(([key, member]) => (key === 'source' ? [] : literalsIn(member)));
}

function commentsIn(source: string): string[] {
  return source.match(/\/\*[^]*?\*\/|(?<=^|\s)\/\/.*$/gm) ?? [];
}

function parse(file: string, source: string): Program {
  return parseSync(source, { syntax: 'typescript', tsx: file.endsWith('x'), target: 'es2024' });
}

const texts = files.map((file) => {
  const source = readFileSync(join(root, file), 'utf8');
  const all = [...commentsIn(source), ...literalsIn(parse(file, source))];
  return { file, text: all.join('\n').replaceAll(/\n\s*\*\s/g, ' ') };
});

test('the code is found', () => {
  expect(files.length).toBeGreaterThan(500);
});

test.each(Object.entries(limits))('comments and texts have %s at most %i times', (word, most) => {
  const pattern = new RegExp(String.raw`\b${word}\b`, 'gi');
  const places = texts.flatMap(({ file, text }) => [...text.matchAll(pattern)].map(() => file));
  expect(places.length > most ? places : []).toEqual([]);
});
