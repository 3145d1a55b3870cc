/**
 * The command line while no worker lives: what it shows, and that it approves nothing that could not be read. It waits
 * seconds for a worker, so the tests run side by side, each on its own request.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RunInput } from '../../../src/contract.ts';
import { type World, openWorld } from '../../support/world.ts';
import { type CliResult, cli, jsonLines } from './support.ts';

let world: World;
const shownFields = { all: ['to', 'amount'], one: ['amount'], none: [], sent: ['amount'], denied: [] };
type Name = keyof typeof shownFields;
/** Ids of requests that wait and of their runs, by what their policy shows and what is done with them. */
const ids = {} as Record<Name, string>;
const runs = {} as Record<Name, string>;
beforeAll(async () => {
  world = await openWorld();
  for (const [name, fields] of Object.entries(shownFields) as [Name, string[]][]) {
    const approval = { timeout: '1h', ...(fields.length > 0 && { show: { pay: fields } }) };
    const policy: RunInput['policy'] = { version: 1, rules: [], approval };
    const run = await world.start([{ calls: [{ tool: 'pay', args: { to: 'ann', amount: 120 } }] }, { text: 'end' }], {
      policy,
    });
    const [request] = await run.open();
    ids[name] = request!.requestId;
    runs[name] = run.workflowId;
  }
  await world.stopWorker();
});
afterAll(async () => {
  for (const workflowId of Object.values(runs)) await world.client.closeRun(workflowId).catch(() => undefined);
  await world.close();
});

const rowOf = (result: CliResult) => jsonLines(result)[0];

test.concurrent('the list shows what `show` names, and names the rest', async () => {
  expect(rowOf(await cli(['approvals', '--run', runs.one]))).toMatchObject({
    shownArguments: { amount: '120' },
    notShown: ['to'],
    shown: 'part',
  });
});

test.concurrent('approvals show prints what is known without a worker, and says so', async () => {
  const shown = await cli(['approvals', 'show', ids.one, '--json', 'toolName,shownArguments,notShown,severity']);
  expect([shown.code, rowOf(shown)]).toEqual([
    0,
    { toolName: 'pay', shownArguments: { amount: '120' }, notShown: ['to'], severity: 'medium' },
  ]);
  expect(shown.stderr).toMatch(/^No worker .*Only this is known of the request until one does\.\n$/s);
});

describe.concurrent('approve', () => {
  test.each([
    ['one', "'to'"],
    ['none', "'to', 'amount'"],
  ] as const)('refuses what could not all be read: %s shown', async (name, missing) => {
    expect(await cli(['approve', ids[name]])).toEqual({
      code: 2,
      stdout: '',
      stderr: `error: No worker answers, so you cannot see all that you would approve (not shown: ${missing}): start a worker, or add --unseen.\n`,
    });
  });

  test('sends what could be read, bound to what was shown', async () => {
    const result = await cli(['approve', ids.all, '--reviewer', 'ann']);
    expect([result.code, rowOf(result)]).toEqual([0, expect.objectContaining({ recorded: true })]);
    const { events } = await world.client.session.client.workflow.getHandle(runs.all).fetchHistory();
    const signal = events!.find((event) => event.workflowExecutionSignaledEventAttributes != null);
    const [payload] = signal!.workflowExecutionSignaledEventAttributes!.input!.payloads!;
    const [row] = (await world.client.approvals.list({ workflowId: runs.all })).approvals;
    expect(JSON.parse(Buffer.from(payload!.data!).toString())).toMatchObject({ approved: true, digest: row!.digest });
  });

  test('--unseen sends it all the same', async () => {
    const result = await cli(['approve', ids.sent.slice(0, 12), '--run', runs.sent, '--unseen']);
    expect([result.code, rowOf(result)]).toEqual([0, expect.objectContaining({ recorded: true })]);
  });

  test('deny never asks', async () => {
    expect((await cli(['deny', ids.denied])).code).toBe(0);
    const refused = await cli(['deny', ids.denied, '--unseen']);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('--unseen')]);
  });

  test('an id that no run has is still unknown', async () => {
    expect((await cli(['approve', '0'.repeat(32)])).code).toBe(3);
  });
});

test('a worker that comes back applies them, and then approve needs no flag', async () => {
  await world.startWorker();
  for (const [name, outcome] of [
    ['all', 'approved'],
    ['sent', 'approved'],
    ['denied', 'denied'],
  ] as const) {
    expect(await world.run(runs[name]).result()).toMatchObject({ outcomes: [{ requestId: ids[name], outcome }] });
  }
  const run = await world.start([{ calls: [{ tool: 'pay', args: { to: 'bob', amount: 1 } }] }, { text: 'end' }]);
  const [request] = await run.open();
  expect((await cli(['approve', request!.requestId])).code).toBe(0);
});
