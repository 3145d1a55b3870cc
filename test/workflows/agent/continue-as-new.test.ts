import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import { inTime } from '../../support/in-time.ts';
import type { RunInTest } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';

/** Continue-as-new carries everything open (I11). The limit is low, so that a few signals reach it. */

const world = forAllTests(() => openWorld({ continueAsNewAfter: { historyEvents: 40 } }));

const noise = (run: RunInTest): Promise<void> => run.handle.signal('noise');
const executions = async (run: RunInTest): Promise<number> => (await run.status()).executions;
const eventNames = async (run: RunInTest): Promise<string[]> => {
  const chain = await world.client.historyChain(run.workflowId);
  return chain.executions.map(({ events }) => String(events.at(-1)?.eventType));
};
const continuedAsNew = '28';

test('five open requests and decisions in flight: same requests, same deadlines, each decided once', async () => {
  const calls = Array.from({ length: 5 }, (_, amount) => ({ tool: 'pay', args: { to: 'chain', amount } }));
  const run = await world.start([{ calls }, { text: 'done' }]);
  const before = await run.open(5);
  await eventually('the run continues as new', async () => {
    await noise(run);
    return (await executions(run)) >= 2;
  });
  expect(await run.open(5)).toEqual(before);
  const { searchAttributes, memo } = await run.handle.describe();
  expect(searchAttributes['ApprovalIds']).toEqual(before.map(({ requestId }) => requestId));
  expect((memo!['approvals'] as { open: unknown[] }).open).toHaveLength(5);
  // Decisions while the run keeps continuing as new: by signal and by update, among noise.
  const executionsBefore = await executions(run);
  const growth = new AbortController();
  const growing = (async () => {
    while (!growth.signal.aborted) await noise(run).catch(() => undefined);
  })();
  await eventually('another execution', async () => (await executions(run)) > executionsBefore);
  const receipts = await Promise.all(
    before.map(({ requestId }, index) =>
      index % 2 === 0
        ? run.handle.signal('decide', { requestId, approved: true })
        : world.client.decide({ requestId, approved: false, reason: 'even' }, { workflowId: run.workflowId }),
    ),
  );
  growth.abort();
  await growing;
  expect(receipts).toHaveLength(5);
  const { outcomes, status } = await run.result();
  expect(status).toBe('completed');
  expect(outcomes.filter(({ outcome, ran }) => outcome === 'approved' && ran === 'yes')).toHaveLength(3);
  expect(outcomes.filter(({ outcome, ran }) => outcome === 'denied' && ran === 'no')).toHaveLength(2);
  expect(
    world
      .ran()
      .filter((line) => line.startsWith('pay chain '))
      .sort(),
  ).toEqual(['pay chain 0', 'pay chain 2', 'pay chain 4']);
  const ends = await eventNames(run);
  expect(ends.length).toBeGreaterThanOrEqual(3);
  expect(ends.slice(0, -1).every((end) => end === continuedAsNew)).toBe(true);
});

test('requested while a tool runs: the tool finishes first, and a call approved meanwhile runs afterwards', async () => {
  const run = await world.start(
    [
      {
        calls: [
          { tool: 'hold', args: { name: 'long' } },
          { tool: 'pay', args: { to: 'later', amount: 9 } },
        ],
      },
      { text: '{{lastResult}}' },
    ],
    { policy: { version: 1, rules: [{ pattern: 'hold', action: 'allow' }] } },
  );
  const [request] = await run.open();
  await eventually('the tool runs', () => world.ran().includes('start long'));
  await eventually('the budget is passed', async () => {
    await noise(run);
    return (await run.handle.describe()).historyLength > 45;
  });
  await run.handle.executeUpdate('decide', { args: [{ requestId: request!.requestId, approved: true }] });
  expect(await executions(run)).toBe(1);
  expect(world.ran()).not.toContain('pay later 9');
  writeFileSync(join(world.folder, 'release-long'), '');
  const { output, outcomes } = await run.result();
  expect(output).toBe('paid 9 to later');
  expect(outcomes.map(({ toolName, ran }) => [toolName, ran])).toEqual(
    expect.arrayContaining([
      ['hold', 'yes'],
      ['pay', 'yes'],
    ]),
  );
  expect(world.ran().filter((line) => line === 'start long' || line === 'pay later 9')).toHaveLength(2);
  expect((await eventNames(run)).length).toBeGreaterThanOrEqual(2);
});

test('a deadline is carried unchanged, and the next execution keeps it', async () => {
  const { played, seconds } = await inTime(8, async (timeoutS) => {
    const late = await world.start(
      [{ calls: [{ tool: 'pay', args: { to: 'late', amount: 1 } }] }, { text: '{{lastResult}}' }],
      { policy: { version: 1, approval: { timeout: `${timeoutS}s` } } },
    );
    const [before] = await late.open();
    await eventually('the run continues as new', async () => {
      await noise(late);
      return (await executions(late)) >= 2;
    });
    return { run: late, before, after: (await late.open())[0] };
  });
  const { run, before, after } = played;
  expect(after!.deadline).toBe(before!.deadline);
  expect((await run.result()).output).toBe(`Denied: no decision within ${seconds}s`);
});

test('a starter cannot supply state: the second argument of a start is not read (I1)', async () => {
  const forged = {
    state: {
      config: { agent: 'tester', tools: [], maxTurns: 9 },
      messages: [],
      turn: 0,
      calls: [],
      usage: {},
      executions: 7,
    },
    gate: { ledger: { open: [] }, journal: [] },
  };
  const workflowId = `forged-${Date.now()}`;
  const { client } = world.client.session;
  const handle = await client.workflow.start('agentRun', {
    workflowId,
    taskQueue: world.taskQueue,
    args: [{ agent: 'tester', input: '[{"text":"hello"}]' }, forged],
  });
  expect(await handle.result()).toMatchObject({ status: 'completed', output: 'hello' });
  expect(await handle.query('run')).toMatchObject({ executions: 1 });
});
