import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import proto, { type temporal } from '@temporalio/proto';
import type { ApprovalRequest } from '../../../src/contract.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import type { RunInTest } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';

/** No bytes sent to a run block or fail it (I5). Each poison is followed by a valid decision that must work. */

type Payload = temporal.api.common.v1.IPayload;
const payload = (encoding: string | undefined, data: string | Uint8Array): Payload => ({
  metadata: encoding === undefined ? {} : { encoding: Buffer.from(encoding) },
  data: Buffer.from(data),
});

const stages = proto.temporal.api.enums.v1.UpdateWorkflowExecutionLifecycleStage;

const brackets = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
const poisons: [string, Payload, string][] = [
  ['bytes that are not JSON', payload('json/plain', '{bad'), 'undecodable'],
  ['bytes that are not UTF-8', payload('json/plain', Uint8Array.of(0x22, 0xff, 0xfe, 0xc0)), 'undecodable'],
  ['an unknown encoding', payload('weird/encoding', 'xx'), 'undecodable'],
  ['protobuf of an unknown type', payload('json/protobuf', 'zz'), 'undecodable'],
  ['encrypted bytes', payload('binary/encrypted', 'qq'), 'undecodable'],
  ['no metadata', payload(undefined, 'no metadata'), 'undecodable'],
  ['nothing at all', {}, 'undecodable'],
  ['raw bytes', payload('binary/plain', 'raw'), 'undecodable'],
  ['null', payload('binary/null', ''), 'invalid_decision'],
  ['a prototype key', payload('json/plain', '{"__proto__":{"approved":true},"constructor":1}'), 'invalid_decision'],
  [
    'nested as deep as a decision may hold',
    payload('json/plain', `{"requestId":${brackets(150)}}`),
    'invalid_decision',
  ],
  ['200,000 nested brackets', payload('json/plain', brackets(200_000)), 'undecodable'],
  ['200,000 open brackets', payload('json/plain', '['.repeat(200_000)), 'undecodable'],
];

const world = forAllTests(() => openWorld());

async function waiting(): Promise<{ run: RunInTest; request: ApprovalRequest }> {
  const run = await world.start([
    { calls: [{ tool: 'pay', args: { to: 'x', amount: 1 } }] },
    { text: '{{lastResult}}' },
  ]);
  return { run, request: (await run.open())[0]! };
}

const service = () => world.client.session.connection.workflowService;
const signal = (run: RunInTest, signalName: string, payloads: Payload[], header: Record<string, Payload> = {}) =>
  service().signalWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: run.workflowId },
    signalName,
    input: { payloads },
    header: { fields: header },
  });

async function decidesStill({ run, request }: Awaited<ReturnType<typeof waiting>>): Promise<void> {
  expect(
    await run.handle.executeUpdate('decide', { args: [{ requestId: request.requestId, approved: true }] }),
  ).toMatchObject({
    accepted: true,
  });
  expect((await run.result()).output).toBe('paid 1 to x');
}

describe('by signal', () => {
  test('every poison is refused with a code and its size, without its content', async () => {
    const open = await waiting();
    for (const [, each] of poisons) await signal(open.run, 'decide', [each]);
    const { refused } = await open.run.status();
    expect(refused.last.map(({ code }) => code)).toEqual(poisons.map(([, , code]) => code));
    expect(refused.last[0]).toEqual({ code: 'undecodable', size: 4 });
    expect(refused.last.at(-1)).toEqual({ code: 'undecodable', size: 200_000 });
    await decidesStill(open);
  });

  test('in a header of a valid decision: the decision counts', async () => {
    for (const [, each] of poisons) {
      const { run, request } = await waiting();
      const good = payload('json/plain', JSON.stringify({ requestId: request.requestId, approved: true }));
      await signal(run, 'decide', [good], { trace: each });
      expect((await run.result()).output).toBe('paid 1 to x');
    }
  });

  test.each([
    '__temporal_x',
    '__temporal_workflow_stream_publish',
    '__stack_trace',
    'xK2-random',
    'constructor',
    '__proto__',
  ])('under the name %s: recorded as refused', async (name) => {
    const open = await waiting();
    await signal(open.run, name, [poisons[0]![1]]);
    expect((await open.run.status()).refused).toEqual({ last: [{ code: 'undecodable', size: 4 }], total: 1 });
    await decidesStill(open);
  });

  test('before the first workflow task: the run still starts', async () => {
    const lone = await openWorld({ worker: false });
    const run = await lone.start([{ text: 'hello' }]);
    await signal(run, '__temporal_x', [poisons[0]![1]]);
    await signal(run, 'decide', [poisons[0]![1]]);
    await lone.startWorker();
    expect((await run.result()).output).toBe('hello');
    await lone.close();
  });

  test('2 MB: the server accepts it, and the run refuses it; the server refuses more', async () => {
    const open = await waiting();
    const nearly = JSON.stringify({ requestId: open.request.requestId, approved: true, reason: 'x'.repeat(1_990_000) });
    await signal(open.run, 'decide', [payload('json/plain', nearly)]);
    expect((await open.run.status()).refused.last).toMatchObject([{ code: 'too_large' }]);
    const over = 'x'.repeat(2_200_000);
    await expect(signal(open.run, 'decide', [payload('json/plain', JSON.stringify(over))])).rejects.toThrow(
      /exceeds|limit|larger/i,
    );
    await decidesStill(open);
  });

  test('a flood: 50 are kept, the rest is only counted', async () => {
    const open = await waiting();
    for (let each = 0; each < 70; each++) await signal(open.run, 'decide', [poisons[0]![1]]);
    const { refused } = await open.run.status();
    expect(refused.total).toBe(70);
    expect(refused.last).toHaveLength(50);
    await decidesStill(open);
  });
});

describe('by update', () => {
  const update = (run: RunInTest, args: Payload[], header: Record<string, Payload> = {}) =>
    service().updateWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId: run.workflowId },
      request: {
        meta: { updateId: randomUUID(), identity: 'poisoner' },
        input: { name: 'decide', args: { payloads: args }, header: { fields: header } },
      },
      waitPolicy: { lifecycleStage: stages.UPDATE_WORKFLOW_EXECUTION_LIFECYCLE_STAGE_COMPLETED },
    });

  test.each(poisons)('%s is refused with its code', async (_name, each, code) => {
    const open = await waiting();
    const { outcome } = await update(open.run, [each]);
    expect(outcome?.failure?.applicationFailureInfo?.type).toBe(code);
    await decidesStill(open);
  });

  test('in a header of a valid decision: the decision counts', async () => {
    const { run, request } = await waiting();
    const good = payload('json/plain', JSON.stringify({ requestId: request.requestId, approved: true }));
    const { outcome } = await update(run, [good], { trace: poisons[0]![1], other: poisons[11]![1] });
    expect(outcome?.success).toBeTruthy();
    expect((await run.result()).output).toBe('paid 1 to x');
  });

  test('under another name: refused', async () => {
    const open = await waiting();
    await expect(open.run.handle.executeUpdate('__temporal_x')).rejects.toThrow();
    await expect(open.run.handle.executeUpdate('approve', { args: [true] })).rejects.toThrow();
    await decidesStill(open);
  });
});

test('a query argument that cannot be decoded fails only that query', async () => {
  const open = await waiting();
  const query = service().queryWorkflow({
    namespace: 'default',
    execution: { workflowId: open.run.workflowId },
    query: { queryType: 'approvals', queryArgs: { payloads: [poisons[0]![1]] } },
  });
  await expect(query).rejects.toThrow("the argument of query 'approvals' could not be decoded");
  await decidesStill(open);
});
