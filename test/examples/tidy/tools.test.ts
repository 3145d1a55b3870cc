import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { validateArguments } from '../../../src/agents/define-tool.ts';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';
import { tidyTools } from '../../../examples/tidy/tools.ts';

let home: string;
let folder: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'countersign-tidy-'));
  folder = join(home, 'folder');
  mkdirSync(join(folder, 'inside'), { recursive: true });
  mkdirSync(join(home, 'folder-too'));
  for (const file of ['secret.txt', 'folder-too/secret.txt', 'folder/a.txt', 'folder/inside/b.txt']) {
    writeFileSync(join(home, file), file);
  }
  symlinkSync(join(home, 'secret.txt'), join(folder, 'link-to-file'));
  symlinkSync(home, join(folder, 'link-to-folder'));
  symlinkSync(join(home, 'absent'), join(folder, 'dangling'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

async function run(name: string, args: JsonObject): Promise<unknown> {
  const tool = tidyTools({ folder, log: join(home, 'log') }).find((each) => each.name === name);
  const context = {
    signal: new AbortController().signal,
    idempotencyKey: 'w/1',
    workflowId: 'w',
    callId: '1.1',
    agent: 'tidy',
  };
  const valid = await validateArguments(tool!, args);
  if ('problem' in valid) throw new Error(valid.problem);
  return tool!.execute(valid.args, context);
}

const linesOfLog = (): string[] =>
  existsSync(join(home, 'log')) ? readFileSync(join(home, 'log'), 'utf8').trim().split('\n') : [];

describe('no path leads out of the folder', () => {
  const outside = [
    ['../secret.txt', 'leads out'],
    ['inside/../../secret.txt', 'leads out'],
    ['../folder-too/secret.txt', 'leads out'],
    ['..', 'leads out'],
    ['.', 'is the folder itself'],
    ['inside/..', 'is the folder itself'],
    ['/etc/passwd', 'leads out'],
    ['link-to-file', 'symbolic link'],
    ['link-to-folder/secret.txt', 'symbolic link'],
    ['inside/../link-to-folder/secret.txt', 'symbolic link'],
    ['dangling', 'symbolic link'],
    ['a\0b', 'NUL'],
  ];
  const calls = outside.flatMap(([path, why]) => [
    ['read_file', { path }, why],
    ['delete_file', { path }, why],
    ['move_file', { from: path, to: 'c.txt' }, why],
    ['move_file', { from: 'a.txt', to: path }, why],
  ]) as [string, Record<string, string>, string][];

  test.each(calls)('%s %j', async (name, args, why) => {
    await expect(run(name, args)).rejects.toThrow(why);
    expect(readFileSync(join(home, 'secret.txt'), 'utf8')).toBe('secret.txt');
    expect(existsSync(join(folder, 'a.txt'))).toBe(true);
    expect(existsSync(join(home, 'absent'))).toBe(false);
    expect(linesOfLog()).toEqual([]);
  });

  test('an absolute path into the folder is refused too', async () => {
    await expect(run('read_file', { path: join(folder, 'a.txt') })).rejects.toThrow('leads out');
  });

  test('listing does not follow links', async () => {
    const paths = ((await run('list_files', {})) as { path: string }[]).map(({ path }) => path);
    expect(paths.toSorted()).toEqual(['a.txt', join('inside', 'b.txt')]);
  });
});

describe('inside the folder', () => {
  test('a file is read, moved into a new folder, and deleted; each change is one line in the log', async () => {
    expect(await run('read_file', { path: './inside/b.txt' })).toBe('folder/inside/b.txt');
    await run('move_file', { from: 'a.txt', to: 'new/place/a.txt' });
    expect(readFileSync(join(folder, 'new/place/a.txt'), 'utf8')).toBe('folder/a.txt');
    await run('delete_file', { path: 'new/place/a.txt' });
    expect(existsSync(join(folder, 'new/place/a.txt'))).toBe(false);
    expect(linesOfLog().map((line) => (JSON.parse(line) as { tool: string }).tool)).toEqual([
      'move_file',
      'delete_file',
    ]);
  });

  test.each([
    ['move_file', { from: 'a.txt', to: 'inside/b.txt' }, 'is there already'],
    ['move_file', { from: 'none', to: 'c.txt' }, `there is no 'none'`],
    ['delete_file', { path: 'none' }, `there is no 'none'`],
    ['delete_file', { path: 'inside' }, 'is no file'],
  ])('%s %j changes nothing', async (name, args, why) => {
    await expect(run(name, args)).rejects.toThrow(why);
    expect(linesOfLog()).toEqual([]);
    expect(readFileSync(join(folder, 'inside/b.txt'), 'utf8')).toBe('folder/inside/b.txt');
  });
});

describe('run_command', () => {
  const node = (script: string): JsonObject => ({ program: process.execPath, arguments: ['-e', script] });

  test('runs in the folder, without a shell', async () => {
    expect(await run('run_command', { program: 'echo', arguments: ['$HOME; ls | cat', '*'] })).toBe(
      '$HOME; ls | cat *\n',
    );
    expect(await run('run_command', node('console.log(process.cwd())'))).toContain('folder');
  });

  test('receives no key of the worker', async () => {
    process.env.OPENAI_API_KEY = 'a-key';
    try {
      expect(await run('run_command', node('console.log(JSON.stringify(Object.keys(process.env)))'))).not.toContain(
        'OPENAI',
      );
    } finally {
      delete process.env.OPENAI_API_KEY;
    }
  });

  test.each([
    [node('console.log("x".repeat(20000))'), 'wrote more than 10000 characters'],
    [node('console.error("why"); process.exit(3)'), 'it ended with 3\nwhy'],
    [{ program: 'no-such-program' }, `there is no program 'no-such-program'`],
  ])('%j fails with a sentence', async (args, why) => {
    const error: Error = await run('run_command', args).then(
      () => new Error('it did not fail'),
      (reason: Error) => reason,
    );
    expect(error.message).toContain(why);
    expect(error.message.length).toBeLessThan(11_000);
  });
});
