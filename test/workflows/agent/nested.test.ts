import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { countEvents } from '../../../bench/event-counts.ts';
import { projectHistories } from '../../support/read-histories.ts';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';
import { eventually } from '../../support/eventually.ts';
import { startForeignWorker, type ForeignWorker } from '../../support/foreign-worker.ts';
import { sharedAddress } from '../../support/shared-server.ts';
import { callOf, last, once, pay, rule, team, yes } from '../../support/team.ts';
import { killAll } from '../../support/ready-process.ts';
import { spawnWorker } from '../../support/worker-process.ts';
import type { RunInTest, Turns, World } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';

/**
 * An agent as a tool is a separate run: it opens its own requests, waits without an activity, and is never looser than
 * its caller (I10).
 */

let world: World;
beforeAll(async () => {
  world = await openWorld({ agentsIn: (folder) => team(folder), maxConcurrentActivityTaskExecutions: 1 });
});
afterAll(async () => {
  await killAll();
  await world.close();
});

const statusOf = async (run: RunInTest): Promise<string> => (await run.handle.describe()).status.name;

test('its answer is the result of the call, and its run can still be inspected', async () => {
  const look = { tool: 'look', args: { what: 'sea' } };
  const run = await world.start(once(callOf('researcher', { calls: [look] }, { text: 'I {{lastResult}}' })), {
    caller: { userId: 'ann' },
  });
  const { output, outcomes } = await run.result();
  expect(output).toBe('I saw sea');
  expect(outcomes).toEqual([{ callId: '1.1', toolName: 'researcher', outcome: 'allowed', ran: 'yes' }]);
  const nested = world.run(`${run.workflowId}/1.1`);
  expect(await nested.result()).toMatchObject({ status: 'completed', output: 'I saw sea' });
  expect(await nested.status()).toMatchObject({ agent: 'researcher' });
});

test('a request two levels deep is in the inbox by itself, with its lineage, and is decided by its id', async () => {
  const deep = callOf('clerk', { calls: [pay('deep')] }, last);
  const run = await world.start(once(callOf('researcher', { calls: [deep] }, last)), { caller: { userId: 'ann' } });
  const clerk = world.run(`${run.workflowId}/1.1/1.1`);
  const [request] = await eventually('the clerk asks', () => clerk.open().catch(() => undefined));
  expect(request).toMatchObject({
    workflowId: clerk.workflowId,
    agentName: 'clerk',
    callerUserId: 'ann',
    lineage: [run.workflowId, `${run.workflowId}/1.1`],
  });
  const { approvals } = await eventually('the inbox lists it', async () => {
    const list = await world.client.approvals.list({ agent: 'clerk' });
    return list.approvals.some(({ requestId }) => requestId === request!.requestId) && list;
  });
  const row = approvals.find(({ requestId }) => requestId === request!.requestId);
  expect(row).toMatchObject({ workflowId: clerk.workflowId, lineage: request!.lineage });
  const above = await run.status();
  expect(above).toMatchObject({ status: 'running', counts: { open: 0 } });
  expect(above.nested).toEqual([{ callId: '1.1', agent: 'researcher', workflowId: `${run.workflowId}/1.1` }]);
  // By the id of the request alone.
  expect(await world.client.decide(yes(request!.requestId))).toMatchObject({ accepted: true, outcome: 'approved' });
  expect((await run.result()).output).toBe('paid 1 to deep');
  expect(world.ran().filter((line) => line === 'pay deep 1')).toHaveLength(1);
  expect((await run.status()).nested).toBeUndefined();
});

test('while it waits, the history of the calling run already shows the call, without gaps', async () => {
  const run = await world.start(once(callOf('researcher', { calls: [pay('told')] }, last)));
  const nested = world.run(`${run.workflowId}/1.1`);
  const [request] = await eventually('it asks', () => nested.open().catch(() => undefined));
  const projected = async () => projectHistories([await run.handle.fetchHistory()]);
  const call = { callId: '1.1', toolName: 'researcher', outcome: 'allowed' };
  expect(await projected()).toMatchObject({ outcomes: [{ ...call, ran: 'pending' }], requests: [], gaps: [] });
  await nested.handle.signal('decide', yes(request!.requestId));
  await run.result();
  expect(await projected()).toMatchObject({ outcomes: [{ ...call, ran: 'yes' }], gaps: [] });
});

test.each<[string, JsonObject, string]>([
  ['deny', rule('pay', 'deny', { reason: 'Not from here' }), 'Denied: Not from here'],
  ['mode', { version: 1, mode: 'plan' }, 'Denied: Read-only mode'],
  [
    'deny for it by name',
    { version: 1, agents: { lax: { rules: [{ pattern: 'pay', action: 'deny' }] } } },
    `Denied: Policy denies 'pay'`,
  ],
])('a %s of the calling run binds an agent that allows itself everything', async (_, policy, expected) => {
  const run = await world.start(once(callOf('lax', { calls: [pay('bound')] }, last)), { policy });
  expect((await run.result()).output).toBe(expected);
  expect(world.ran()).not.toContain('pay bound 1');
});

test('if nothing binds the calling run, the risk defaults do, and they bind what it calls', async () => {
  const run = await world.start(once(callOf('lax', { calls: [{ tool: 'wipe' }] }, last)));
  expect((await run.result()).output).toBe(`Denied: Policy denies 'wipe'`);
});

test('a deny binds through an intermediate run that allows', async () => {
  const deep = callOf('clerk', { calls: [pay('through')] }, last);
  const run = await world.start(once(callOf('researcher', { calls: [deep] }, last)), {
    policy: {
      version: 1,
      rules: [
        { pattern: '*', action: 'allow' },
        { id: 'never', pattern: 'pay:through', action: 'deny' },
      ],
    },
  });
  expect((await run.result()).output).toBe(`Denied: Policy denies 'pay'`);
});

test("no change of a nested run's policy lifts it above its caller", async () => {
  const policy = {
    version: 1,
    rules: [
      { pattern: 'pay', action: 'ask' },
      { pattern: 'pay:never', action: 'deny' },
    ],
  };
  const turns = [{ calls: [pay('first')] }, { calls: [pay('never')] }, last];
  const run = await world.start(once(callOf('lax', ...turns)), { policy });
  const nested = world.run(`${run.workflowId}/1.1`);
  const [request] = await eventually('it asks', () => nested.open().catch(() => undefined));
  await nested.handle.executeUpdate('setPolicy', { args: [{ mode: 'bypassPermissions' }] });
  expect(await nested.open()).toMatchObject([{ requestId: request!.requestId }]);
  await nested.handle.signal('decide', yes(request!.requestId));
  expect((await run.result()).output).toBe(`Denied: Policy denies 'pay'`);
});

test("a change of the calling run's policy binds what it calls afterwards", async () => {
  const wait = { tool: 'pay', args: { to: 'wait', amount: 1 } };
  const call = callOf('lax', { calls: [pay('changed')] }, last);
  const run = await world.start([{ calls: [wait] }, { calls: [call] }, last] as Turns);
  const [request] = await run.open();
  await run.handle.executeUpdate('setPolicy', { args: [{ policy: rule('pay:changed', 'deny') }] });
  await run.handle.signal('decide', yes(request!.requestId));
  expect((await run.result()).output).toBe(`Denied: Policy denies 'pay'`);
});

describe('the call itself passes the gate', () => {
  const call = callOf('researcher', { text: 'found' });

  test('asked and approved: it runs only then', async () => {
    const run = await world.start(once(call), { policy: rule('researcher', 'ask') });
    const [request] = await run.open();
    expect(request).toMatchObject({ toolName: 'researcher', arguments: call.args, lineage: [] });
    await expect(world.run(`${run.workflowId}/1.1`).handle.describe()).rejects.toThrow();
    await run.handle.signal('decide', yes(request!.requestId));
    expect((await run.result()).output).toBe('found');
  });

  test('edited: it gets the edited task', async () => {
    const run = await world.start(once(call), { policy: rule('researcher', 'ask') });
    const [request] = await run.open();
    const modifiedArguments = { input: JSON.stringify([{ text: 'found something else' }]) };
    await run.handle.executeUpdate('decide', { args: [{ ...yes(request!.requestId), modifiedArguments }] });
    expect((await run.result()).output).toMatch(/found something else$/);
    expect(await world.run(`${run.workflowId}/1.1`).result()).toMatchObject({ output: 'found something else' });
  });

  test('denied: no run is started', async () => {
    const run = await world.start(once(call), { policy: rule('researcher', 'deny') });
    expect((await run.result()).output).toBe(`Denied: Policy denies 'researcher'`);
    await expect(world.run(`${run.workflowId}/1.1`).handle.describe()).rejects.toThrow();
  });
});

describe('how nested runs end', () => {
  const asking = (): Turns => once(callOf('researcher', { calls: [pay('ends')] }, last));
  const asked = async () => {
    const run = await world.start(asking());
    const nested = world.run(`${run.workflowId}/1.1`);
    const [request] = await eventually('it asks', () => nested.open().catch(() => undefined));
    return { run, nested, requestId: request!.requestId };
  };
  const isCancelled = async ({ nested, requestId }: Awaited<ReturnType<typeof asked>>) => {
    expect(await nested.handle.query('approvals')).toEqual([]);
    expect(await nested.handle.query('approvals', { requestId })).toMatchObject({ settled: { outcome: 'cancelled' } });
    const listed = (await nested.handle.describe()).searchAttributes['ApprovalIds'] ?? [];
    expect(listed.filter((id) => id !== null)).toEqual([]);
    expect(world.ran()).not.toContain('pay ends 1');
  };

  test("the calling run is cancelled: the nested run's request is cancelled before the calling run ends", async () => {
    const all = await asked();
    await all.run.handle.cancel();
    await expect(all.run.handle.result()).rejects.toThrow();
    expect([await statusOf(all.run), await statusOf(all.nested)]).toEqual(['CANCELLED', 'CANCELLED']);
    await isCancelled(all);
  });

  test('the calling run is terminated: the same', async () => {
    const all = await asked();
    await all.run.handle.terminate('enough');
    await eventually('the nested run is cancelled', async () => (await statusOf(all.nested)) === 'CANCELLED');
    await isCancelled(all);
  });

  test('only the nested run is cancelled: the calling model is told and continues', async () => {
    const all = await asked();
    await all.nested.handle.cancel();
    const { output, outcomes } = await all.run.result();
    expect(output).toBe(`Cancelled: the run of agent 'researcher' was cancelled`);
    expect(outcomes).toMatchObject([{ callId: '1.1', outcome: 'allowed', ran: 'unknown' }]);
    await isCancelled(all);
  });

  test('the calling run is closed: it waits only until the nested run has ended', async () => {
    const all = await asked();
    await all.run.handle.signal('close');
    expect(await all.run.result()).toMatchObject({ status: 'closed', outcomes: [{ ran: 'unknown' }] });
    expect(await statusOf(all.nested)).toBe('CANCELLED');
    await isCancelled(all);
  });

  test('the nested run is closed: the calling model is told, with its last words', async () => {
    const asking = { text: 'One moment.', calls: [pay('ends')] };
    const run = await world.start(once(callOf('researcher', asking)));
    const nested = world.run(`${run.workflowId}/1.1`);
    await eventually('it asks', () => nested.open().catch(() => undefined));
    await nested.handle.signal('close');
    const { output, outcomes } = await run.result();
    expect(output).toBe(`Cancelled: the run of agent 'researcher' was closed\nOne moment.`);
    expect(outcomes).toMatchObject([{ ran: 'yes' }]);
  });

  test('the nested run is terminated: its effect is unknown', async () => {
    const { run, nested } = await asked();
    await nested.handle.terminate('enough');
    const { output, outcomes } = await run.result();
    expect(output).toMatch(/^Unknown: /);
    expect(outcomes).toMatchObject([{ ran: 'unknown' }]);
  });

  test.each<[string, object[], string]>([
    ['fails', [{ error: { status: 400 } }], `Error: agent 'lax': The model at `],
    [
      'does not come to an end',
      Array.from({ length: 4 }, () => ({ calls: [{ tool: 'fly' }] })),
      `Error: agent 'lax': Stopped after 3 turns`,
    ],
  ])('an agent that %s: the calling model is told', async (_, turns, expected) => {
    const { output, outcomes } = await (await world.start(once(callOf('lax', ...turns)))).result();
    expect(output.slice(0, expected.length)).toBe(expected);
    expect(outcomes).toMatchObject([{ ran: 'yes' }]);
  });
});

test('agents that call one another endlessly stop at depth five', async () => {
  // mirror hands its run over to tester, which calls mirror again.
  const within = (depth: number): object[] => [
    { calls: [{ tool: 'transfer_to_tester' }] },
    { calls: [depth === 6 ? callOf('mirror', { text: 'too deep' }) : callOf('mirror', ...within(depth + 1))] },
    last,
  ];
  const run = await world.start(once(callOf('mirror', ...within(1))));
  expect((await run.result()).output).toBe('Error: agents may call agents 5 deep at most: do it without this tool');
  const deepest = `${run.workflowId}/1.1${'/2.1'.repeat(4)}`;
  expect(await world.run(deepest).result()).toMatchObject({ outcomes: [{}, { outcome: 'refused', ran: 'no' }] });
});

test('twelve that wait for a person leave the only activity slot free', async () => {
  const calls = Array.from({ length: 12 }, (_, index) => callOf('clerk', { calls: [pay('slot', index)] }, last));
  const run = await world.start([{ calls: [callOf('researcher', { calls }, { text: 'all done' })] }, last] as Turns);
  const clerks = calls.map((_, index) => world.run(`${run.workflowId}/1.1/1.${index + 1}`));
  const open = await eventually('all ask', async () => {
    const each = await Promise.all(
      clerks.map(({ handle }) => handle.query<{ requestId: string }[]>('approvals').catch(() => [])),
    );
    return each.every(({ length }) => length === 1) && each.flat();
  });
  // Another run gets the only slot.
  expect((await (await world.start([{ text: 'meanwhile' }])).result()).output).toBe('meanwhile');
  await Promise.all(clerks.map(({ handle }, index) => handle.signal('decide', yes(open[index]!.requestId))));
  expect((await run.result()).output).toBe('all done');
  expect(world.ran().filter((line) => line.startsWith('pay slot '))).toHaveLength(12);
});

test.each<[string, unknown]>([
  ['one that binds nothing', { lineage: ['run-x'], policies: [] }],
  ['one that is no object', 'run-x'],
  ['null', null],
])("a starter cannot set a run's parent: %s", async (_, parent) => {
  const run = await world.start([{ text: 'hello' }], { parent: parent as never });
  await expect(run.result()).rejects.toThrow(
    `The run's 'parent' is written by the run that starts a nested one: leave it out`,
  );
});

describe('a foreign workflow that starts a run and sets policies for it', () => {
  let foreign: ForeignWorker;
  beforeAll(async () => {
    foreign = await startForeignWorker();
  });
  afterAll(() => foreign.close());

  const above = 'foreign-above';
  const policy = { version: 1, rules: [], riskDefaults: {}, approval: {} };
  const started = (parent: object, turns: object[] = [{ calls: [pay('forged')] }, last]) => {
    const input = { agent: 'lax', input: JSON.stringify(turns), parent };
    return world.client.session.client.workflow.execute('startsRun', {
      workflowId: above,
      workflowIdConflictPolicy: 'TERMINATE_EXISTING',
      taskQueue: foreign.taskQueue,
      args: [{ taskQueue: world.taskQueue, input }],
    });
  };

  test('can only tighten', async () => {
    const policies = [{ ...policy, rules: [{ pattern: 'pay', action: 'deny', reason: 'Bound' }] }];
    expect(await started({ lineage: [above], policies })).toMatchObject({ output: 'Denied: Bound' });
  });

  test.each<[string, object, string]>([
    [
      'names another',
      { lineage: ['another'], policies: [] },
      `The run's 'parent' is written by the run that starts a nested one: leave it out`,
    ],
    [
      'names nobody',
      { policies: [] },
      `The run's 'parent' is written by the run that starts a nested one: leave it out`,
    ],
    [
      'is too deep',
      { lineage: ['a', 'b', 'c', 'd', 'e', above], policies: [] },
      `The run's 'parent.lineage': Too big: expected array to have <=5 items`,
    ],
    [
      'brings no policy',
      { lineage: [above], policies: [{ version: 1 }] },
      `The run's 'parent.policies.0.rules': Invalid input: expected array, received undefined`,
    ],
    [
      'brings a rule that is none',
      { lineage: [above], policies: [{ ...policy, rules: [{ pattern: 7, action: 'deny' }] }] },
      `The run's 'parent.policies.0.rules.0.pattern': Invalid input: expected string, received number`,
    ],
    [
      'brings people that are none',
      { lineage: [above], policies: [{ ...policy, directory: { people: { ann: { groups: 'all' } } } }] },
      `The run's 'parent.policies.0.directory.people.ann.groups': Invalid input: expected array, received string`,
    ],
    [
      'reminds a thousand times a second',
      { lineage: [above], policies: [{ ...policy, rules: [{ pattern: '*', action: 'ask', ask: { remindMs: 1 } }] }] },
      `The run's 'parent.policies.0.rules.0.ask.remindMs': Too small: expected number to be >=1000`,
    ],
    [
      'redacts kinds that are none',
      { lineage: [above], policies: [{ ...policy, redact: { patterns: [], kinds: 5 } }] },
      `The run's 'parent.policies.0.redact.kinds': Invalid input: expected array, received number`,
    ],
    [
      'redacts names that are none',
      { lineage: [above], policies: [{ ...policy, redact: { patterns: [], also: [7] } }] },
      `The run's 'parent.policies.0.redact.also.0': Invalid input: expected string, received number`,
    ],
  ])('fails the run with a sentence if it %s', async (_, parent, message) => {
    expect(await started(parent)).toEqual({ type: 'arguments_invalid', message });
  });
});

test('a call of an agent costs three events and two tasks more than its turns', async () => {
  const run = await world.start(once(callOf('researcher', { text: 'found' })));
  await run.result();
  const counts = countEvents(await run.handle.fetchHistory());
  expect(counts).toMatchObject({
    startChildWorkflowExecutionInitiated: 1,
    childWorkflowExecutionStarted: 1,
    childWorkflowExecutionCompleted: 1,
    // The agent is loaded, and its model is called twice.
    activityTaskScheduled: 3,
    workflowTaskCompleted: 6,
  });
  expect(counts).not.toHaveProperty('timerStarted');
  expect(counts).not.toHaveProperty('signalExternalWorkflowExecutionInitiated');
  expect(counts).not.toHaveProperty('upsertWorkflowSearchAttributes');
});

test('kill -9 of the worker while it waits: its request waits for the next worker, and the approved call runs once', async () => {
  const own = await openWorld({ worker: false });
  const worker = () =>
    spawnWorker({ address: sharedAddress(), taskQueue: own.taskQueue, folder: own.folder, team: true });
  const first = await worker();
  const run = await own.start(once(callOf('researcher', { calls: [pay('killed')] }, last)));
  const nested = own.run(`${run.workflowId}/1.1`);
  const [request] = await eventually('it asks', () => nested.open().catch(() => undefined));
  await first.kill();
  await nested.handle.signal('decide', yes(request!.requestId));
  await worker();
  expect((await run.result()).output).toBe('paid 1 to killed');
  expect(own.ran()).toEqual(['pay killed 1']);
  await killAll();
  await own.close();
});

test('a nested run continues as new while it waits; the calling run only if no nested run is open (I11)', async () => {
  const own = await openWorld({ agentsIn: (folder) => team(folder), continueAsNewAfter: { historyEvents: 40 } });
  const turns = [{ calls: [pay('rolled')] }, { calls: [pay('again')] }, last];
  const calls = [callOf('researcher', ...turns), pay('above')];
  const run = await own.start([{ calls }, last] as Turns, { policy: { version: 1, approval: { max_pending: 5 } } });
  const nested = own.run(`${run.workflowId}/1.1`);
  const [request] = await eventually('it asks', () => nested.open().catch(() => undefined));
  const executions = async (each: RunInTest): Promise<number> => (await each.status()).executions;
  await eventually('both have outgrown their execution', async () => {
    await Promise.all([run.handle.signal('noise'), nested.handle.signal('noise')]);
    return (await executions(nested)) >= 2 && (await run.handle.describe()).historyLength > 45;
  });
  expect(await executions(run)).toBe(1);
  expect((await nested.open())[0]).toEqual(request);
  await nested.handle.signal('decide', yes(request!.requestId));
  const again = await eventually('it asks again', async () =>
    (await nested.open()).find(({ arguments: args }) => args['to'] === 'again'),
  );
  expect(again.lineage).toEqual([run.workflowId]);
  await nested.handle.signal('decide', yes(again.requestId));
  await eventually('the calling run continues as new', async () => (await executions(run)) >= 2);
  const [above] = await run.open();
  await run.handle.signal('decide', yes(above!.requestId));
  expect((await run.result()).outcomes).toMatchObject([
    { toolName: 'researcher', ran: 'yes' },
    { toolName: 'pay', outcome: 'approved', ran: 'yes' },
  ]);
  expect(own.ran().sort()).toEqual(['pay above 1', 'pay again 1', 'pay rolled 1']);
  await own.close();
});
