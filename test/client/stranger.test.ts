import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { WorkflowHandle } from '@temporalio/client';
import type { ApprovalMemo } from '../../src/contract.ts';
import { cli } from '../adapters/cli/support.ts';
import { eventually } from '../support/eventually.ts';
import { type ForeignWorker, startForeignWorker } from '../support/foreign-worker.ts';
import { makeOwnInbox } from '../support/own-inbox.ts';
import { type RunInTest, type World, openWorld } from '../support/world.ts';

/**
 * Anybody who may start a workflow can write any search attributes and any memo, but not under another run's workflow
 * id. No row in visibility may divert a decision from the run that asks.
 */

let namespace: string;
let world: World;
let foreign: ForeignWorker;
beforeAll(async () => {
  // A list has room for so many requests: in another's inbox, those of other tests may come first.
  namespace = await makeOwnInbox();
  world = await openWorld({ namespace });
  foreign = await startForeignWorker(namespace);
});
afterAll(async () => {
  await foreign.close();
  await world.close();
});

let run: RunInTest;
let requestId: string;
let strangers: WorkflowHandle[] = [];
beforeEach(async () => {
  for (const stranger of strangers) await stranger.terminate().catch(() => undefined);
  strangers = [];
  run = await world.start([{ calls: [{ tool: 'pay', args: { to: 'ann', amount: 1 } }] }, { text: 'done' }]);
  requestId = (await run.open())[0]!.requestId;
});

interface Row {
  memo?: (approvals: ApprovalMemo, workflowId: string) => unknown;
  /** True: the tags list the id as that of a settled request. */
  isSettled?: boolean;
  /** Default: a task queue without a worker. */
  taskQueue?: string;
}

/** Starts another workflow whose visibility row carries the request's id, and waits for the row. */
async function stranger({ memo, isSettled, taskQueue = `nobody-${randomUUID()}` }: Row = {}): Promise<WorkflowHandle> {
  const { workflow } = world.client.session.client;
  const workflowId = `stranger-${randomUUID()}`;
  const { approvals } = (await run.handle.describe()).memo as { approvals: ApprovalMemo };
  const handle = await workflow.start('refuses', {
    workflowId,
    taskQueue,
    args: [1_000, 'unknown_request'],
    ...(memo === undefined ? {} : { memo: { approvals: memo(approvals, workflowId) } }),
    searchAttributes: isSettled === true ? { ApprovalTags: [`settled:${requestId}`] } : { ApprovalIds: [requestId] },
  });
  strangers.push(handle);
  await eventually('both rows in visibility', async () => {
    const rows = [run.workflowId, workflowId].map((id) => `WorkflowId = "${id}"`).join(' OR ');
    const claimed = `(ApprovalIds = "${requestId}" OR ApprovalTags = "settled:${requestId}")`;
    return (await workflow.count(`(${rows}) AND ${claimed}`)).count === 2;
  });
  return handle;
}

const copied = (approvals: ApprovalMemo): unknown => approvals;
const forged = ({ open, ...rest }: ApprovalMemo, workflowId: string): unknown => ({
  ...rest,
  open: open.map((row) => ({ ...row, workflowId })),
});

async function signalsIn(handle: WorkflowHandle): Promise<number> {
  const { events = [] } = await handle.fetchHistory();
  return events!.filter((event) => event.workflowExecutionSignaledEventAttributes != null).length;
}

const both = (one: string, other: string): unknown =>
  expect.stringMatching(
    new RegExp(
      `claimed by several runs: ('${one}' and '${other}'|'${other}' and '${one}')\\. .*--run, or workflowId\\.\n?$`,
    ),
  );

describe('without a worker', () => {
  let isStopped = false;
  beforeEach(async () => {
    await world.stopWorker();
    isStopped = true;
  });
  const workerReturns = async (): Promise<void> => {
    if (isStopped) await world.startWorker();
    isStopped = false;
  };
  afterEach(workerReturns);

  test.each<[string, Row]>([
    ['the id alone', {}],
    ['the id and a copy of the memo', { memo: copied }],
  ])('a row with %s: the decision goes to the run that asks', async (_what, row) => {
    const other = await stranger(row);
    expect(await world.client.decide({ requestId, approved: true })).toMatchObject({ accepted: true, recorded: true });
    expect(await signalsIn(other)).toBe(0);
    await workerReturns();
    await expect(run.result()).resolves.toMatchObject({ outcomes: [{ outcome: 'approved', ran: 'yes' }] });
  });

  test.each<[string, Row]>([
    ['a forged memo of its own', { memo: forged }],
    ['a memo that says it has no room for all', { memo: () => ({ open: [], journal: [], more: 1 }) }],
  ])('a row with %s: nothing is recorded, and both runs are named', async (_what, row) => {
    const other = await stranger(row);
    const refused = { code: 'unknown_request', message: both(run.workflowId, other.workflowId) };
    await expect(world.client.decide({ requestId, approved: true })).rejects.toMatchObject(refused);
    await expect(world.client.delegate({ requestId, to: 'bob' })).rejects.toMatchObject(refused);
    await expect(world.client.approvals.get(requestId)).rejects.toMatchObject(refused);
    expect([await signalsIn(other), await signalsIn(run.handle)]).toEqual([0, 0]);
    const { workflowId } = run;
    const receipt = await world.client.decide({ requestId, approved: true }, { workflowId });
    expect(receipt).toMatchObject({ accepted: true, recorded: true });
    expect(receipt.message).not.toContain('does not list');
    await workerReturns();
    await expect(run.result()).resolves.toMatchObject({ outcomes: [{ outcome: 'approved', ran: 'yes' }] });
  });

  test('only another workflow carries the id, and cannot be asked: not known yet, and nothing is sent', async () => {
    const { workflow } = world.client.session.client;
    const nobodys = randomUUID().replaceAll('-', '');
    const carrier = await workflow.start('refuses', {
      workflowId: `stranger-${randomUUID()}`,
      taskQueue: `nobody-${randomUUID()}`,
      searchAttributes: { ApprovalIds: [nobodys] },
    });
    strangers.push(carrier);
    await eventually('its row', async () => (await workflow.count(`ApprovalIds = "${nobodys}"`)).count === 1);
    await expect(world.client.decide({ requestId: nobodys, approved: true })).rejects.toMatchObject({
      code: 'no_worker',
      message: expect.stringContaining(`'${carrier.workflowId}' lists its id and could not be asked`),
    });
    expect(await signalsIn(carrier)).toBe(0);
  });

  test('a named run that does not list the request: recorded there, and the receipt expresses the doubt', async () => {
    const other = await stranger({ memo: copied });
    const { workflowId } = other;
    const doubt = `It went to run '${workflowId}', whose memo does not list request ${requestId}: it counts only if that run has it.`;
    const recorded = { accepted: true, recorded: true, message: expect.stringContaining(doubt) };
    expect(await world.client.decide({ requestId, approved: true }, { workflowId })).toMatchObject(recorded);
    expect(await world.client.delegate({ requestId, to: 'bob' }, { workflowId })).toMatchObject(recorded);
  });

  test("a request that did not fit into its run's memo is found, and the receipt expresses the doubt", async () => {
    await world.startWorker();
    const calls = Array.from({ length: 45 }, (_, index) => ({ tool: 'pay', args: { to: `p${index}`, amount: index } }));
    const large = await world.start([{ calls }, { text: 'done' }], {
      policy: { version: 1, approval: { max_pending: 50 } },
    });
    const last = (await large.open(45)).at(-1)!.requestId;
    await world.stopWorker();
    const receipt = await world.client.decide({ requestId: last, approved: true });
    expect(receipt).toMatchObject({ accepted: true, recorded: true });
    expect(receipt.message).toContain(`run '${large.workflowId}', whose memo does not list request ${last}`);
    await large.handle.terminate();
  });

  test('the command line reports the same', async () => {
    const other = await stranger({ memo: forged });
    const ambiguous = await cli(['approve', requestId, '--namespace', namespace]);
    expect(ambiguous).toMatchObject({ code: 3, stdout: '', stderr: both(run.workflowId, other.workflowId) });
    const named = await cli(['approve', requestId, '--run', run.workflowId, '--unseen', '--namespace', namespace]);
    expect(named.code).toBe(0);
  });
});

describe('with workers', () => {
  test.each<[string, Row]>([
    ['the id alone', {}],
    ['a copy of the memo', { memo: copied }],
    ['a forged memo', { memo: forged }],
    ['the tag of a settled request', { isSettled: true }],
  ])('a row with %s, whose workflow lacks the request: the run that asks is found', async (_what, row) => {
    const other = await stranger({ ...row, taskQueue: foreign.taskQueue });
    expect(await world.client.decide({ requestId, approved: true })).toMatchObject({ outcome: 'approved' });
    expect(await other.query('asked')).toBe(0);
    await expect(run.result()).resolves.toMatchObject({ outcomes: [{ outcome: 'approved', ran: 'yes' }] });
  });

  test('the inbox shows the request only with the run that asks', async () => {
    const other = await stranger({ memo: copied });
    const { approvals } = await world.client.approvals.list();
    expect(approvals.filter((row) => row.requestId === requestId).map(({ workflowId }) => workflowId)).toEqual([
      run.workflowId,
    ]);
    const { workflowId } = other;
    expect(await world.client.approvals.list({ workflowId })).toEqual({ approvals: [], more: 0, unread: [] });
    await expect(world.client.show(workflowId)).resolves.toMatchObject({ open: [] });
    await run.handle.terminate();
  });
});
