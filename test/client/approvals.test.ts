import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { ApprovalList } from '../../src/client/inbox/list-approvals.ts';
import type { RunInput } from '../../src/contract.ts';
import { eventually } from '../support/eventually.ts';
import { type RunInTest, type World, openWorld } from '../support/world.ts';

let world: World;
const started: RunInTest[] = [];

/** Starts a run that opens `count` requests, each with its own amount. */
async function startAsking(count: number, input: Partial<RunInput> = {}): Promise<RunInTest> {
  const calls = Array.from({ length: count }, (_, index) => ({
    tool: 'pay',
    args: { to: `p${index}`, amount: index },
  }));
  const run = await world.start([{ calls }, { text: 'done' }], input);
  started.push(run);
  await run.open(count);
  return run;
}

/** The inbox once it lists `count` requests of this test's runs. */
function listed(count: number, filter: object = {}): Promise<ApprovalList> {
  return eventually(`${count} rows in the inbox`, async () => {
    const list = await world.client.approvals.list(filter);
    const ours = list.approvals.filter((row) => started.some((run) => run.workflowId === row.workflowId));
    return ours.length === count && { ...list, approvals: ours };
  });
}

/** Stops the worker until the end of the test. */
async function loseWorker(): Promise<void> {
  await world.stopWorker();
  onTestFinished(() => world.startWorker());
}

beforeAll(async () => {
  world = await openWorld();
});
afterEach(async () => {
  for (const run of started.splice(0)) await run.handle.terminate().catch(() => undefined);
});
afterAll(() => world.close());

describe('approvals.list', () => {
  test('lists the open requests of all runs without a worker, earliest deadline first, without argument values', async () => {
    const late = await startAsking(1, { policy: { version: 1, rules: [], approval: { timeout: '2h' } } });
    const soon = await startAsking(2);
    await loseWorker();
    const { approvals } = await listed(3);
    expect(approvals.map((row) => row.workflowId)).toEqual([soon.workflowId, soon.workflowId, late.workflowId]);
    expect(approvals[0]).toMatchObject({
      toolName: 'pay',
      agentName: 'tester',
      riskLevel: 'write',
      argumentNames: ['to', 'amount'],
      shown: 'part',
    });
    expect(JSON.stringify(approvals)).not.toContain('p0');
  });

  test('filters, and counts what the limit omits', async () => {
    const one = await startAsking(3);
    await startAsking(1);
    await listed(4);
    expect((await world.client.approvals.list({ workflowId: one.workflowId })).approvals).toHaveLength(3);
    expect((await listed(4, { tool: 'pay' })).approvals).toHaveLength(4);
    expect((await world.client.approvals.list({ workflowId: one.workflowId, tool: 'look' })).approvals).toEqual([]);
    expect((await world.client.approvals.list({ workflowId: one.workflowId, agent: 'nobody' })).approvals).toEqual([]);
    const limited = await world.client.approvals.list({ workflowId: one.workflowId, limit: 2 });
    expect([limited.approvals.length, limited.more]).toEqual([2, 1]);
  });

  test('a settled request leaves the list', async () => {
    const run = await startAsking(1);
    const { approvals } = await listed(1);
    await world.client.decide({ requestId: approvals[0]?.requestId ?? '', approved: false });
    await run.result();
    await listed(0);
  });

  test('an undecodable memo does not hide other rows', async () => {
    const run = await startAsking(1);
    const { connection, namespace, client } = world.client.session;
    const payload = (encoding: string, data: string, metadata = {}) => ({
      metadata: { encoding: Buffer.from(encoding), ...metadata },
      data: Buffer.from(data),
    });
    const type = Buffer.from('KeywordList');
    const startForeign = async (memo: Record<string, ReturnType<typeof payload>>): Promise<string> => {
      const workflowId = `foreign-${randomUUID()}`;
      const requestId = randomUUID().replaceAll('-', '');
      await connection.workflowService.startWorkflowExecution({
        namespace,
        workflowId,
        requestId: randomUUID(),
        workflowType: { name: 'foreign' },
        taskQueue: { name: `nobody-${randomUUID()}` },
        memo: { fields: memo },
        searchAttributes: {
          indexedFields: { ApprovalIds: payload('json/plain', JSON.stringify([requestId]), { type }) },
        },
      });
      started.push({ ...run, workflowId, handle: client.workflow.getHandle(workflowId) });
      await eventually('the foreign run in the inbox', async () => {
        const query = `ApprovalIds = "${requestId}" AND WorkflowId = "${workflowId}"`;
        const answer = await connection.workflowService.listWorkflowExecutions({ namespace, query });
        return answer.executions.length === 1;
      });
      return workflowId;
    };
    const undecodable = { approvals: payload('json/plain', '{bad'), other: payload('binary/encrypted', 'x') };
    const foreign = await startForeign(undecodable);
    // A payload on which Temporal's own list throws, with any converter (docs/security.md).
    const messageType = Buffer.from('temporal.api.sdk.v1.ExternalStorageReference');
    await startForeign({ approvals: payload('json/protobuf', '{}', { messageType }) });
    expect((await listed(1)).approvals[0]?.workflowId).toBe(run.workflowId);
    await expect(world.client.show(foreign)).resolves.toMatchObject({ status: 'running', open: [] });
  });

  test('a memo of another format does not hide other rows', async () => {
    const run = await startAsking(1);
    const [row] = (await listed(1)).approvals;
    const rows = [{ requestId: 7 }, { ...row, argumentNames: 'all' }, { ...row, lineage: 'above' }];
    for (const memo of [{ approvals: 'x' }, { approvals: { open: rows, more: 'many' } }, {}]) {
      const workflowId = `foreign-${randomUUID()}`;
      await world.client.session.client.workflow.start('foreign', {
        workflowId,
        taskQueue: `nobody-${randomUUID()}`,
        memo,
        searchAttributes: { ApprovalIds: [randomUUID().replaceAll('-', '')] },
      });
      started.push({ ...run, workflowId, handle: world.client.session.client.workflow.getHandle(workflowId) });
    }
    expect((await listed(1)).approvals[0]?.workflowId).toBe(run.workflowId);
  });
});

describe('approvals.get', () => {
  test('finds a request by its id alone, with full arguments; a settled request includes its settlement', async () => {
    const run = await startAsking(1);
    const [request] = await run.open();
    const requestId = request?.requestId ?? '';
    await expect(world.client.approvals.get(requestId)).resolves.toMatchObject(request!);
    expect(request).toMatchObject({ arguments: { to: 'p0', amount: 0 }, shown: 'all' });

    await world.client.decide({ requestId, approved: false, reason: 'too much', reviewerId: 'ann' });
    await run.result();
    await expect(world.client.approvals.get(requestId)).resolves.toMatchObject({
      requestId,
      settled: { outcome: 'denied', reason: 'too much', reviewerId: 'ann' },
    });
  });

  test('an id without a run is unknown after 3 seconds of searching', async () => {
    const requestId = randomUUID().replaceAll('-', '');
    const before = Date.now();
    await expect(world.client.approvals.get(requestId)).rejects.toMatchObject({
      code: 'unknown_request',
      message: `No run lists request ${requestId}, and one that has just opened may not be listed yet: \`countersign approvals\` lists the open ones.`,
    });
    expect(Date.now() - before).toBeGreaterThanOrEqual(3_000);
  });

  test.each(['', 'x', `${'0'.repeat(31)}G`, `${'0'.repeat(32)}" OR "" = "`, 'A'.repeat(32)])(
    '%j is not an id: unknown at once',
    async (requestId) => {
      await expect(world.client.approvals.get(requestId)).rejects.toMatchObject({
        code: 'unknown_request',
        message: expect.stringContaining('it has 32 hex characters'),
      });
    },
  );

  test("the id of another run's request is unknown", async () => {
    const run = await startAsking(1);
    await expect(world.client.approvals.get('0'.repeat(32), { workflowId: run.workflowId })).rejects.toMatchObject({
      code: 'unknown_request',
      message: `Run '${run.workflowId}' has no request ${'0'.repeat(32)}.`,
    });
  });

  test('without a worker, arguments cannot be shown: no_worker', async () => {
    const run = await startAsking(1);
    const [request] = await run.open();
    await loseWorker();
    await expect(world.client.approvals.get(request?.requestId ?? '')).rejects.toMatchObject({ code: 'no_worker' });
  });
});
