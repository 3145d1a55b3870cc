import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { filesToTryAgain, type Tried } from './second-try.ts';

describe('the files that run once more', () => {
  const file = (project: string, name: string, isOk = false): Tried => ({
    project: { name: project },
    moduleId: join(process.cwd(), 'test', `${name}.test.ts`),
    ok: () => isOk,
  });
  const chance = (index: number): Tried => file('durable', `client/sample-${index}`);

  test.each<[what: string, files: Tried[], unhandled: number, again: number]>([
    ['one that failed by chance', [chance(1), file('durable', 'client/other', true)], 0, 1],
    ['five', [1, 2, 3, 4, 5].map(chance), 0, 5],
    ['not six', [1, 2, 3, 4, 5, 6].map(chance), 0, 0],
    ['none beside a pure one', [chance(1), file('pure', 'core/sample')], 0, 0],
    ['none beside a law', [chance(1), file('durable', 'workflows/gate/policy-language')], 0, 0],
    ['none beside a replay', [chance(1), file('durable', 'workflows/replay/replay')], 0, 0],
    ['none beside the random runs', [chance(1), file('processes', 'e2e/recovery/chaos')], 0, 0],
    ['none beside an error that no test caught', [chance(1)], 1, 0],
  ])('%s', (_, files, unhandled, again) => {
    const errors = Array.from({ length: unhandled }, () => new Error('x'));
    expect(filesToTryAgain(files, errors)).toHaveLength(again);
  });
});

describe('a run', () => {
  const root = join(import.meta.dirname, '..', '..');
  const config = `
    const project = (name) => ({ extends: true, test: { name, include: ['test/' + name + '/*.test.ts'] } });
    const projects = ['pure', 'durable'].map(project);
    export default { test: { pool: 'forks', experimental: { viteModuleRunner: false }, passWithNoTests: true, projects } };
  `;
  const byChance = `
    import { existsSync, writeFileSync } from 'node:fs';
    import { afterAll, test } from 'vitest';
    test('works in the end', () => {
      if (existsSync('tried')) return;
      writeFileSync('tried', '');
      throw new Error('not yet');
    });
    afterAll(() => console.log('a teardown prints'));
  `;
  const never = `import { test } from 'vitest'; test('never works', () => { throw new Error('never'); });`;
  const works = `import { test } from 'vitest'; test('works', () => {});`;

  function run(
    files: Record<string, string>,
    words: string[] = [],
  ): { status: number | null; text: string; debts: string } {
    const folder = mkdtempSync(join(tmpdir(), 'countersign-run-tests-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
    for (const project of ['pure', 'durable']) mkdirSync(join(folder, 'test', project), { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    writeFileSync(join(folder, 'vitest.config.js'), config);
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, 'test', `${name}.test.ts`), text);
    const { TEMPORAL_ADDRESS: _, NODE_OPTIONS: __, ...env } = process.env;
    const node = (program: string, ...rest: string[]): ReturnType<typeof spawnSync> =>
      spawnSync('/bin/sh', ['-c', '"$0" "$@" 2>&1', process.execPath, join(import.meta.dirname, program), ...rest], {
        cwd: folder,
        env: { ...env, NO_COLOR: '1' },
        encoding: 'utf8',
      });
    const { status, stdout } = node('run-tests.ts', ...words);
    return { status, text: String(stdout), debts: String(node('print-debts.ts').stdout) };
  }

  test('passes if a file passes at the second try, and says so before the closing line', () => {
    const { status, text, debts } = run({ 'durable/chance': byChance, 'pure/works': works });
    expect(text).toMatch(
      /\npassed at the second try: test\/durable\/chance\.test\.ts > works in the end\n(?:.*\n)*2 passed, 0 failed\n$/,
    );
    expect(status).toBe(0);
    expect(debts).toMatch(/^1 times, last on \d{4}-\d\d-\d\d: test\/durable\/chance\.test\.ts > works in the end\n$/);
  });

  test('fails if a file fails twice', () => {
    const { status, text, debts } = run({ 'durable/chance': byChance, 'durable/never': never });
    expect(text).toMatch(/\n1 passed, 1 failed\n$/);
    expect(text).toContain('passed at the second try: test/durable/chance.test.ts > works in the end\n');
    expect(status).toBe(1);
    expect(debts).toContain('chance.test.ts');
  });

  test('of a file that is named has no second try', () => {
    const { status, text, debts } = run({ 'durable/chance': byChance, 'pure/works': works }, ['chance']);
    expect(text).toMatch(/\n0 passed, 1 failed\n$/);
    expect(status).toBe(1);
    expect(debts).toBe('No test has passed at the second try.\n');
  });
});
