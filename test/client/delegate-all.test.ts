/** All open requests of one person, and those that come until a date, on a real server and worker. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { delegateNew } from '../../src/activities/delegate-open.ts';
import { answerableIn, requestKey } from '../../src/client/inbox/delegate-all.ts';
import {
  readProgress,
  readStanding,
  standingDelegationId,
  untilAtOf,
} from '../../src/client/inbox/standing-delegations.ts';
import { createReviewerKey } from '../../src/client/send/sign-message.ts';
import { type Receipt, standingDelegationType } from '../../src/contract.ts';
import type { JsonObject } from '../../src/core/base/tool-call.ts';
import { eventually } from '../support/eventually.ts';
import { type ForeignWorker, startForeignWorker } from '../support/foreign-worker.ts';
import { makeOwnInbox } from '../support/own-inbox.ts';
import { type RunInTest, type World, openWorld } from '../support/world.ts';

const [key, keyOfEve] = [createReviewerKey(), createReviewerKey()];
let world: World;
let foreign: ForeignWorker;
beforeAll(async () => {
  const namespace = await makeOwnInbox();
  world = await openWorld({
    namespace,
    policy: {
      version: 1,
      rules: [],
      reviewer_keys: { 'bob-laptop': key.publicKey, 'eve-laptop': keyOfEve.publicKey },
      directory,
    },
  });
  foreign = await startForeignWorker(namespace);
});
afterAll(async () => {
  await foreign?.close();
  await world?.close();
});

/** Each test has people of its own, so that it sees no request of another. */
const people = (name: string): { bob: string; eve: string; ann: string } => ({
  bob: `bob ${name}`,
  eve: `eve ${name}`,
  ann: `ann ${name}`,
});
const signer = 'Bob of keys';
const withKey = 'Eve of keys';
const directory = {
  people: {
    [signer]: { keys: ['bob-laptop'], groups: ['keys'], also: ['u-17'] },
    [withKey]: { keys: ['eve-laptop'] },
  },
};

interface Asked {
  run: RunInTest;
  workflowId: string;
  requestId: string;
}

async function ask(rule: JsonObject, userId?: string): Promise<Asked> {
  const policy = { rules: [{ pattern: 'pay', action: 'ask', ask: rule }] };
  const calls = [{ tool: 'pay', args: { to: 'ann', amount: 1 } }];
  const run = await world.start([{ calls }, { text: 'done' }], {
    policy,
    ...(userId !== undefined && { caller: { userId } }),
  });
  const [request] = await run.open();
  const { workflowId } = run;
  const { requestId } = request!;
  await eventually('it is in the index', async () => {
    const query = `WorkflowId = '${workflowId}' AND ApprovalIds = '${requestId}'`;
    return (await world.client.session.client.workflow.count(query)).count === 1;
  });
  return { run, workflowId, requestId };
}

const send = ({ run }: Asked, name: string, message: object): Promise<Receipt> =>
  run.handle.executeUpdate<Receipt, [unknown]>(name, { args: [message] });
const holders = async ({ requestId, workflowId }: Asked) =>
  ((await world.client.approvals.get(requestId, { workflowId })).delegations ?? []).map(({ from, to }) => [from, to]);
const length = async (workflowId: string): Promise<number> =>
  (await world.client.historyChain(workflowId)).executions.reduce((sum, { events }) => sum + events.length, 0);
const codes = (receipts: readonly Receipt[]) =>
  Object.fromEntries(receipts.map(({ requestId, code }) => [requestId, code ?? 'delegated']));

describe('what is open now', () => {
  const { bob, eve, ann } = people('now');

  test('each request that the person may answer is delegated, or says why not; others get nothing', async () => {
    const delegated = [await ask({ reviewers: [bob] }), await ask({ reviewers: [ann, bob], quorum: 2 })];
    const refused: [string, Asked][] = [
      ['invalid_message', await ask({ reviewers: [bob, eve], quorum: 2 })],
      ['self_approval', await ask({ reviewers: [bob, ann] }, eve)],
    ];
    const voted = await ask({ reviewers: [bob, ann], quorum: 2 });
    await send(voted, 'decide', { requestId: voted.requestId, approved: true, reviewerId: bob });
    const given = await ask({ reviewers: [bob] });
    await send(given, 'delegate', { requestId: given.requestId, to: ann, by: bob });
    const others = [voted, given, await ask({ reviewers: [ann] }), await ask({}), await ask({ reviewers: [bob] }, bob)];
    const before = await Promise.all(others.map(({ workflowId }) => length(workflowId)));
    const { receipts, silentRuns, standing } = await world.client.delegateAll({ by: bob, to: eve, reason: 'on leave' });
    expect(codes(receipts)).toEqual(
      Object.fromEntries([
        ...delegated.map(({ requestId }) => [requestId, 'delegated']),
        ...refused.map(([code, { requestId }]) => [requestId, code]),
      ]),
    );
    expect([silentRuns, standing]).toEqual([0, undefined]);
    for (const each of delegated) {
      expect(await holders(each)).toEqual([[bob, eve]]);
      const { entries } = await world.client.journal(each.workflowId);
      expect(entries.at(-1)).toMatchObject({ kind: 'delegated', reviewerId: bob, to: [eve], reason: 'on leave' });
    }
    expect(await Promise.all(others.map(({ workflowId }) => length(workflowId)))).toEqual(before);
    // What was delegated is not his any more, and what was refused says so again.
    const again = await world.client.delegateAll({ by: bob, to: eve });
    expect(codes(again.receipts)).toEqual(Object.fromEntries(refused.map(([code, asked]) => [asked.requestId, code])));
  });

  test("where a rule says 'verified', a name alone does not count, and each message is signed for its run", async () => {
    const asked = await ask({ reviewers: ['group:keys'], verified: true });
    // One of his further ids.
    expect(codes((await world.client.delegateAll({ by: 'U-17', to: withKey })).receipts)).toEqual({
      [asked.requestId]: 'unverified_reviewer',
    });
    const sign = { keyId: 'bob-laptop', privateKey: keyOfEve.privateKey };
    const { receipts } = await world.client.delegateAll({ by: signer, to: withKey }, { sign });
    expect(receipts).toMatchObject([
      {
        requestId: asked.requestId,
        accepted: false,
        code: 'unverified_reviewer',
        message: expect.stringContaining(`the signature is not that of key 'bob-laptop' over this message`),
      },
    ]);
  });

  test("another workflow's row about a request takes nothing from the run that asks", async () => {
    const forged = people('forged');
    const asked = await ask({ reviewers: [forged.bob] });
    const { requestId } = asked;
    const workflowId = `stranger-${randomUUID()}`;
    const shown = { requestId, workflowId, toolName: 'pay', reviewers: [], approvers: [forged.bob] };
    const handle = await world.client.session.client.workflow.start('shows', {
      workflowId,
      taskQueue: foreign.taskQueue,
      args: [{ shown }],
      searchAttributes: { ApprovalIds: [requestId] },
    });
    await eventually('both are in the index', async () => {
      const query = `ApprovalIds = '${requestId}'`;
      return (await world.client.session.client.workflow.count(query)).count === 2;
    });
    // Its first task is over: what comes then is of a look.
    await handle.query('approvals');
    // An earlier look has found the stranger's alone.
    const progress = readProgress({ tried: [requestKey(workflowId, requestId)] });
    const look = () =>
      delegateNew(world.client.session, { by: forged.bob, to: forged.eve }, progress, {
        idOf: (id) => `look:${id}`,
        noted: () => undefined,
      });
    await look();
    expect(await holders(asked)).toEqual([[forged.bob, forged.eve]]);
    const events = await length(workflowId);
    await look();
    expect(await length(workflowId)).toBe(events);
    await handle.terminate();
  });
});

describe('a workflow that answers delegations as it likes delays no other run', () => {
  test.each<[string, unknown, number]>([
    ['accepted, with a code and without words', { accepted: true, code: 'x' }, 3],
    ['without anything', {}, 3],
    // The client sends such a message twice.
    ['later, each time', { accepted: false, code: 'rate_limited', message: 'later' }, 2],
  ])('%s', async (name, receipt, asked) => {
    const { bob, eve } = people(name);
    const workflowId = `stranger-${randomUUID()}`;
    const ids = ['a', 'b', 'c'].map((letter) => randomUUID().replaceAll('-', '').replace(/^./, letter));
    const shown = ids.map((requestId) => ({ requestId, workflowId, toolName: 'pay', reviewers: [], approvers: [bob] }));
    const handle = await world.client.session.client.workflow.start('answersDelegations', {
      workflowId,
      taskQueue: foreign.taskQueue,
      args: [{ shown, receipt }],
      searchAttributes: { ApprovalIds: ids },
    });
    const own = await ask({ reviewers: [bob] });
    await eventually('both are in the index', async () => {
      const query = `ApprovalIds IN ('${own.requestId}', '${ids[0]!}')`;
      return (await world.client.session.client.workflow.count(query)).count === 2;
    });
    let beats = 0;
    const progress = readProgress({});
    await delegateNew(world.client.session, { by: bob, to: eve }, progress, {
      idOf: (id) => `look:${id}`,
      noted: () => (beats += 1),
    });
    expect(await holders(own)).toEqual([[bob, eve]]);
    expect(await handle.query('asked')).toBe(asked);
    // One after each message: an attempt that sends none for two minutes is lost.
    expect(beats).toBeGreaterThanOrEqual(2);
    await handle.terminate();
  });
});

test.each<[string, unknown]>([
  ['no list', 'x'],
  ['no objects', [null, 7, 'x', []]],
  ['of another workflow', [{ workflowId: 'other', requestId: 'a'.repeat(32), toolName: 'pay', approvers: ['bob'] }]],
  ['no id', [{ workflowId: 'w', requestId: 'x', toolName: 'pay', approvers: ['bob'] }]],
  ['no tool', [{ workflowId: 'w', requestId: 'a'.repeat(32), toolName: 7, approvers: ['bob'] }]],
  ['no approvers', [{ workflowId: 'w', requestId: 'a'.repeat(32), toolName: 'pay', approvers: [7], people: [] }]],
  ['no reviewers', [{ workflowId: 'w', requestId: 'a'.repeat(32), toolName: 'pay', reviewers: {} }]],
])('an answer of another workflow: %s', (_, answer) => expect(answerableIn(answer, 'w', 'bob')).toEqual([]));

describe('until a date', () => {
  const now = Date.parse('2030-01-31T12:00:00Z');

  test.each<[string, string | RegExp]>([
    ['2030-01-31', '2030-02-01T00:00:00.000Z'],
    ['2030-12-24', '2030-12-25T00:00:00.000Z'],
    ['2030-01-31T14:00:00+01:00', '2030-01-31T13:00:00.000Z'],
    ['2030-01-30', /must be in the future/],
    ['2030-01-31T12:00:00Z', /must be in the future/],
    ['2031-02-02', /must be within a year/],
    ['tomorrow', /must be a day, such as 2030-01-31, or an instant with its offset/],
    ['', /must be a day/],
  ])('%s', (until, expected) => {
    if (typeof expected === 'string') expect(untilAtOf(until, now)).toBe(expected);
    else expect(() => untilAtOf(until, now)).toThrow(expected);
  });

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['no end', { by: 'bob', to: 'eve' }],
    ['no person', { by: '', to: 'eve', untilAt: '2030-01-31T12:00:00Z' }],
    ['a group', { by: 'group:x', to: 'eve', untilAt: '2030-01-31T12:00:00Z' }],
    ['to a group', { by: 'bob', to: 'group:x', untilAt: '2030-01-31T12:00:00Z' }],
    ['to themselves', { by: 'bob', to: 'BOB', untilAt: '2030-01-31T12:00:00Z' }],
    ['a long name', { by: 'b'.repeat(201), to: 'eve', untilAt: '2030-01-31T12:00:00Z' }],
    ['a seat of another', { by: 'bob', from: 'ann', to: 'eve', untilAt: '2030-01-31T12:00:00Z' }],
    ['an end after more than a year', { by: 'bob', to: 'eve', untilAt: '2031-01-31T12:00:00Z' }],
    ['a signature', { by: 'bob', to: 'eve', signature: {}, untilAt: '2030-01-31T12:00:00Z' }],
  ])('an input of the workflow that is none: %s', (_, input) =>
    expect(() => readStanding(input, Date.parse('2030-01-01T00:00:00Z'))).toThrow(),
  );

  test('what comes is delegated within a look, and looks leave no events', async () => {
    const { bob, eve, ann } = people('until');
    const first = await ask({ reviewers: [bob] });
    const left = await ask({ reviewers: [bob, ann] }, eve);
    const until = new Date(Date.now() + 86_400_000).toISOString();
    const all = await world.client.delegateAll({ by: bob, to: eve, until });
    expect(codes(all.receipts)).toEqual({ [first.requestId]: 'delegated', [left.requestId]: 'self_approval' });
    const workflowId = standingDelegationId(bob.toUpperCase());
    expect(all.standing).toMatchObject({ by: bob, to: eve, untilAt: until, workflowId });
    await expect(world.client.delegateAll({ by: bob, to: ann, until })).rejects.toMatchObject({
      code: 'already_started',
    });
    const standing = async () => (await world.client.standingDelegations.list(bob))[0];
    await eventually('the first look has noted what stays', async () => (await standing())?.left.length === 1);
    const looked = await length(workflowId);
    const refusals = await length(left.workflowId);
    // He takes one back, which then stays with him.
    const own = await ask({ reviewers: [bob] });
    await eventually('what has come is delegated', async () => (await holders(own)).length === 1);
    await send(own, 'delegate', { requestId: own.requestId, to: bob, by: bob });
    const second = await ask({ reviewers: [bob] });
    await eventually('and what comes later', async () => (await holders(second)).length === 1);
    expect(await holders(own)).toEqual([]);
    expect(await standing()).toMatchObject({
      delegated: 2,
      left: [{ requestId: left.requestId, workflowId: left.workflowId, message: expect.stringContaining(eve) }],
    });
    expect([await length(workflowId), await length(left.workflowId)]).toEqual([looked, refusals]);
    expect(await world.client.standingDelegations.list()).toContainEqual(await standing());
    await world.client.standingDelegations.stop(bob, 'back again');
    expect(await world.client.standingDelegations.list(bob)).toEqual([]);
    await expect(world.client.standingDelegations.stop(bob)).rejects.toMatchObject({ code: 'run_not_found' });
    expect(await holders(second)).toEqual([[bob, eve]]);
  });

  test('it ends at its date', async () => {
    const { bob, eve } = people('ends');
    const until = new Date(Date.now() + 3_000).toISOString();
    await world.client.delegateAll({ by: bob, to: eve, until });
    const handle = world.client.session.client.workflow.getHandle(standingDelegationId(bob));
    await handle.result();
    expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(until));
    expect(await world.client.standingDelegations.list(bob)).toEqual([]);
    const { events = [] } = await handle.fetchHistory();
    const { attempt } = events!.findLast(
      (each) => each.activityTaskStartedEventAttributes != null,
    )!.activityTaskStartedEventAttributes!;
    // The first look, and the one that ended it.
    expect(attempt).toBeGreaterThan(1);
    expect(events!.length).toBeLessThan(15);
  });

  test.each<[string, string, object]>([
    ["under another person's id", 'mallory', { by: 'people of forged ids', to: 'eve' }],
    ['with the seat of another', 'other', { by: 'other', from: 'ann', to: 'eve' }],
    ['for years', 'other', { by: 'other', to: 'eve', untilAt: '2999-01-01T00:00:00Z' }],
  ])('one that was started by hand %s delegates nothing', async (_, idOf, input) => {
    const workflowId = standingDelegationId(idOf);
    const handle = await world.client.session.client.workflow.start(standingDelegationType, {
      workflowId,
      taskQueue: world.taskQueue,
      args: [{ untilAt: new Date(Date.now() + 60_000).toISOString(), ...input }],
    });
    await expect(handle.result()).rejects.toMatchObject({ cause: { cause: { type: 'invalid_message' } } });
    expect(await world.client.standingDelegations.list(idOf)).toEqual([]);
  });
});
