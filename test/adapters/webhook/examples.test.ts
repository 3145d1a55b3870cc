/** The receivers under examples/webhook-receiver, in their own processes, with the real channel and runs. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Channel } from '../../../src/channels/channel.ts';
import { webhookChannel } from '../../../src/adapters/webhook/webhook-channel.ts';
import type { ApprovalDetails, Settlement } from '../../../src/contract.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import { openGatewayWorld } from '../../support/gateway-world.ts';
import { once as oneCall, pay } from '../../support/team.ts';
import { notifyContext } from './webhook-receiver.ts';
import type { RunInTest } from '../../support/world.ts';

const folder = join(import.meta.dirname, '../../../examples/webhook-receiver');
const secret = `whsec_${randomBytes(32).toString('base64')}`;
const channels: Record<string, Channel> = {};

const world = forAllTests(() => openGatewayWorld({}, { channels }));

describe.each<[string, string[]]>([
  ['Python', ['python3', join(folder, 'receiver.py')]],
  ['Node', [process.execPath, join(folder, 'receiver.ts')]],
])('the receiver in %s', (name, [program, ...args]) => {
  const printed: Record<string, unknown>[] = [];
  let child: ChildProcess;
  let url: string;
  let polled: Channel;
  let called: Channel;
  beforeAll(async () => {
    const env = { ...process.env, WEBHOOK_SECRET: `${secret} an-older-secret-of-this-test` };
    child = spawn(program!, [...args, '0'], { env, stdio: ['ignore', 'pipe', 'ignore'] });
    createInterface({ input: child.stdout! }).on('line', (line) => printed.push(JSON.parse(line)));
    const { port } = await eventually('the port', () => printed.find((line) => 'port' in line));
    url = `http://127.0.0.1:${String(port)}/requests`;
    const options = { url, secret, allowAddresses: ['127.0.0.1'], name };
    polled = await webhookChannel({ ...options, pollIntervalMs: 500, signedAnswers: true });
    called = await webhookChannel({ ...options, callbackUrl: world.gateway.url });
    channels[name] = called;
  });
  afterAll(async () => {
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  });

  const asked = ({ requestId }: ApprovalDetails) => ({ ...notifyContext(), key: `${requestId}/asked` });
  async function ask(amount: number): Promise<{ run: RunInTest; request: ApprovalDetails }> {
    const run = await world.start(oneCall(pay('bob', amount)));
    const [open] = await run.open();
    const request = await run.handle.query<ApprovalDetails, [object]>('approvals', { requestId: open!.requestId });
    return { run, request };
  }

  test.each([
    [5, true],
    [500, false],
  ])('answers when it is asked: %d', async (amount, approved) => {
    const { run, request } = await ask(amount);
    await polled.notify!(request, asked(request));
    const answer = await polled.resolve!(request, new AbortController().signal, { attempt: 1 });
    expect(answer).toMatchObject({ approved, digest: request.digest, reviewerId: 'payments-desk' });
    await run.handle.terminate();
  });

  test('answers by the callback, and hears how it was settled', async () => {
    const { run, request } = await ask(7);
    await called.notify!(request, asked(request));
    // Before it stands what the receiver gave as its reason.
    await expect(run.result()).resolves.toMatchObject({ output: expect.stringMatching(/\npaid 7 to bob$/) });
    await eventually('the receipt', () => printed.find((line) => 'receipt' in line));
    const settlement: Settlement = { outcome: 'approved', runs: true, settledAt: new Date().toISOString() };
    const key = `${request.requestId}/settled`;
    await called.settled!(request, settlement, { ...notifyContext(), key });
    await eventually('the settlement', () => printed.find((line) => line['settled'] === request.requestId));
  });

  test('believes nobody else', async () => {
    const { run, request } = await ask(9);
    const stranger = await webhookChannel({ url, secret: 'a secret of somebody else', allowAddresses: ['127.0.0.1'] });
    await expect(stranger.notify!(request, notifyContext())).rejects.toThrow(/answered 401/);
    for (const timestamp of ['', 'now', '1', '\u00b2', String(Math.floor(Date.now() / 1_000))]) {
      const headers = { 'webhook-id': 'msg_1', 'webhook-signature': 'v1,AAAA', 'webhook-timestamp': timestamp };
      const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(request) });
      expect(response.status).toBe(401);
    }
    expect((await fetch(`${url}/${request.requestId}`)).status).toBe(202);
    await run.handle.terminate();
  });
});
