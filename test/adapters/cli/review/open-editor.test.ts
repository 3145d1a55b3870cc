import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { editorCommand, openEditor } from '../../../../packages/cli/src/review/ask-answer.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-test-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const leftOvers = (): string[] => readdirSync(tmpdir()).filter((name) => name.startsWith('countersign-edit-'));

/** An editor that runs these shell commands with the file as `$1`. */
function editor(commands: string): string {
  const file = join(folder, 'editor.sh');
  writeFileSync(file, commands);
  return `sh ${file}`;
}

test.each<[string, string, object]>([
  ['changed', `sed -i s/ann/bob/ "$1"`, { arguments: { to: 'bob' } }],
  ['not changed', 'true', { problem: 'Nothing is changed.' }],
  ['the editor fails', `sed -i s/ann/bob/ "$1"; exit 1`, { problem: 'The editor failed: nothing is changed.' }],
  ['the file is gone', 'rm "$1"', { problem: 'The editor removed the file: nothing is changed.' }],
  ['no JSON', 'echo "{" > "$1"', { problem: expect.stringContaining('arguments') }],
  ['no object', 'echo "[1]" > "$1"', { problem: 'The arguments must be a JSON object with all of them.' }],
  ['a duplicate key', `echo '{"to":1,"to":2}' > "$1"`, { problem: expect.stringContaining('to') }],
])('%s', async (_name, commands, result) => {
  const before = leftOvers();
  expect(await openEditor(editor(commands), { to: 'ann' })).toEqual(result);
  expect(leftOvers()).toEqual(before);
});

test('invisible characters are JSON escapes in the file', async () => {
  const copy = join(folder, 'copy');
  await openEditor(editor(`cp "$1" ${copy}`), { to: '\u202e\u001b[2J' });
  expect(existsSync(copy)).toBe(true);
  expect(
    await openEditor(editor(`grep -q 'u202e.u001b' ${copy} && sed -i s/2J/x/ "$1"`), { to: '\u202e\u001b[2J' }),
  ).toEqual({
    arguments: { to: '\u202e\u001b[x' },
  });
});

test.each([
  [{}, undefined],
  [{ VISUAL: ' ', EDITOR: 'vi' }, 'vi'],
  [{ VISUAL: 'code --wait', EDITOR: 'vi' }, 'code --wait'],
])('%j names %s', (environment, command) => {
  expect(editorCommand(environment)).toBe(command);
});
