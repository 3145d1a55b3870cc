import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { cpSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import proto from '@temporalio/proto';
import { Worker } from '@temporalio/worker';
import { z } from 'zod';
import { defineAgent } from '../../../src/agents/define-agent.ts';
import { defineTool } from '../../../src/agents/define-tool.ts';
import { definitionOf } from '../../../src/agents/registry.ts';
import { createClient } from '../../../src/client/client.ts';
import type { CountersignClient } from '../../../src/client/countersign-client.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { projectHistories } from '../../support/read-histories.ts';
import type { ApprovalRequest } from '../../../src/contract.ts';
import { callDigest } from '../../../src/core/base/digest.ts';
import { inlineLimits, storedLimits } from '../../../src/core/base/size-limits.ts';
import { type ScriptedTurn, scriptedModel } from '../../../src/models/scripted.ts';
import { type WorkerOptions, CountersignPlugin } from '../../../src/worker.ts';
import { eventually } from '../../support/eventually.ts';
import { installQuietRuntime } from '../../support/quiet-runtime.ts';
import { sharedAddress } from '../../support/shared-server.ts';
import { type RunInTest, type World, openWorld, testBundle } from '../../support/world.ts';

/** Arguments too large for Temporal's own payloads, with and without a payload folder. */

// Silences the stack traces of tasks that fail on purpose.
installQuietRuntime({ errors: false });

const threeMegabytes = 3_000_000;
const body = (bytes: number): string => randomBytes(bytes / 2).toString('hex');
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

const published: string[] = [];
let releaseHeld: (() => void) | undefined;
const publish = defineTool({
  name: 'publish',
  description: 'Publishes a text.',
  input: z.object({ title: z.string(), body: z.string() }),
  execute: (args) => {
    published.push(sha256(JSON.stringify(args)));
    return `published ${args.body.length}`;
  },
});
const hold = defineTool({
  name: 'hold',
  description: 'Waits.',
  input: z.object({}),
  risk: 'read_only',
  execute: async () => {
    await new Promise<void>((resolve) => (releaseHeld = resolve));
    return 'held';
  },
});
const agentOf = (name: string, script: ScriptedTurn[]) =>
  defineAgent({ name, instructions: '', model: scriptedModel(script), tools: [publish, hold] });
const call = (bytes: number) => ({ tool: 'publish', args: { title: 'T', body: body(bytes) } });

const three = call(threeMegabytes);
const some = call(300_000);
const apart = call(300_000);
const tooLarge = call(storedLimits.argumentBytes);
const nearlyAll = Array.from({ length: 3 }, () => call(900_000));
const agents = [
  agentOf('three', [{ calls: [three] }, { text: '{{lastResult}}' }]),
  agentOf('some', [{ calls: [some] }, { text: '{{lastResult}}' }]),
  agentOf('too-large', [{ calls: [tooLarge] }, { text: '{{lastResult}}' }]),
  agentOf('several', [{ calls: nearlyAll }, { text: 'done' }]),
  agentOf('beside', [{ calls: [{ tool: 'hold', args: {} }, apart] }, { text: 'done' }]),
];

const scratch = mkdtempSync(join(tmpdir(), 'countersign-large-'));
const folder = join(scratch, 'payloads');
const files = join(folder, 'default');
const largePayloads = { folder };
const withFolder: Partial<WorkerOptions> = { agents, largePayloads };

let world: World;
let reader: CountersignClient;
beforeAll(async () => {
  world = await openWorld({
    ...withFolder,
    continueAsNewAfter: { historyEvents: 30 },
    maxConcurrentActivityTaskExecutions: 1,
  });
  reader = await createClient({ address: sharedAddress(), taskQueue: world.taskQueue, largePayloads });
});
afterAll(async () => {
  releaseHeld?.();
  await world.close();
  await reader.close();
  rmSync(scratch, { recursive: true, force: true });
});

const start = (agent: string): Promise<RunInTest> => world.start([], { agent, input: 'go' });
const approve = ({ requestId }: ApprovalRequest) => ({ requestId, approved: true });
const failedTasks = async ({ workflowId }: RunInTest): Promise<string[]> =>
  (await reader.historyChain(workflowId)).executions.flatMap(({ events }) =>
    events.flatMap(({ workflowTaskFailedEventAttributes: failed }) => failed?.failure?.message ?? []),
  );
const payloadFiles = (): string[] =>
  readdirSync(files, { recursive: true, withFileTypes: true }).flatMap((each) =>
    each.isFile() && each.name !== 'key' ? [join(each.parentPath, each.name)] : [],
  );

describe('with a payload folder', () => {
  test('3 MB are asked about by digest, read in full, carried along, approved, and reach the tool', async () => {
    const run = await start('three');
    const [listed] = await run.open();
    expect(listed).toMatchObject({ arguments: {}, argumentNames: ['title', 'body'], shown: 'part' });
    const json = JSON.stringify(three.args);
    expect(listed!.argumentBytes).toBe(json.length);
    const { definition } = definitionOf(publish);
    expect(listed!.digest).toBe(callDigest({ tool: 'publish', args: three.args, definition }));

    const whole = await reader.approvals.get(listed!.requestId, { workflowId: run.workflowId });
    expect(JSON.stringify(whole.arguments) === json).toBe(true);
    expect(whole.shown).toBe('all');
    const { approvals } = await reader.approvals.list({ workflowId: run.workflowId });
    expect(approvals).toMatchObject([{ argumentNames: ['title', 'body'], argumentBytes: json.length, shown: 'part' }]);
    // Without the folder the request is still listed, and the error says what is needed to see all of it.
    expect((await world.client.approvals.list({ workflowId: run.workflowId })).approvals).toEqual(approvals);
    await expect(world.client.approvals.get(listed!.requestId, { workflowId: run.workflowId })).rejects.toMatchObject({
      code: 'undecodable',
      message: expect.stringMatching(/kept in external storage.+COUNTERSIGN_PAYLOAD_FOLDER/),
    });

    await eventually('the run continues as new', async () => {
      await run.handle.signal('noise');
      return (await run.status()).executions >= 2;
    });
    // A new worker reads everything back.
    await world.stopWorker();
    await world.startWorker();
    expect(await run.open()).toEqual([listed]);
    await reader.decide({ ...approve(listed!), digest: listed!.digest }, { workflowId: run.workflowId });
    const { output, outcomes } = await run.result();
    expect(output).toBe(`published ${threeMegabytes}`);
    expect(outcomes).toMatchObject([{ outcome: 'approved', ran: 'yes' }]);
    expect(published).toEqual([sha256(json)]);

    // History holds references, and the journal is readable even without the folder.
    const { executions } = await world.client.historyChain(run.workflowId);
    const sizes = executions.flatMap(({ events }) =>
      events.map((event) => proto.temporal.api.history.v1.HistoryEvent.encode(event).finish().length),
    );
    expect(Math.max(...sizes)).toBeLessThan(65_536);
    expect(projectHistories(executions)).toMatchObject({ gaps: [] });
    expect(await failedTasks(run)).toEqual([]);
  });

  test('more than a run accepts is refused in one sentence, and nothing runs', async () => {
    const before = published.length;
    const { output, outcomes } = await (await start('too-large')).result();
    const bytes = JSON.stringify(tooLarge.args).length;
    expect(output).toBe(`Error: arguments: ${bytes} bytes, expected at most ${storedLimits.argumentBytes}`);
    expect(outcomes).toMatchObject([{ outcome: 'refused', ran: 'no' }]);
    expect(published).toHaveLength(before);
  });

  test('several large calls of one turn all run', async () => {
    const before = published.length;
    const run = await start('several');
    await run.handle.signal('decide', (await run.open(3)).map(approve));
    expect((await run.result()).outcomes).toHaveLength(3);
    expect(published.slice(before).sort()).toEqual(nearlyAll.map(({ args }) => sha256(JSON.stringify(args))).sort());
  });

  test.each<[string, (file: string) => void, string]>([
    ['missing', (file) => rmSync(file), 'is not there'],
    ['damaged', (file) => writeFileSync(file, 'x'), 'holds something else than its name says'],
  ])('while files are %s the run waits; once they are restored, it continues', async (_name, harm, why) => {
    const before = published.length;
    const run = await start('some');
    const [request] = await run.open();
    await world.stopWorker();
    const kept = join(scratch, randomUUID());
    cpSync(folder, kept, { recursive: true });
    for (const file of payloadFiles()) harm(file);
    await world.startWorker();
    await run.handle.signal('decide', approve(request!));
    await eventually('the task fails', async () => (await failedTasks(run)).length > 0);
    expect((await failedTasks(run))[0]).toMatch(
      new RegExp(`cannot be read from the payload folder: file [0-9a-f]{64} ${why}; bring the original back$`),
    );
    expect((await run.handle.describe()).status.name).toBe('RUNNING');
    rmSync(folder, { recursive: true });
    renameSync(kept, folder);
    expect((await run.result()).output).toBe('published 300000');
    expect(published).toHaveLength(before + 1);
  });

  test('a tool whose arguments were missing before it started is started again when they are back', async () => {
    const before = published.length;
    const run = await start('beside');
    const [request] = await run.open();
    await eventually('the other tool runs', () => releaseHeld !== undefined);
    const filesBefore = new Set(payloadFiles());
    await run.handle.executeUpdate('decide', { args: [approve(request!)] });
    const added = await eventually('its arguments are written', () => {
      const more = payloadFiles().filter((file) => !filesBefore.has(file));
      return more.length > 0 && more;
    });
    for (const file of added) rmSync(file);
    releaseHeld?.();
    const { outcomes } = await run.result();
    expect(outcomes).toMatchObject([
      { toolName: 'hold', ran: 'yes' },
      { toolName: 'publish', outcome: 'approved', ran: 'yes' },
    ]);
    expect(published).toHaveLength(before + 1);
    const { executions } = await reader.historyChain(run.workflowId);
    const failures = executions.flatMap(({ events }) =>
      events.flatMap(({ activityTaskFailedEventAttributes: failed }) => failed?.failure ?? []),
    );
    const types = failures.map(({ applicationFailureInfo }) => applicationFailureInfo?.type);
    // Without a cache a replay may have written the missing files again before the tool starts.
    expect(process.env.COUNTERSIGN_TEST_CACHE === '0' ? [...types, 'payload_unread'] : types).toContain(
      'payload_unread',
    );
  });

  test('a worker without the folder leaves the run unchanged; one with the folder continues it', async () => {
    const run = await start('some');
    const [request] = await run.open();
    await world.stopWorker();
    await world.startWorker({ largePayloads: false });
    await run.handle.signal('decide', approve(request!));
    await eventually('the task fails', async () => (await failedTasks(run)).length > 0);
    expect((await failedTasks(run))[0]).toMatch(/^A payload of this run cannot be read: .+same largePayloads\.$/);
    await world.stopWorker();
    await world.startWorker();
    expect((await run.result()).output).toBe('published 300000');
  });

  test('a history full of references replays where the folder exists', async () => {
    const run = await start('some');
    await run.handle.signal('decide', approve((await run.open())[0]!));
    await run.result();
    const { workflowService } = world.client.session.connection;
    const execution = { workflowId: run.workflowId };
    const { history } = await workflowService.getWorkflowExecutionHistory({ namespace: 'default', execution });
    const replay = (plugin: CountersignPlugin): Promise<void> =>
      Worker.runReplayHistory(
        { plugins: [plugin], workflowBundle: { codePath: testBundle() } },
        history!,
        run.workflowId,
      );
    await replay(new CountersignPlugin({ agents, largePayloads }));
    await expect(replay(new CountersignPlugin({ agents, largePayloads: false }))).rejects.toThrow(/same largePayloads/);
  });

  test.each<[string, Record<string, string>]>([
    ['of a file that never was', { sha256: 'ab'.repeat(32), proof: 'cd'.repeat(32) }],
    ['of a path', { sha256: '../key', proof: 'cd'.repeat(32) }],
    ['of nothing', {}],
  ])('a forged reference %s delays nothing', async (_name, claimData) => {
    const run = await start('some');
    const [request] = await run.open();
    const { workflowService } = world.client.session.connection;
    await workflowService.signalWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId: run.workflowId },
      signalName: 'decide',
      input: {
        payloads: [
          {
            metadata: {
              encoding: Buffer.from('json/protobuf'),
              messageType: Buffer.from('temporal.api.sdk.v1.ExternalStorageReference'),
            },
            data: Buffer.from(JSON.stringify({ driverName: 'countersign.folder', claimData })),
          },
        ],
      },
    });
    await run.handle.signal('decide', approve(request!));
    expect((await run.result()).output).toBe('published 300000');
    expect((await run.status()).refused).toEqual({ last: [{ code: 'undecodable', size: 0 }], total: 1 });
  });
});

describe('without a payload folder', () => {
  const bare = forAllTests(() => openWorld({ agents }));

  test('a call beyond the limit gets one sentence, and the run continues', async () => {
    const before = published.length;
    const { output, outcomes } = await (await bare.start([], { agent: 'three', input: 'go' })).result();
    const bytes = JSON.stringify(three.args).length;
    expect(output).toBe(`Error: arguments: ${bytes} bytes, expected at most ${inlineLimits.argumentBytes}`);
    expect(outcomes).toMatchObject([{ outcome: 'refused', ran: 'no' }]);
    expect(published).toHaveLength(before);
  });

  test('calls that together exceed the limit: the first ones remain', async () => {
    const before = published.length;
    const run = await bare.start([], { agent: 'several', input: 'go' });
    const open = await run.open(1);
    expect(open).toHaveLength(1);
    await run.handle.signal('decide', approve(open[0]!));
    const { outcomes } = await run.result();
    expect(outcomes.map(({ outcome, ran }) => `${outcome} ${ran}`).sort()).toEqual([
      'approved yes',
      'refused no',
      'refused no',
    ]);
    expect(published.slice(before)).toEqual([sha256(JSON.stringify(nearlyAll[0]!.args))]);
    const messages = await run.handle.query<{ role: string; content: string }[]>('transcript');
    expect(messages.filter(({ role }) => role === 'tool').map(({ content }) => content.slice(0, 22))).toEqual([
      'published 900000',
      'Error: arguments: 9000',
      'Error: arguments: 9000',
    ]);
  });
});
