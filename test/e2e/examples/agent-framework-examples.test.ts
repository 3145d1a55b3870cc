import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { ApprovalSummary } from '../../../src/client.ts';
import type { CountersignClient } from '../../../src/client/countersign-client.ts';
import { createClient } from '../../../src/client/client.ts';
import type { ChatServer } from '../../support/chat-completions-server.ts';
import { completion, reply, startChatServer } from '../../support/chat-completions-server.ts';
import { eventually } from '../../support/eventually.ts';
import { startExampleWorker } from './example-worker.ts';
import { type ReadyProcess, killAll } from '../../support/ready-process.ts';
import { sharedAddress } from '../../support/shared-server.ts';

/**
 * The gate in workflows of @temporalio/ai-sdk and @temporalio/openai-agents, next to their plugins: `examples/ai-sdk`
 * and `examples/openai-agents`. Both offer activities as tools that need no approval. The model is scripted and called
 * over real HTTP.
 */

let client: CountersignClient;
let server: ChatServer;
beforeAll(async () => {
  client = await createClient({ address: sharedAddress() });
  server = await startChatServer();
  // The model looks up an order, refunds the amount that the user names, and repeats the tool's answer.
  server.answer((response, { body: { messages } }) => {
    const { length, [length - 1]: last } = messages.filter(({ role }) => role === 'tool');
    const amount = Number(/\d+/.exec(JSON.stringify(messages.find(({ role }) => role === 'user')?.content))?.[0]);
    const calls = [
      { name: 'findOrder', args: { orderId: 'o-17' } },
      { name: 'refund', args: { orderId: 'o-17', amount } },
    ];
    // The same call id in all turns, as some models do.
    const next = calls[length] === undefined ? undefined : [{ id: 'call_1', ...calls[length] }];
    reply(
      response,
      200,
      completion(next === undefined ? { content: `I was told: ${textOf(last?.content)}` } : { calls: next }),
    );
  });
});
afterAll(async () => {
  await server.close();
  await client.close();
});

/** The content of a message: a text or a list of texts. */
function textOf(content: unknown): string {
  return Array.isArray(content) ? content.map((part: { text: string }) => part.text).join('') : String(content);
}

describe.each(['ai-sdk', 'openai-agents'])('%s', (example) => {
  const taskQueue = `${example}-${randomUUID()}`;
  const folder = mkdtempSync(join(tmpdir(), 'countersign-shop-'));
  const log = join(folder, 'shop.log');
  let worker: ReadyProcess;

  const startWorker = () =>
    startExampleWorker(example, {
      TEMPORAL_ADDRESS: sharedAddress(),
      SHOP_QUEUE: taskQueue,
      SHOP_LOG: log,
      OPENAI_BASE_URL: server.baseURL,
      OPENAI_API_KEY: 'sk-test',
    });
  const ran = (): string[] => (existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : []);
  const refunded = (): string[] => ran().filter((line) => line.startsWith('refund'));

  const ask = async (prompt: string, policy?: object) => {
    const workflowId = `${example}-${randomUUID()}`;
    const args = [{ prompt, customer: 'ann', ...(policy && { policy }) }];
    const handle = await client.session.client.workflow.start('supportAgent', { workflowId, taskQueue, args });
    const request = (): Promise<ApprovalSummary> =>
      eventually(`a request of ${workflowId}`, async () => (await client.approvals.list({ workflowId })).approvals[0]);
    return { handle, request, result: () => handle.result() as Promise<string> };
  };

  beforeAll(async () => {
    worker = await startWorker();
  });
  afterEach(() => rmSync(log, { force: true }));
  afterAll(async () => {
    await killAll();
    rmSync(folder, { recursive: true, force: true });
  });

  test('allowed: the tools run at once', async () => {
    const { result } = await ask('Refund 20, please');
    expect(await result()).toBe('I was told: Refunded 20 for o-17');
    expect(ran()).toEqual(['findOrder o-17', 'refund o-17 20']);
  });

  test('asked and approved: what was shown runs, unchanged', async () => {
    const { request, result } = await ask('Refund 250, please');
    const { requestId } = await request();
    expect(await client.approvals.get(requestId)).toMatchObject({
      toolName: 'refund',
      arguments: { orderId: 'o-17', amount: 250 },
      riskLevel: 'destructive',
      agentName: 'support',
      callerUserId: 'ann',
      reason: 'More than 100 needs a person',
    });
    expect(refunded()).toEqual([]);
    await client.decide({ requestId, approved: true });
    expect(await result()).toBe('I was told: Refunded 250 for o-17');
    expect(refunded()).toEqual(['refund o-17 250']);
  });

  test('asked and denied: the model is told why', async () => {
    const { request, result } = await ask('Refund 250, please');
    const { requestId } = await request();
    await client.decide({ requestId, approved: false, reason: 'no receipt' });
    expect(await result()).toBe('I was told: Denied: no receipt');
    expect(refunded()).toEqual([]);
  });

  test('no answer: the model is told so, and not of a denial', async () => {
    const rules = [{ pattern: 'refund', action: 'ask' }];
    const { result } = await ask('Refund 250, please', { version: 1, rules, approval: { timeout: '1s' } });
    expect(await result()).toBe('I was told: Denied: no decision within 1s');
    expect(refunded()).toEqual([]);
  });

  test('denied by the policy: no request is opened', async () => {
    const { result } = await ask('Refund 20000, please');
    expect(await result()).toBe('I was told: Denied: Refunds over 10000 are paid by the bank');
  });

  test('the worker is killed while the call waits: the next worker continues, and the call runs once', async () => {
    const { handle, request, result } = await ask('Refund 250, please');
    const { requestId } = await request();
    await worker.kill();
    await handle.signal('decide', { requestId, approved: true });
    worker = await startWorker();
    expect(await result()).toBe('I was told: Refunded 250 for o-17');
    expect(refunded()).toEqual(['refund o-17 250']);
  });

  test('a standalone activity started instead of a gated one is refused', async () => {
    const start = `activity execute --activity-id bare-${randomUUID()} --type refund --start-to-close-timeout 10s`;
    const at = `--address ${sharedAddress()} --task-queue ${taskQueue} --input {"orderId":"o-17","amount":20}`;
    const run = promisify(execFile)(process.env.COUNTERSIGN_TEMPORAL_BINARY!, `${start} ${at}`.split(' '));
    await expect(run).rejects.toMatchObject({ stdout: expect.stringMatching(/runs only inside a workflow/) });
    expect(refunded()).toEqual([]);
  });
});
