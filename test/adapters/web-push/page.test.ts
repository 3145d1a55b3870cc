/** docs/web-push.md: the command that makes the keys, and the entry of a channel file. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { permissions } from '../../../packages/gateway/src/http/identity/principal.ts';
import { readChannels } from '../../../src/adapters/read-channels.ts';
import { pushAppOf } from '../../../src/adapters/web-push/web-push-channel.ts';
import { commandsOf, readPage } from '../../support/page-commands.ts';
import { examplesOf } from '../../support/policy-pages.ts';
import { makePushKeys, type PushKeys } from './push-world.ts';

const page = readPage('docs/web-push.md');
const folder = mkdtempSync(join(tmpdir(), 'countersign-push-'));
let keys: PushKeys;
beforeAll(() => {
  const { line } = commandsOf('docs/web-push.md').find((each) => each.line.startsWith('npx web-push'))!;
  // What is installed, and nothing from a network.
  const env = { ...process.env, npm_config_offline: 'true', npm_config_yes: 'false' };
  const root = join(import.meta.dirname, '../../..');
  const printed = execFileSync('sh', ['-c', line], {
    cwd: root,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  keys = JSON.parse(printed) as PushKeys;
  process.env['PUSH_PRIVATE_KEY'] = keys.privateKey;
});
afterAll(() => {
  delete process.env['PUSH_PRIVATE_KEY'];
  rmSync(folder, { recursive: true });
});

interface Entry {
  kind: string;
  [member: string]: unknown;
}
const entry = (): Entry => {
  const [example] = examplesOf(page).filter(({ kind }) => kind === 'channels');
  return { ...(parse(example!.source) as { push: Entry }).push, public_key: keys.publicKey };
};
const load = async (more: object) => {
  const { channels } = await readChannels(JSON.stringify({ channels: { push: { ...entry(), ...more } } }));
  return channels;
};

test('the entry of the page and the keys of its command make a channel, and a gateway that takes subscriptions', async () => {
  const channels = await load({});
  expect(Object.keys(channels['push']!)).toEqual(['check', 'test', 'notify', 'settled']);
  const { publicKey, gatewayUrl } = pushAppOf(channels)!;
  expect([publicKey, gatewayUrl]).toEqual([keys.publicKey, 'https://approvals.example.com']);
});

test('the page names every member, and routes that exist', () => {
  const named = [...page.matchAll(/^\| `(\w+)` +\|/gm)].map(([, name]) => name!);
  expect(named).toEqual([...Object.keys(entry()).slice(1), 'allow_addresses', 'ca_file', 'callers']);
  expect(Object.keys(permissions)).toEqual(expect.arrayContaining(['POST /push/subscribe', 'POST /push/unsubscribe']));
});

describe('an entry that cannot work is refused', () => {
  test.each<[string, () => object, RegExp]>([
    ['a private key in the file', () => ({ private_key: keys.privateKey }), /it never stands in the file itself/],
    [
      'a private key that is missing',
      () => ({ private_key: { env: 'NO_SUCH_VARIABLE' } }),
      /NO_SUCH_VARIABLE is missing/,
    ],
    ['keys that are no pair', () => ({ public_key: makePushKeys().publicKey }), /are no pair/],
    ['a subject that is none', () => ({ subject: 'approvals@example.com' }), /'subject' must be mailto:/],
    [
      'an address with a path',
      () => ({ gateway_url: 'https://approvals.example.com/inbox' }),
      /must be an https origin/,
    ],
    ['an address in clear', () => ({ gateway_url: 'http://approvals.example.com' }), /must be an https origin/],
    [
      'a network that is none',
      () => ({ allow_addresses: ['push.example.com'] }),
      /is neither an IP address nor a network/,
    ],
    [
      'a file that is missing',
      () => ({ ca_file: join(folder, 'none.pem') }),
      /The file .* of 'ca_file' cannot be read: there is no such file/,
    ],
    ['an unknown member', () => ({ token: 'x' }), /token/],
  ])('%s', async (_, more, why) => {
    const loading = load(more());
    await expect(loading).rejects.toMatchObject({ code: 'policy_invalid', message: expect.stringMatching(why) });
    await expect(loading).rejects.not.toThrow(keys.privateKey);
  });

  test('a private key that is none', async () => {
    const file = join(folder, 'key');
    for (const text of ['x', 'A'.repeat(43), `${keys.privateKey}AA`]) {
      writeFileSync(file, text);
      await expect(load({ private_key: { file } })).rejects.toThrow(/are no pair/);
    }
  });

  test('two of them, for a gateway', async () => {
    const { channels } = await readChannels(JSON.stringify({ channels: { one: entry(), two: entry() } }));
    expect(() => pushAppOf(channels)).toThrow('Several channels are web push');
  });
});
