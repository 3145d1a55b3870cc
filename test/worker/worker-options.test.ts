import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { autoApprove, callback, conditional } from '../../src/channels/simple-channels.ts';
import { consoleChannel } from '../../src/channels/console-channel.ts';
import { emailChannel, httpTemplateChannel, webhookChannel, webPushChannel } from '../../src/channels.ts';
import { loadConfig } from '../../packages/cli/src/base/load-config.ts';
import { createWorker } from '../../src/worker.ts';

const folder = mkdtempSync(join(tmpdir(), 'countersign-options-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Options as JavaScript writes them. */
const untyped = (options: object): never => options as never;

test.each([
  [{ chanels: {} }, /^createWorker: unknown option 'chanels': did you mean 'channels'\?$/],
  [{ maxCachedWorkflow: 5 }, /^createWorker: unknown option 'maxCachedWorkflow': did you mean 'maxCachedWorkflows'\?$/],
  [
    { budget: 5 },
    /^createWorker: unknown option 'budget'; known are agents, .*, and the options of Temporal's worker$/,
  ],
])('createWorker(%j) is refused', async (options, message) => {
  await expect(createWorker(untyped(options))).rejects.toThrow(message);
});

test('an unknown member of what a worker module exports is refused', async () => {
  const file = join(folder, 'agents.js');
  writeFileSync(file, `export default { agents: [], polcy: 'policy.yaml' };`);
  await expect(loadConfig(file)).rejects.toThrow(`${file}: unknown option 'polcy': did you mean 'policy'?`);
});

test.each<[string, () => unknown, RegExp]>([
  ['autoApprove', () => autoApprove(untyped({ reasons: '' })), /unknown option 'reasons': did you mean 'reason'\?$/],
  ['callback', () => callback(() => true, untyped({ why: '' })), /unknown option 'why'; known are reason$/],
  ['conditional', () => conditional(untyped({ beneath: 'low' })), /'beneath'; known are below, otherwise, reason$/],
  ['consoleChannel', () => consoleChannel(untyped({ timeout: 5 })), /'timeout': did you mean 'timeoutMs'\?$/],
  ['webhookChannel', () => webhookChannel(untyped({ uri: '' })), /'uri': did you mean 'url'\?$/],
  ['emailChannel', () => emailChannel(untyped({ gatewayURL: '' })), /'gatewayURL': did you mean 'gatewayUrl'\?$/],
  ['httpTemplateChannel', () => httpTemplateChannel(untyped({ gateway_url: '' })), /did you mean 'gatewayUrl'\?$/],
  ['webPushChannel', () => webPushChannel(untyped({ publicKee: '' })), /did you mean 'publicKey'\?$/],
])('%s refuses an option that it does not have', async (name, make, message) => {
  await expect(Promise.resolve().then(make)).rejects.toThrow(message);
  await expect(Promise.resolve().then(make)).rejects.toThrow(new RegExp(`^${name}: unknown option`));
});

test('createWorker reads the channel file that is named', async () => {
  const file = join(folder, 'channels.yaml');
  writeFileSync(file, 'channels: { desk: { kind: console, timeot: 5s } }');
  const made = createWorker({ agents: [], channels: file, address: '127.0.0.1:1' });
  await expect(made).rejects.toThrow(`${file}:1:36 unknown key 'timeot': did you mean 'timeout'?`);
  writeFileSync(file, 'channels: { desk: { kind: auto_deny } }');
  // Its channels are found valid before the server is called.
  await expect(createWorker({ agents: [], channels: file, address: '127.0.0.1:1' })).rejects.toMatchObject({
    code: 'server_unreachable',
  });
});
