import { expect, vi, test } from 'vitest';
import { jsonFields } from '../../../packages/cli/src/base/json-fields.ts';
import { processOutput } from '../../../packages/cli/src/base/output.ts';
import { cli } from './support.ts';
import { noServer } from './in-process.ts';

const fields = jsonFields.grant.join(', ');

test.each<[string, string[], string]>([
  ['an unknown field', ['grants', 'x', '--json', 'grantId,tolName'], `no field 'tolName' here: choose from ${fields}.`],
  ['no field', ['grants', 'x', '--json='], `no field '' here: choose from ${fields}.`],
  [
    'an unknown field before the argument',
    ['grants', '--json', 'bogus', 'x'],
    `no field 'bogus' here: choose from ${fields}.`,
  ],
])('%s: one sentence that lists the fields, as JSON', async (_name, args, sentence) => {
  const { code, stdout, stderr } = await cli([...args, '--address', '127.0.0.1:1']);
  expect([code, stdout, JSON.parse(stderr)]).toEqual([2, '', { code: 'usage', message: `--json has ${sentence}` }]);
});

test.concurrent.each(['show', 'approve', 'deny', 'audit', 'watch'])(
  '%s: the word after --json may be the argument',
  async (name) => {
    const { stderr } = await cli([name, '--json', 'ticket-8', '--address', '127.0.0.1:1'], { env: noServer });
    expect(JSON.parse(stderr)).toMatchObject({ code: 'server_unreachable' });
  },
);

test('each command that has fields lists them in its help', async () => {
  const { stdout } = await cli(['grants', 'list', '--help']);
  expect(stdout.replaceAll(/\n */g, ' ')).toContain(`JSON fields: ${fields} `);
});

test.each<[boolean | string | undefined, string]>([
  [undefined, '{"a":1,"b":[2],"c":null}'],
  [true, '{"a":1,"b":[2],"c":null}'],
  ['c,a', '{"c":null,"a":1}'],
  ['b,absent', '{"b":[2]}'],
])('--json %j prints %s', (json, line) => {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  processOutput({ json }).json({ a: 1, b: [2], c: null });
  const written = write.mock.calls;
  write.mockRestore();
  expect(written).toEqual([[`${line}\n`]]);
});
