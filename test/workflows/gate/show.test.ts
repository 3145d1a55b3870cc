/** `show` on real runs: what lists and Temporal's history say of a waiting call while no worker lives. */
import { afterAll, afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { defaultPayloadConverter } from '@temporalio/common';
import { z } from 'zod';
import { defineAgent } from '../../../src/agents/define-agent.ts';
import { defineTool } from '../../../src/agents/define-tool.ts';
import type { ApprovalMemo } from '../../../src/core/ledger/approval-index.ts';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';
import { eventually } from '../../support/eventually.ts';
import { openGatedWorld } from '../../support/gated-world.ts';
import { promptScripted } from '../../support/prompt-scripted.ts';
import { openWorld, type RunInTest, type World, type WorldOptions } from '../../support/world.ts';

const text = z.string();
const refund = defineTool({
  name: 'refund',
  description: 'Pays a customer back.',
  input: z.object({ amount: z.number(), recipient: text, note: text.optional() }),
  show: ['amount', 'recipient'],
  describe: ({ amount, recipient, note = '' }) => `Refund ${amount} to ${recipient} ${note}`.trim(),
  execute: () => 'done',
});
const mail = defineTool({
  name: 'send_mail',
  description: 'Sends mail.',
  input: z.object({ to: text, body: text }),
  execute: () => 'done',
});
const secret = 'qzxmarker';
const call = { tool: 'refund', args: { amount: 120.5, recipient: 'ann@acme.com', note: secret } };

/** By their options. */
const worlds = new Map<string, Promise<World>>();
function open(options: WorldOptions = {}): Promise<World> {
  const key = JSON.stringify(options);
  const world =
    worlds.get(key) ??
    openWorld({
      agentsIn: () => [
        defineAgent({ name: 'tester', instructions: 'Play.', model: promptScripted(), tools: [refund, mail] }),
      ],
      ...options,
    });
  worlds.set(key, world);
  return world;
}

const runs: RunInTest[] = [];
async function waiting(world: World, calls: object[], policy?: object): Promise<RunInTest> {
  const run = await world.start(
    [{ calls } as never, { text: 'end' }],
    policy === undefined ? {} : ({ policy } as never),
  );
  runs.push(run);
  await run.open(calls.length);
  return run;
}

afterEach(async () => {
  for (const run of runs.splice(0)) await run.handle.terminate();
});
afterAll(async () => {
  for (const world of worlds.values()) await (await world).close();
});

async function memoOf({ handle }: RunInTest): Promise<ApprovalMemo> {
  const { memo } = await handle.describe();
  return memo!['approvals'] as ApprovalMemo;
}

/** The summaries of the timers in a run's history. */
async function timers({ handle }: RunInTest): Promise<unknown[]> {
  const { events = [] } = await handle.fetchHistory();
  return events!
    .filter(({ timerStartedEventAttributes: timer }) => timer != null)
    .map(({ userMetadata }) => defaultPayloadConverter.fromPayload(userMetadata!.summary!));
}

test('without a worker, lists, memo and timer show what the tool names, and name the rest', async () => {
  const world = await open();
  const run = await waiting(world, [call]);
  const [request] = await run.open();
  await world.stopWorker();
  onTestFinished(() => world.startWorker());
  const shown = { shownArguments: { amount: '120.5', recipient: 'ann@acme.com' }, notShown: ['note'], shown: 'part' };
  const { approvals } = await world.client.approvals.list({ workflowId: run.workflowId });
  expect(approvals).toMatchObject([{ argumentNames: ['amount', 'recipient', 'note'], ...shown }]);
  const memo = await memoOf(run);
  expect(memo.open).toMatchObject([shown]);
  expect(await timers(run)).toEqual([
    `refund(amount: 120.5, recipient: ann@acme.com, note) · until ${request!.deadline!.slice(0, 16).replace('T', ' ')} UTC` +
      ` · countersign approve ${request!.requestId.slice(0, 8)}`,
  ]);
  expect(JSON.stringify([approvals, memo, await timers(run)])).not.toContain(secret);
  expect(approvals[0]).not.toHaveProperty('sentence');
});

test('if everything is shown in full, the row says so', async () => {
  const world = await open();
  const run = await waiting(world, [{ tool: 'refund', args: { amount: 1, recipient: 'ann' } }]);
  expect((await memoOf(run)).open).toMatchObject([{ shown: 'all', notShown: [], sentence: 'Refund 1 to ann' }]);
});

test('cut and redacted values are named', async () => {
  const world = await open({ policy: { rules: [], approval: { show: { send_mail: ['to', 'body'] } } } });
  const args = { to: 'postgres://app:hunter2@db/x', body: 'x'.repeat(300) };
  const run = await waiting(world, [{ tool: 'send_mail', args }]);
  expect((await memoOf(run)).open).toMatchObject([
    {
      shownArguments: { to: 'postgres://app:[PASSWORD]@db/x', body: `${'x'.repeat(200)}… [100 more characters]` },
      notShown: ['to', 'body'],
      shown: 'part',
    },
  ]);
});

describe('the policies', () => {
  test.each<[string, object, object | undefined, Record<string, string> | undefined]>([
    ['of operator and run add names', { 'ref*': ['note'] }, undefined, { ...all() }],
    ['of the run adds names', {}, { show: { refund: ['note'] } }, { ...all() }],
    ['of the operator says false', { show: false }, { show: { refund: ['note'] } }, undefined],
    ['of the run says false', {}, { show: false }, undefined],
  ])('%s', async (_name, ceiling, run, expected) => {
    const approval = 'show' in ceiling ? ceiling : { show: ceiling };
    const world = await open({ policy: { rules: [], approval } });
    const started = await waiting(world, [call], run && { rules: [], approval: run });
    const { open: rows } = await memoOf(started);
    expect(rows).toHaveLength(1);
    expect(rows[0]!.shownArguments).toEqual(expected);
    const label = String((await timers(started))[0]);
    expect(label).toContain(expected === undefined ? 'refund(amount, recipient, note)' : 'recipient: ann@acme.com');
  });

  function all(): Record<string, string> {
    return { amount: '120.5', recipient: 'ann@acme.com', note: secret };
  }

  test('that change change what the memo shows; what was hidden at first stays hidden', async () => {
    const world = await open();
    const run = await waiting(world, [call]);
    const set = async (approval: JsonObject): Promise<Record<string, string> | undefined> => {
      await world.client.setPolicy(run.workflowId, { policy: { rules: [], approval } });
      return (await memoOf(run)).open[0]!.shownArguments;
    };
    expect(await set({ show: { refund: ['note'] } })).toEqual(all());
    expect(await set({ show: false })).toBeUndefined();
    expect(await set({})).toEqual({ amount: '120.5', recipient: 'ann@acme.com' });
    expect(await set({ include_arguments: false })).toBeUndefined();
    const hidden = await waiting(world, [call], { rules: [], approval: { include_arguments: false } });
    const policy = { rules: [], approval: { include_arguments: true, show: { refund: ['note'] } } };
    await world.client.setPolicy(hidden.workflowId, { policy });
    expect((await memoOf(hidden)).open[0]!.shownArguments).toBeUndefined();
  });
});

test('an edited call that is asked about again shows its own arguments', async () => {
  const world = await open();
  const run = await waiting(world, [call]);
  const [request] = await run.open();
  const modifiedArguments = { amount: 7, recipient: 'bob@acme.com' };
  const ask = { rules: [{ pattern: 'refund', action: 'ask', ask: { reviewers: ['ann', 'bob'], quorum: 2 } }] };
  await world.client.setPolicy(run.workflowId, { policy: ask });
  const { requestId } = request!;
  await world.client.decide({ requestId, approved: true, modifiedArguments, reviewerId: 'ann' });
  const rows = await eventually('the edited call is asked about', async () => {
    const { open: found } = await memoOf(run);
    return found[0]?.requestId !== requestId && found;
  });
  expect(rows).toMatchObject([{ shownArguments: { amount: '7', recipient: 'bob@acme.com' }, shown: 'all' }]);
});

test('a gated activity shows what its declaration names', async () => {
  const world = await openGatedWorld({
    policy: { version: 1, rules: [{ pattern: '*', action: 'ask' }], approval: { show: { pay: ['amount'] } } },
  });
  try {
    const handle = await world.start('inTurn', [
      { name: 'order', args: [{ item: 'tea', cups: 2 }] },
      { name: 'pay', args: ['ann', 1] },
    ]);
    for (const expected of [
      { shownArguments: { item: 'tea' }, notShown: ['cups'] },
      { shownArguments: { amount: '1' }, notShown: ['to'] },
    ]) {
      const [request] = await world.open(handle);
      const { memo } = await handle.describe();
      expect((memo!['approvals'] as ApprovalMemo).open).toMatchObject([expected]);
      await world.client.decide({ requestId: request!.requestId, approved: true });
      await eventually('it is settled', async () => {
        const { memo: later } = await handle.describe();
        return !JSON.stringify(later!['approvals']).includes(request!.requestId);
      });
    }
    await handle.result();
  } finally {
    await world.close();
  }
});
