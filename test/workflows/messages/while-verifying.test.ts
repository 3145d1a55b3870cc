import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Client } from '@temporalio/client';
import { projectHistories } from '../../support/read-histories.ts';
import { activityNames, queryNames, type Receipt } from '../../../src/contract.ts';
import { eventually } from '../../support/eventually.ts';
import { inTime } from '../../support/in-time.ts';
import { testAgent } from '../../support/test-agent.ts';
import type { RunInTest, World } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';

/** While a continued execution verifies its past, messages to it wait for the result and keep their time (I6, I11). */

let world: World;
beforeAll(async () => {
  // One slot: a tool that holds it keeps the verification waiting.
  world = await openWorld({
    continueAsNewAfter: { historyEvents: 40 },
    maxConcurrentActivityTaskExecutions: 1,
    agentsIn: (folder) => [testAgent(folder, undefined, { heartbeatTimeoutMs: 60_000 })],
  });
});
afterAll(() => world.close());

/** Starts a run of a tool that takes the slot, and waits until it has. */
async function holdSlot(name: string): Promise<RunInTest> {
  const run = await world.start([{ calls: [{ tool: 'hold', args: { name } }] }, { text: 'done' }], {
    policy: { version: 1, rules: [{ pattern: 'hold', action: 'allow' }] },
  });
  await eventually('the slot is taken', () => world.ran().includes(`start ${name}`));
  return run;
}

const releaseSlot = (name: string): void => writeFileSync(join(world.folder, `release-${name}`), '');

async function verifies(run: RunInTest): Promise<boolean> {
  const { raw } = await run.handle.describe();
  const pending = raw.pendingActivities ?? [];
  return pending.some(({ activityType }) => activityType?.name === activityNames.verifyCarried);
}

test('decisions in time count after the deadline, refusals are counted, the journal is dense', async () => {
  const calls = [1, 2, 3].map((amount) => ({ tool: 'pay', args: { to: 'slow', amount } }));
  const slots: string[] = [];
  const { played } = await inTime(15, async (seconds) => {
    for (const name of slots) releaseSlot(name);
    const run = await world.start([{ calls }, { text: 'done' }], {
      policy: { version: 1, approval: { timeout: `${seconds}s` } },
    });
    const [first, second, third] = await run.open(3);
    slots.push(`slot-${seconds}`);
    const holding = await holdSlot(slots.at(-1)!);
    let noises = 0;
    await eventually('the run continues as new and verifies', async () => {
      if (await verifies(run)) return true;
      await run.handle.signal('noise');
      noises += 1;
      return false;
    });
    await run.handle.signal('noise');
    noises += 1;
    await run.handle.signal('decide', { requestId: first!.requestId, approved: true });
    const sent = run.handle.executeUpdate<Receipt, [object]>('decide', {
      args: [{ requestId: second!.requestId, approved: true }],
    });
    // One that comes too late is refused.
    const update = sent.catch((error: unknown) => error);
    await eventually('the update is accepted', async () => {
      const { events } = await run.handle.fetchHistory();
      return (events ?? []).some((event) => event.workflowExecutionUpdateAcceptedEventAttributes != null);
    });
    return { run, holding, noises, update, deadline: third!.deadline!, isVerifying: await verifies(run) };
  });
  const { run, holding, noises, update, deadline, isVerifying } = played;
  expect(isVerifying).toBe(true);
  await eventually('the deadline passes', () => Date.now() > Date.parse(deadline) + 500);
  for (const name of slots) releaseSlot(name);
  expect(await update).toMatchObject({ accepted: true, outcome: 'approved' });
  const { outcomes } = await run.result();
  expect(outcomes.map(({ callId, outcome, ran }) => `${callId} ${outcome} ${ran}`).toSorted()).toEqual([
    '1.1 approved yes',
    '1.2 approved yes',
    '1.3 expired no',
  ]);
  expect((await run.status()).counts.refused).toBe(noises);
  const { executions } = await world.client.historyChain(run.workflowId);
  expect(projectHistories(executions).gaps).toEqual([]);
  await holding.result();
});

test('a close that comes meanwhile cancels what was carried', async () => {
  const run = await world.start([{ calls: [{ tool: 'pay', args: { to: 'closed', amount: 1 } }] }, { text: 'done' }]);
  await run.open();
  const holding = await holdSlot('again');
  await eventually('the run continues as new', async () => {
    await run.handle.signal('noise');
    return (await world.client.historyChain(run.workflowId)).executions.length > 1;
  });
  await run.handle.signal('close', { reason: 'enough' });
  releaseSlot('again');
  const { status, outcomes } = await run.result();
  expect({ status, outcomes }).toMatchObject({ status: 'closed', outcomes: [{ outcome: 'cancelled', ran: 'no' }] });
  await holding.result();
});

test('queries do not answer as if there were nothing, in a run that is terminated meanwhile neither', async () => {
  const run = await world.start([{ calls: [{ tool: 'pay', args: { to: 'asked', amount: 1 } }] }, { text: 'done' }]);
  const [request] = await run.open();
  const holding = await holdSlot('queries');
  await eventually('the run continues as new and verifies', async () => {
    if (await verifies(run)) return true;
    await run.handle.signal('noise');
    return false;
  });
  const plain = new Client({ connection: world.client.session.connection }).workflow.getHandle(run.workflowId);
  for (const name of Object.values(queryNames)) await expect(plain.query(name)).rejects.toThrow('continuing as new');
  await expect(world.client.run(run.workflowId).status()).rejects.toMatchObject({ code: 'no_worker' });
  const { approvals } = await world.client.approvals.list({ workflowId: run.workflowId });
  expect(approvals.map(({ requestId }) => requestId)).toEqual([request!.requestId]);
  await run.handle.terminate();
  await expect(plain.query(queryNames.approvals)).rejects.toThrow('continuing as new');
  releaseSlot('queries');
  await holding.result();
});
