import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cli, startCli } from './support.ts';

const begin = ['-----BEGIN RSA PRIVATE', ' KEY-----'].join('');
const end = ['-----END RSA PRIVATE', ' KEY-----'].join('');

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-redact-'));
  writeFileSync(
    join(folder, 'own.yaml'),
    "redact: { kinds: [EMAIL], patterns: [{ name: TICKET, pattern: 'T-[0-9]+' }] }\n",
  );
  writeFileSync(join(folder, 'bad.yaml'), 'redact:\n  patterns: [{ name: A, pattern: "(?=a)" }]\n');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each<[string, string[], string, string]>([
  ['text', [], 'Card 4111 1111 1111 1111\r\nof ann@acme.com', 'Card [CARD …1111 · 9bbe]\r\nof [EMAIL …om · f966]'],
  ['a key over several lines', [], `a\n${begin}\nMII\n${end}\nb\n`, 'a\n[PRIVATE_KEY]\nb\n'],
  ['nothing', [], '', ''],
  [
    'JSON, whose shape stays',
    ['--json'],
    '{ "to":"ann@acme.com", "id": 12345678901234567890, "to":1.0,\n "password":"x"}',
    '{ "to":"[EMAIL …om · f966]", "id": 12345678901234567890, "to":1.0,\n "password":"[PASSWORD]"}',
  ],
  ['lines of JSON', ['--json'], '{"a":"ann@acme.com"}\n\n["x"]\n', '{"a":"[EMAIL …om · f966]"}\n\n["x"]\n'],
  [
    'the policy',
    ['--policy', 'own.yaml'],
    'T-12 ann@acme.com 123-45-6789',
    '[TICKET · 13b4] [EMAIL …om · f966] 123-45-6789',
  ],
  [
    'the policy, in JSON',
    ['--json', '--policy', 'own.yaml'],
    '["T-12","123-45-6789"]',
    '["[TICKET · 13b4]","123-45-6789"]',
  ],
])('%s', async (_name, flags, input, stdout) => {
  expect(await cli(['redact', ...flags], { input, cwd: folder })).toEqual({ code: 0, stdout, stderr: '' });
});

test.each<[string, string[], string, string, number]>([
  ['text that is not JSON', ['--json'], '{"a":"x"}\n{"a":', 'it is not JSON, and neither is line 2 by itself', 1],
  [
    'a policy with a bad pattern',
    ['--policy', 'bad.yaml'],
    'x',
    "bad.yaml:2:34 'pattern' is not a regular expression",
    1,
  ],
  ['a policy that is not there', ['--policy', 'none.yaml'], 'x', 'there is no such file', 2],
  ['an unknown flag', ['--fields'], 'x', '--fields', 2],
])('%s: nothing on standard output, and exit code', async (_name, flags, input, problem, code) => {
  const result = await cli(['redact', ...flags], { input, cwd: folder });
  expect(result).toEqual({ code, stdout: '', stderr: expect.stringContaining(problem) });
});

test('bytes that are not UTF-8: exit 1', async () => {
  const running = startCli(['redact'], { keepInputOpen: true });
  running.child.stdin.end(Buffer.from([0x61, 0xff, 0x0a]));
  expect(await running.ended).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('it is not UTF-8'),
  });
});

test('a line is written as soon as it is complete, and a character may come in two pieces', async () => {
  const running = startCli(['redact'], { keepInputOpen: true });
  running.child.stdin.write('ann@acme.com\nmül');
  await running.shows('[EMAIL …om · f966]\n');
  const [first, second] = [Buffer.from('ü').subarray(0, 1), Buffer.from('ü').subarray(1)];
  running.child.stdin.write(first);
  running.child.stdin.end(Buffer.concat([second, Buffer.from('ler@acme.com')]));
  expect(await running.ended).toMatchObject({ code: 0, stdout: '[EMAIL …om · f966]\n[EMAIL …com · bb14]' });
});
