import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { countEvents } from '../../../bench/event-counts.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { projectHistories } from '../../support/read-histories.ts';
import type { ApprovalRequest } from '../../../src/contract.ts';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';
import { eventually } from '../../support/eventually.ts';
import { startForeignWorker, type ForeignWorker } from '../../support/foreign-worker.ts';
import { sharedBundle } from '../bundles/shared-bundle.ts';
import { callOf, last, once, pay, rule, team, yes } from '../../support/team.ts';
import type { RunInTest, Turns, World } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';

/**
 * A change of a run's policy reaches the nested runs in flight, at every depth, whether it tightens or loosens (I10).
 */

const world = forAllTests(() => openWorld({ agentsIn: (folder) => team(folder) }));

const setPolicy = (run: RunInTest, message: object) => run.handle.executeUpdate('setPolicy', { args: [message] });
const asked = (run: RunInTest): Promise<ApprovalRequest> =>
  eventually('it asks', async () => (await run.open().catch(() => []))[0]);
const settled = (run: RunInTest, requestId: string) =>
  eventually('it is settled', async () => {
    const found = await run.handle.query<{ settled?: object } | null, [object]>('approvals', { requestId });
    return found?.settled;
  });

/** A run that called an agent, which requests a payment. */
async function asking(to: string, more: object[] = [], policy?: JsonObject) {
  const call = callOf('researcher', { calls: [pay(to)] }, ...more, last);
  const run = await world.start(once(call), policy === undefined ? {} : { policy });
  const nested = world.run(`${run.workflowId}/1.1`);
  return { run, nested, request: await asked(nested) };
}

test('tightened: its open request is denied, and so is its next call', async () => {
  const { run, nested, request } = await asking('tight', [{ calls: [pay('next')] }]);
  await setPolicy(run, { policy: rule('pay', 'deny', { reason: 'The bank is closed' }) });
  expect(await settled(nested, request.requestId)).toMatchObject({ outcome: 'superseded', runs: false, by: 'policy' });
  expect((await run.result()).output).toBe('Denied: The bank is closed');
  expect(world.ran()).not.toContain('pay tight 1');
  expect(world.ran()).not.toContain('pay next 1');
  const { gaps } = projectHistories([await nested.handle.fetchHistory()]);
  expect(gaps).toEqual([]);
});

test("other reviewers are asked; loosened: calls that only the calling run's policy asked about run, now and later", async () => {
  const { run, nested, request } = await asking('loose', [{ calls: [pay('later')] }], rule('pay', 'ask'));
  await setPolicy(run, { policy: rule('pay', 'ask', { ask: { reviewers: ['ann'] } }) });
  await eventually('others are asked', async () => {
    const [now] = await nested.open();
    return now!.reviewers.includes('ann') && now!.requestId === request.requestId;
  });
  await setPolicy(run, { policy: rule('pay', 'allow') });
  expect(await settled(nested, request.requestId)).toMatchObject({ outcome: 'superseded', runs: true });
  expect((await run.result()).output).toBe('paid 1 to later');
  expect(world.ran()).toEqual(expect.arrayContaining(['pay loose 1', 'pay later 1']));
});

test("what the nested agent's own policy asks about is asked, however loose the calling run becomes", async () => {
  const own = await openWorld({ agentsIn: (folder) => team(folder, { researcher: rule('pay', 'ask') }) });
  const run = await own.start(once(callOf('researcher', { calls: [pay('own')] }, last)));
  const nested = own.run(`${run.workflowId}/1.1`);
  const { requestId } = await asked(nested);
  await setPolicy(run, { mode: 'bypassPermissions' });
  await policyEntries(nested, 1);
  expect(await nested.open()).toMatchObject([{ requestId }]);
  await nested.handle.signal('decide', yes(requestId));
  expect((await run.result()).output).toBe('paid 1 to own');
  await own.close();
});

test("a change reaches the runs below the nested one, and so does the nested run's own change", async () => {
  const clerk = callOf('clerk', { calls: [pay('deep')] }, { calls: [pay('deeper')] }, last);
  const run = await world.start(once(callOf('researcher', { calls: [clerk] }, last)));
  const middle = world.run(`${run.workflowId}/1.1`);
  const deepest = world.run(`${run.workflowId}/1.1/1.1`);
  const { requestId } = await asked(deepest);
  await setPolicy(middle, { policy: rule('pay:deep', 'ask', { reason: 'The middle asks' }) });
  await eventually('the change in the middle', async () => (await deepest.open())[0]!.reason === 'The middle asks');
  await setPolicy(run, { policy: rule('pay', 'deny', { reason: 'The top denies' }) });
  expect(await settled(deepest, requestId)).toMatchObject({ outcome: 'superseded', runs: false });
  expect((await run.result()).output).toBe('Denied: The top denies');
});

test('policies that became too large to inherit: no run is started, and the journal keeps its entries', async () => {
  const unused = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      pattern: `none${index}`,
      action: 'ask',
      reason: 'r'.repeat(1_000),
    }));
  const own = await openWorld({
    agentsIn: (folder) => team(folder, { researcher: { version: 1, rules: unused(860) } }),
  });
  const clerk = callOf('clerk', { text: 'found' });
  const run = await own.start(once(callOf('researcher', { calls: [clerk] }, last)), { policy: rule('clerk', 'ask') });
  const nested = own.run(`${run.workflowId}/1.1`);
  const { requestId } = await asked(nested);
  const rules = [{ pattern: 'clerk', action: 'ask', reason: 'Large' }, ...unused(150)];
  await setPolicy(run, { policy: { version: 1, rules } });
  await eventually('the change arrives', async () => (await nested.open())[0]!.reason === 'Large');
  await nested.handle.signal('decide', yes(requestId));
  expect((await run.result()).output).toMatch(/the policies that bind agent 'clerk' have \d+ bytes; at most 1000000/);
  expect(projectHistories([await nested.handle.fetchHistory()]).gaps).toEqual([]);
  await own.close();
});

test('it costs two events in the calling run and four in the nested one, apart from tasks', async () => {
  const { run, nested, request } = await asking('counted');
  await setPolicy(run, { mode: 'dontAsk' });
  await settled(nested, request.requestId);
  await run.result();
  expect(countEvents(await run.handle.fetchHistory())).toMatchObject({
    signalExternalWorkflowExecutionInitiated: 1,
    externalWorkflowExecutionSignaled: 1,
  });
  // The agent is loaded, its model is called twice, and the signal is verified.
  expect(countEvents(await nested.handle.fetchHistory())).toMatchObject({
    workflowExecutionSignaled: 1,
    activityTaskScheduled: 4,
    activityTaskCompleted: 4,
  });
});

test('it is carried when the nested run continues as new, and a later one reaches the new execution (I11)', async () => {
  const own = await openWorld({ agentsIn: (folder) => team(folder), continueAsNewAfter: { historyEvents: 40 } });
  const turns = [{ calls: [pay('rolled')] }, { calls: [pay('never')] }, { calls: [pay('last')] }, last];
  const run = await own.start(once(callOf('researcher', ...turns)));
  const nested = own.run(`${run.workflowId}/1.1`);
  const { requestId } = await asked(nested);
  await setPolicy(run, { policy: rule('pay:never', 'deny', { reason: 'Never' }) });
  await policyEntries(nested, 1);
  await eventually('it has continued as new', async () => {
    await nested.handle.signal('noise');
    return (await nested.status()).executions >= 2;
  });
  await nested.handle.signal('decide', yes(requestId));
  const third = await eventually('the third call is asked about', async () =>
    (await nested.open()).find(({ arguments: args }) => args['to'] === 'last'),
  );
  expect((await nested.status()).outcomes).toMatchObject([{ outcome: 'approved' }, { outcome: 'denied_by_policy' }]);
  await setPolicy(run, { policy: rule('pay', 'deny', { reason: 'Nobody pays' }) });
  expect(await settled(nested, third.requestId)).toMatchObject({ outcome: 'superseded', runs: false });
  expect((await run.result()).output).toBe('Denied: Nobody pays');
  await own.close();
});

describe('a nested run that cannot be told at once', () => {
  let late: World;
  beforeAll(async () => {
    const workflowBundle = await sharedBundle('late-telling-workflows.ts');
    late = await openWorld({ agentsIn: (folder) => team(folder), workflowBundle });
  });
  afterAll(() => late.close());
  const call = callOf('researcher', { calls: [pay('late')] }, last);

  test('it has just ended: the failed signal does not affect the calling run', async () => {
    const run = await late.start([{ calls: [call] }, { calls: [pay('after')] }, last] as Turns);
    const nested = late.run(`${run.workflowId}/1.1`);
    await asked(nested);
    await setPolicy(run, { policy: rule('pay', 'ask') });
    await nested.handle.terminate('enough');
    const { requestId } = await asked(run);
    await run.handle.signal('go');
    await eventually('it is told in vain', async () => {
      const { signalExternalWorkflowExecutionFailed } = countEvents(await run.handle.fetchHistory());
      return signalExternalWorkflowExecutionFailed === 1;
    });
    await run.handle.signal('decide', yes(requestId));
    expect(await run.result()).toMatchObject({
      output: 'paid 1 to after',
      outcomes: [{ ran: 'unknown' }, { ran: 'yes' }],
    });
  });

  test('it is being started with the old policies of the calling run: it is told once it exists', async () => {
    const run = await late.start(once(call), { metadata: { late: 'start' } });
    await eventually('it is called', async () => (await run.status()).nested);
    await setPolicy(run, { policy: rule('pay', 'deny', { reason: 'Too late' }) });
    await run.handle.signal('go');
    // A request that it opened meanwhile, if any, is denied.
    expect((await run.result()).output).toBe('Denied: Too late');
    expect(countEvents(await run.handle.fetchHistory())).toMatchObject({ externalWorkflowExecutionSignaled: 1 });
  });
});

test('policies too large for a nested run: it is cancelled instead of running under the old ones', async () => {
  const large = (from: string) => ({
    version: 1,
    rules: Array.from({ length: 700 }, (_, index) => ({
      pattern: `${from}${index}${'✓'.repeat(240)}`,
      action: 'deny',
    })),
  });
  const own = await openWorld({ agentsIn: (folder) => team(folder, { tester: large('agent') }) });
  const run = await own.start(once(callOf('researcher', { calls: [pay('large')] }, last)));
  const nested = own.run(`${run.workflowId}/1.1`);
  await asked(nested);
  await setPolicy(run, { policy: large('run') });
  expect((await run.result()).output).toBe(`Cancelled: the run of agent 'researcher' was cancelled`);
  expect((await nested.handle.describe()).status.name).toBe('CANCELLED');
  await own.close();
});

describe('a signal with that name that does not come from the calling run changes nothing', () => {
  let foreign: ForeignWorker;
  beforeAll(async () => {
    foreign = await startForeignWorker();
  });
  afterAll(() => foreign.close());

  const loose = { policies: [] };
  const inForeign = (workflow: string, workflowId: string, ...args: unknown[]) =>
    world.client.session.client.workflow.start(workflow, { workflowId, taskQueue: foreign.taskQueue, args });

  test.each<[string, (nested: RunInTest) => Promise<unknown>, string?]>([
    ['from a client', ({ handle }) => handle.signal('parentsChanged', loose)],
    ['too large', ({ handle }) => handle.signal('parentsChanged', 'x'.repeat(1_900_000)), 'too_large'],
    ['nothing', ({ handle }) => handle.signal('parentsChanged'), 'forbidden'],
    [
      'from another workflow',
      async ({ workflowId }) =>
        (await inForeign('signals', `signals-${workflowId}`, workflowId, 'parentsChanged', loose)).result(),
    ],
  ])('%s', async (_, send, code = 'forbidden') => {
    const { run, nested, request } = await asking('forged', [{ calls: [{ tool: 'wipe' }] }]);
    await send(nested);
    const refused = await eventually('it is refused', async () => {
      const status = await nested.status();
      return status.refused.total > 0 && status.refused;
    });
    expect(refused).toMatchObject({ total: 1, last: [{ code }] });
    expect(await nested.open()).toEqual([request]);
    await nested.handle.signal('decide', yes(request.requestId));
    expect((await run.result()).output).toBe(`Denied: Policy denies 'wipe'`);
  });

  test('to a run that was not called', async () => {
    const run = await world.start([{ calls: [pay('root')] }, last] as Turns);
    await asked(run);
    await run.handle.signal('parentsChanged', loose);
    await eventually('it is refused', async () => (await run.status()).refused.total > 0);
    expect((await run.status()).refused.last).toMatchObject([{ code: 'invalid_message' }]);
    await run.handle.terminate();
  });

  test.each([
    ['no rules', { rules: 'none' }],
    ['kinds of redaction that are none', { redact: { patterns: [], kinds: 5 } }],
  ])('from the calling run, but unreadable (%s): everything is denied from then on', async (what, part) => {
    const policy = { version: 1, rules: [], riskDefaults: {}, approval: {} };
    const above = `above-${world.taskQueue}-${what.length}`;
    const input = {
      agent: 'lax',
      input: JSON.stringify([{ calls: [pay('unread')] }, last]),
      parent: { lineage: [above], policies: [policy] },
    };
    const nested = world.run(`${above}/nested`);
    const handle = await inForeign('isAbove', above, {
      taskQueue: world.taskQueue,
      workflowId: nested.workflowId,
      input,
    });
    const { requestId } = await asked(nested);
    await handle.signal('tell', { policies: [{ ...policy, ...part }] });
    expect(await settled(nested, requestId)).toMatchObject({ runs: false });
    expect(await handle.result()).toMatchObject({ output: 'Denied: The policies of the calling run cannot be read' });
  });
});

/** Waits until a run has journaled `count` changes of its policy. */
async function policyEntries(run: RunInTest, count: number): Promise<void> {
  await eventually(`${count} changes of the policy`, async () => {
    const { executions } = await world.client.historyChain(run.workflowId);
    const activities = executions
      .flatMap(({ events }) => events)
      .filter((event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'countersign.readParents');
    return activities.length >= count;
  });
}
