import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection, Worker, type WorkerPlugin } from '@temporalio/worker';
import { z } from 'zod';
import { defineAgent } from '../../../src/agents/define-agent.ts';
import { defineTool } from '../../../src/agents/define-tool.ts';
import type { ApprovalDetails, ApprovalRequest, RunResult } from '../../../src/contract.ts';
import { scriptedModel } from '../../../src/models/scripted.ts';
import { CountersignPlugin } from '../../../src/worker.ts';
import { eventually } from '../../support/eventually.ts';
import { makeNamespace } from '../../support/make-namespace.ts';
import { installQuietRuntime } from '../../support/quiet-runtime.ts';
import { sharedAddress } from '../../support/shared-server.ts';
import { testBundle, testCache } from '../../support/world.ts';

/** The plugin with Temporal's own `Worker` and `Client`, without `createWorker` and `createClient`. */

installQuietRuntime();

let connection: Connection;
beforeAll(async () => {
  connection = await Connection.connect({ address: sharedAddress() });
});
afterAll(() => connection.close());

describe('in a namespace without the search attributes', () => {
  const namespace = `bare-${randomUUID()}`;
  const sentence = `Namespace '${namespace}' lacks the search attributes ApprovalIds, ApprovalTags, ApprovalDue: run \`countersign setup\` once.`;
  const create = (native: NativeConnection, plugins: WorkerPlugin[]): Promise<Worker> =>
    Worker.create({
      connection: native,
      namespace,
      taskQueue: 'bare',
      workflowBundle: { codePath: testBundle() },
      plugins: [new CountersignPlugin(), ...plugins],
    });
  beforeAll(() => makeNamespace(namespace));

  const after = (start: (attempt: number) => void): WorkerPlugin => {
    let attempts = 0;
    return {
      name: 'another',
      runWorker: async (worker, next) => {
        await sleep(300);
        start((attempts += 1));
        await next(worker);
      },
    };
  };
  const slow = after(() => undefined);
  const failing = after((attempt) => {
    if (attempt === 1) throw new Error('not today');
  });

  test.each([
    ['alone', [], ['STOPPED']],
    ['beside a plugin that starts the worker later', [slow], ['STOPPED']],
    ['beside a plugin that fails to start the worker once', [failing], ['INITIALIZED', 'STOPPED']],
  ])('%s: run() rejects, and the connection can be closed', async (_what, plugins, states) => {
    const native = await NativeConnection.connect({ address: sharedAddress() });
    const worker = await eventually('a worker', () => create(native, plugins).catch(() => undefined));
    for (const state of states) {
      await expect(worker.run()).rejects.toMatchObject({ code: 'internal', message: sentence });
      expect(worker.getState()).toBe(state);
    }
    await native.close();
  });
});

test('runUntil ends although its work is done before the check', async () => {
  const native = await NativeConnection.connect({ address: sharedAddress() });
  const worker = await Worker.create({
    connection: native,
    taskQueue: `plugin-${randomUUID()}`,
    workflowBundle: { codePath: testBundle() },
    plugins: [new CountersignPlugin()],
  });
  await expect(worker.runUntil(Promise.resolve('done'))).resolves.toBe('done');
  await native.close();
});

test('one plugin for the worker and the client: large arguments are shown, approved and run', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-plugin-'));
  const text = randomBytes(150_000).toString('hex');
  const publish = defineTool({
    name: 'publish',
    description: 'Publishes a text.',
    input: z.object({ text: z.string() }),
    execute: (args) => `published ${args.text.length}`,
  });
  const turns = [{ calls: [{ tool: 'publish', args: { text } }] }, { text: '{{lastResult}}' }];
  const agents = [defineAgent({ name: 'writer', instructions: '', model: scriptedModel(turns), tools: [publish] })];
  const plugin = new CountersignPlugin({ agents, largePayloads: { folder } });
  const native = await NativeConnection.connect({ address: sharedAddress() });
  const taskQueue = `plugin-${randomUUID()}`;
  const worker = await Worker.create({
    connection: native,
    taskQueue,
    workflowBundle: { codePath: testBundle() },
    plugins: [plugin],
    ...testCache(),
  });
  const { workflow } = new Client({ connection, plugins: [plugin] });
  const result = await worker.runUntil(async () => {
    const workflowId = `plugin-${randomUUID()}`;
    const handle = await workflow.start('agentRun', {
      workflowId,
      taskQueue,
      args: [{ agent: 'writer', input: 'go' }],
    });
    const [listed] = await eventually('a request', async () => {
      const open = await handle.query<ApprovalRequest[]>('approvals');
      return open.length > 0 && open;
    });
    const { requestId } = listed!;
    const whole = await handle.query<ApprovalDetails, [object]>('approvals', { requestId });
    expect(JSON.stringify(whole.arguments) === JSON.stringify({ text })).toBe(true);
    await handle.signal('decide', { requestId, approved: true });
    return (await handle.result()) as RunResult;
  });
  expect(result.output).toBe('published 300000');
  expect(readdirSync(join(folder, 'default')).length).toBeGreaterThan(1);
  await native.close();
  rmSync(folder, { recursive: true, force: true });
});
