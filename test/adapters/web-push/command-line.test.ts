/** `countersign gateway --channels` offers web push. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { makeToken } from '../../support/identity.ts';
import { makePushKeys } from './push-world.ts';
import { sharedAddress } from '../../support/shared-server.ts';
import { cli, startCli } from '../cli/support.ts';

const folder = mkdtempSync(join(tmpdir(), 'countersign-push-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = (name: string, content: unknown): string => {
  writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
  return join(folder, name);
};

const keys = makePushKeys();
const ann = makeToken('ann', ['reviewer']);
const push = {
  kind: 'web_push',
  subject: 'mailto:approvals@example.com',
  public_key: keys.publicKey,
  private_key: { file: file('private-key', `${keys.privateKey}\n`) },
  gateway_url: 'http://127.0.0.1:7280',
};
const words = ['gateway', '--port', '0', '--address', sharedAddress()];
const channels = ['--channels', file('channels.json', { channels: { push } })];

test('it gives the key to a reviewer who is signed in', async () => {
  const identity = ['--identity', file('identity.json', { tokens: [ann.entry] })];
  const gateway = startCli([...words, ...channels, ...identity]);
  await gateway.shows('\n');
  const { url } = JSON.parse(gateway.stdout()) as { url: string };
  const signedIn = await fetch(new URL('/login/token', url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token: ann.token }),
  });
  const cookie = signedIn.headers.getSetCookie()[0]!.split(';')[0]!;
  const me = await fetch(new URL('/me', url), { headers: { cookie } });
  expect(await me.json()).toMatchObject({ id: 'ann', pushKey: keys.publicKey });
  gateway.child.kill('SIGINT');
  expect((await gateway.ended).code).toBe(0);
});

test('without an identity file it is refused in one sentence', async () => {
  const refused = await cli([...words, ...channels]);
  expect([refused.code, refused.stdout]).toEqual([1, '']);
  expect(refused.stderr).toMatch(/Web push needs an identity file with which browsers can sign in: [^\n]+\n$/);
});
