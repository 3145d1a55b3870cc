import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { format } from 'prettier';
import { compile } from '../../tools/api/declarations.ts';
import { layOutExamples } from './example-folder.ts';
import { printedBy } from './examples.ts';
import { PageLinks } from '../../tools/api/page-links.ts';
import { renderPage } from '../../tools/api/render-page.ts';
import { printsOf } from './run-example.ts';

/** The page that `npm run api` writes and the package has: it describes everything, and its examples are right. */

const folder = mkdtempSync(join(tmpdir(), 'countersign-api-'));
const { api, examples, path, types: declarations } = layOutExamples(folder);
const page = await renderPage(api);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the docstrings', () => {
  const values = api.flatMap(({ entry, values }) => values.map((each) => [entry, each.name, each] as const));
  const types = api.flatMap(({ entry, types }) => types.map((each) => [entry, each.name, each] as const));

  test('there are many', () => {
    expect(values.length).toBeGreaterThan(45);
    expect(types.length).toBeGreaterThan(150);
  });

  test.each(values)('%s: value %s has a docstring and an example', (_entry, _name, { doc }) => {
    expect(doc.prose).not.toBe('');
    expect(doc.examples.filter(({ code, prose }) => code !== undefined || prose.includes('{@link '))).not.toEqual([]);
  });

  test.each(types)('%s: type %s has a docstring', (_entry, _name, { doc }) => expect(doc.prose).not.toBe(''));

  /** Types that users cannot name, because they are internal. */
  const internal = [
    'CallSubjects',
    'Candidates',
    'Carried',
    'CompiledRule',
    'DeliveryState',
    'GateConfig',
    'GateSnapshot',
    'Writer',
  ];

  test('name only types that an entry exports', () => {
    const exported = [...values, ...types].map(([, , each]) => each);
    const ids = new Set(exported.map(({ id }) => id));
    const hidden = exported.flatMap(({ names }) => names.filter((each) => !ids.has(each)));
    expect(new Set(hidden.map((id) => id.split('#')[1]))).toEqual(new Set(internal));
  });

  test('have no tags that the page would leave out', () => {
    const tags = [...values, ...types].flatMap(([, name, { doc }]) => doc.otherTags.map((tag) => `${name}: ${tag}`));
    const inMembers = [...values, ...types].filter(([, , { code }]) => code.includes('@example'));
    expect(tags).toEqual([]);
    expect(inMembers.map(([, name]) => name)).toEqual([]);
  });
});

describe('the page', () => {
  test('has no marks of invariants, nor have the files of declarations that it describes', () => {
    const ids = api.flatMap(({ values, types }) => [...values, ...types].map(({ id }) => id));
    const files = [...new Set(ids.map((id) => id.split('#')[0]!))];
    const text = files.map((file) => readFileSync(join(declarations, file), 'utf8'));
    expect(files.length).toBeGreaterThan(50);
    for (const each of [page, ...text]) expect(each).not.toMatch(/\bI\d+[a-d]?\b/);
  });

  test('links only to headings and pages that exist', () => {
    const text = page.replaceAll(/^```[\s\S]*?^```$/gm, '');
    const links = new PageLinks();
    const anchors = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => `#${links.heading(heading)}`);
    const targets = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, target = '']) => target);
    const exists = (target: string): boolean =>
      target.startsWith('#') ? anchors.includes(target) : existsSync(new URL(`../../docs/${target}`, import.meta.url));
    expect(targets.length).toBeGreaterThan(200);
    expect(targets.filter((target) => !exists(target))).toEqual([]);
  });

  test('has the headings to which other pages link', () => {
    const links = new PageLinks();
    const text = page.replaceAll(/^```[\s\S]*?^```$/gm, '');
    const anchors = new Set([...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => links.heading(heading)));
    const folder = new URL('../../docs/', import.meta.url);
    const others = globSync('**/*.md', { cwd: folder }).filter((name) => name !== 'api.md');
    const linked = others.flatMap((name) =>
      [...readFileSync(new URL(name, folder), 'utf8').matchAll(/\]\((?:\.\.\/)?api\.md#([^)]+)\)/g)].map(
        ([, anchor]) => anchor!,
      ),
    );
    expect(linked.length).toBeGreaterThan(15);
    expect(linked.filter((anchor) => !anchors.has(anchor))).toEqual([]);
  });
});

describe('the examples', () => {
  test('compile', () => expect(compile(['-p', path])).toBe(''));

  test('are short', () => {
    const lengths = examples.map(({ title, code }) => [title, code.trim().split('\n').length] as const);
    expect(lengths.filter(([, lines]) => lines < 3 || lines > 20)).toEqual([]);
  });

  test('are formatted', async () => {
    for (const { code } of examples) {
      expect(code).toBe(await format(code, { parser: 'typescript', singleQuote: true, printWidth: 120 }));
    }
  });

  const pure = examples.filter(({ kind }) => kind === 'pure');
  test.each(pure.map((each) => [each.title, each] as const))(
    '%s prints what it says',
    async (_title, { file, code }) => {
      const said = printedBy(code);
      expect(said).not.toEqual([]);
      expect(await printsOf(join(path, file))).toEqual(said);
    },
  );
});
