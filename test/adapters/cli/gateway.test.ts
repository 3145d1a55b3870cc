import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { sharedAddress } from '../../support/shared-server.ts';
import { cli, startCli } from './support.ts';
import { listen } from '../../support/listen.ts';

test('gateway prints its address, serves, and stops orderly', async () => {
  const gateway = startCli(['gateway', '--port', '0', '--undo', '7', '--address', sharedAddress()]);
  await gateway.shows('\n');
  const { url } = JSON.parse(gateway.stdout()) as { url: string };
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect((await fetch(new URL('/readyz', url))).status).toBe(200);
  expect(await (await fetch(new URL('/me', url))).json()).toMatchObject({ via: 'local', signs: false, undoMs: 7_000 });
  gateway.child.kill('SIGINT');
  expect((await gateway.ended).code).toBe(0);
  await expect(fetch(url)).rejects.toThrow('fetch failed');
});

test.each<[string, string[], number, RegExp]>([
  [
    'an address that others reach',
    ['--host', '0.0.0.0'],
    1,
    /give it an identity file, or listen on 127\.0\.0\.1\.\n$/,
  ],
  ['an identity file that is not there', ['--identity', 'nothing.yaml'], 1, /nothing\.yaml/],
  ['an address of Temporal that is none', ['--temporal-ui', 'temporal'], 2, /It must be an address/],
  ['half of a key', ['--key', 'gate'], 2, /--sign FILE --key ID/],
])('%s is refused in one sentence', async (_what, words, code, sentence) => {
  const refused = await cli(['gateway', '--port', '0', '--address', sharedAddress(), ...words]);
  expect([refused.code, refused.stdout]).toEqual([code, '']);
  expect(refused.stderr).toMatch(sentence);
  expect(refused.stderr.trimEnd().split('\n')).toHaveLength(1);
});

test('a port in use is named', async () => {
  const { port, close } = await listen(createServer());
  const { code, stderr } = await cli(['gateway', '--port', String(port), '--address', sharedAddress()]);
  await close();
  expect([code, stderr]).toEqual([
    2,
    `error: Port ${port} is taken: stop what listens there or choose another with --port.\n`,
  ]);
});
