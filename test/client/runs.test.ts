import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { forAllTests } from '../support/for-all-tests.ts';
import { eventually } from '../support/eventually.ts';
import { openWorld } from '../support/world.ts';

const world = forAllTests(() => openWorld());

const talk = JSON.stringify([{ text: 'done' }]);
const ask = JSON.stringify([{ calls: [{ tool: 'pay', args: { to: 'ann', amount: 5 } }] }, { text: 'done' }]);

describe('start', () => {
  test('returns a handle under a readable id, and the result', async () => {
    const run = await world.client.start({ name: 'tester' }, talk);
    expect(run.workflowId).toMatch(/^run-tester-[0-9a-f]{12}$/);
    await expect(run.result()).resolves.toMatchObject({ status: 'completed', output: 'done', outcomes: [] });
    await expect(run.status()).resolves.toMatchObject({
      workflowId: run.workflowId,
      agent: 'tester',
      status: 'completed',
    });
  });

  test('an id is used once, even after the run has ended', async () => {
    const workflowId = randomUUID();
    await (await world.client.start('tester', talk, { workflowId })).result();
    await expect(world.client.start('tester', talk, { workflowId })).rejects.toMatchObject({
      code: 'already_started',
      message: expect.stringContaining(`Run '${workflowId}' exists already`),
    });
  });

  test('caller, metadata and policy reach the run', async () => {
    const run = await world.client.start('tester', ask, {
      caller: { userId: 'ann' },
      metadata: { ticket: 7 },
      policy: { version: 1, rules: [{ id: 'careful', pattern: 'pay', action: 'ask', reason: 'Money' }] },
    });
    const [row] = await eventually('a request', async () => {
      const { approvals } = await world.client.approvals.list({ workflowId: run.workflowId });
      return approvals.length > 0 && approvals;
    });
    await expect(world.client.approvals.get(row?.requestId ?? '')).resolves.toMatchObject({
      callerUserId: 'ann',
      metadata: { ticket: 7 },
      rule: 'careful',
      reason: 'Money',
    });
    await run.cancel();
    await expect(run.result()).resolves.toMatchObject({ status: 'cancelled' });
  });

  test('an unknown agent: the run fails, and the result gives the reason in one sentence', async () => {
    const run = await world.client.start('nobody', talk);
    await expect(run.result()).rejects.toMatchObject({
      code: 'agent_unknown',
      message: expect.stringContaining(`Run '${run.workflowId}' failed: `),
    });
  });
});

describe('a run that does not exist or has ended', () => {
  test.each([
    ['result', () => world.client.run('run-nowhere').result()],
    ['status', () => world.client.run('run-nowhere').status()],
    ['cancel', () => world.client.run('run-nowhere').cancel()],
    ['show', () => world.client.show('run-nowhere')],
    ['historyChain', () => world.client.historyChain('run-nowhere')],
    ['approvals.list', () => world.client.approvals.list({ workflowId: 'run-nowhere' })],
    ['approvals.get', () => world.client.approvals.get('0'.repeat(32), { workflowId: 'run-nowhere' })],
    ['decide', () => world.client.decide({ requestId: '0'.repeat(32), approved: true }, { workflowId: 'run-nowhere' })],
  ])('%s: run_not_found', async (_name, act) => {
    await expect(act()).rejects.toMatchObject({
      code: 'run_not_found',
      message: "There is no run 'run-nowhere' in namespace 'default'.",
    });
  });

  test('cancel of a closed run: run_closed', async () => {
    const run = await world.client.start('tester', talk);
    await run.result();
    await expect(run.cancel()).rejects.toMatchObject({ code: 'run_closed' });
  });
});

describe('show', () => {
  test('a waiting run, with and without its worker', async () => {
    const run = await world.start(JSON.parse(ask));
    const [request] = await run.open();
    const seen = await world.client.show(run.workflowId);
    expect(seen).toMatchObject({
      status: 'waiting',
      run: { agent: 'tester', counts: { asks: 1, open: 1 } },
      open: [{ requestId: request?.requestId, toolName: 'pay', argumentNames: ['to', 'amount'] }],
    });
    expect(seen.note).toBeUndefined();

    await world.stopWorker();
    const alone = await world.client.show(run.workflowId);
    expect(alone).toMatchObject({ status: 'waiting', open: [{ requestId: request?.requestId }] });
    expect(alone.run).toBeUndefined();
    expect(alone.note).toMatch(
      /^No worker answers for task queue '.+' of namespace 'default'(: | yet: one has polled it recently, .+)start one with `countersign worker`\.$/,
    );
    await expect(world.client.run(run.workflowId).status()).rejects.toMatchObject({ code: 'no_worker' });

    await run.handle.terminate('enough');
    await expect(world.client.show(run.workflowId)).resolves.toMatchObject({
      status: 'failed',
      open: [],
      failure: { code: 'internal', message: `Run '${run.workflowId}' was terminated: enough` },
    });
    await world.startWorker();
  });

  test('a finished run keeps its result', async () => {
    const run = await world.client.start('tester', talk);
    await run.result();
    const seen = await world.client.show(run.workflowId);
    expect(seen).toMatchObject({ status: 'completed', result: { output: 'done' }, open: [], more: 0 });
    expect(Date.parse(seen.closedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(seen.startedAt));
  });
});
