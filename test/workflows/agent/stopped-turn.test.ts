import { createHash } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { RecordedEvent } from '../../../src/client.ts';
import type { Receipt } from '../../../src/contract.ts';
import { agentTool, defineTool } from '../../../src/index.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually, holds } from '../../support/eventually.ts';
import { testAgent } from '../../support/test-agent.ts';
import { type Calls, openWorld, type RunInTest, type Turns } from '../../support/world.ts';

/** A stop ends the turn of a session: what is open is withdrawn, what runs is told, and nothing more starts. */

const world = forAllTests(() =>
  openWorld({
    continueAsNewAfter: { historyEvents: 60 },
    agentsIn: (folder) => {
      const tester = testAgent(folder);
      // Goes on when it is told to stop.
      const slow = defineTool({
        name: 'slow',
        description: 'Runs until it is released.',
        input: z.object({}),
        heartbeat: { timeoutMs: 5_000 },
        execute: async (_args, { signal }) => {
          const isTold = (): boolean => signal.aborted;
          await holds(() => isTold() && existsSync(join(folder, 'release-slow')));
          return 'did it all';
        },
      });
      const clerk = { ...tester, name: 'clerk' };
      const boss = { ...tester, name: 'boss', tools: [agentTool(clerk, { name: 'ask_clerk' })] };
      return [{ ...tester, tools: [...tester.tools, slow] }, clerk, boss];
    },
  }),
);

const stop = { stop: true } as const;
const cancelled = 'Cancelled: the user stopped this turn';

const start = (turns: Turns, input: object = {}): Promise<RunInTest> => world.start(turns, { session: true, ...input });
const turnOf = (calls: Calls): Turns => [{ calls }, { text: 'done' }];
const pay = (to: string) => ({ tool: 'pay', args: { to, amount: 1 } });
const asks = {
  policy: {
    version: 1,
    rules: [
      { pattern: '*', action: 'allow' },
      { pattern: 'pay', action: 'ask' },
    ],
  },
};

function tell(run: RunInTest, message: object): Promise<Receipt> {
  return run.handle.executeUpdate<Receipt, [object]>('message', { args: [message] });
}

const scheduled = (run: RunInTest, type: string): Promise<unknown> =>
  eventually(`${type} has started`, async () => {
    const { raw } = await run.handle.describe();
    return raw.pendingActivities?.some((each) => each.activityType?.name === type && each.lastStartedTime != null);
  });

async function turnEnds(run: RunInTest): Promise<object[]> {
  const found: RecordedEvent[] = [];
  for await (const event of world.client.events(run.workflowId, { follow: false })) found.push(event as RecordedEvent);
  return found.flatMap((event) =>
    event.type === 'RunItemEvent' && event.item.type === 'turn_ended' ? [event.item] : [],
  );
}

test('open requests are withdrawn, running tools are told and awaited, and the session goes on', async () => {
  const run = await start(turnOf([pay('stop-a'), { tool: 'slow', args: {} }, pay('stop-b')]), asks);
  await run.open(2);
  await scheduled(run, 'slow');
  const message = { ...stop, by: 'carl', messageId: 'enough' };
  expect(await tell(run, message)).toMatchObject({ accepted: true, message: expect.stringContaining('stopped') });
  const outcomes = (ran: string): object[] => [
    { callId: '1.2', outcome: 'allowed', ran },
    { callId: '1.1', outcome: 'cancelled', ran: 'no' },
    { callId: '1.3', outcome: 'cancelled', ran: 'no' },
  ];
  expect(await run.status()).toMatchObject({ awaitsMessage: true, counts: { open: 0 }, outcomes: outcomes('pending') });
  writeFileSync(join(world.folder, 'release-slow'), '');
  await eventually('the tool ends', async () => (await run.status()).outcomes[0]?.ran !== 'pending');
  expect((await run.status()).outcomes).toMatchObject(outcomes('yes'));
  // The same stop again has the first receipt, another one finds nothing.
  expect((await tell(run, message)).accepted).toBe(true);
  await expect(tell(run, stop)).rejects.toMatchObject({
    cause: { message: expect.stringContaining('nothing to stop') },
  });
  await tell(run, { content: 'go on' });
  await eventually('turn 2', async () => (await run.status()).turn === 2);
  await run.awaitsUser();
  const answers = [`tool: ${cancelled}`, 'tool: did it all', `tool: ${cancelled}`];
  expect(await run.transcript()).toEqual(['assistant: ', ...answers, 'user: go on', 'assistant: done']);
  expect(await turnEnds(run)).toEqual([
    { type: 'turn_ended', turn: 1, stopped: true },
    { type: 'turn_ended', turn: 2 },
  ]);
  const { entries } = await world.client.journal(run.workflowId);
  const digest = createHash('sha256').update('{"stop":true}').digest('hex');
  expect(entries).toContainEqual(expect.objectContaining({ kind: 'message', digest, reviewerId: 'carl' }));
  await run.handle.signal('close');
  await run.result();
  expect(world.ran().filter((line) => line.startsWith('pay stop-'))).toEqual([]);
});

test('calls that have not been asked about yet are given up', async () => {
  const policy = { ...asks.policy, approval: { batch: 'sequential' } };
  const run = await start(turnOf([pay('held-a'), pay('held-b'), { tool: 'look', args: { what: 'held' } }]), { policy });
  await run.open();
  await run.handle.signal('message', { ...stop, reason: 'I changed my mind' });
  await run.awaitsUser();
  await tell(run, { content: 'and?' });
  await eventually('turn 2', async () => (await run.status()).turn === 2);
  expect((await run.transcript()).slice(1, 4)).toEqual(Array(3).fill('tool: Cancelled: I changed my mind'));
  await run.handle.signal('close');
  await run.result();
  expect(world.ran().filter((line) => /held/.test(line))).toEqual([]);
});

test('a model call in flight is cancelled, each time', async () => {
  const run = await start([{ text: 'never', delayMs: 86_400_000 }]);
  for (const content of ['first', 'second']) {
    await scheduled(run, 'countersign.callModel');
    await tell(run, stop);
    await run.awaitsUser();
    expect(await run.status()).toMatchObject({ status: 'running', turn: 0 });
    expect((await turnEnds(run)).length).toBe(content === 'first' ? 1 : 2);
    await tell(run, { content });
  }
  await scheduled(run, 'countersign.callModel');
  expect(await run.transcript()).toEqual(['user: first', 'user: second']);
  expect(await turnEnds(run)).toEqual([1, 2].map(() => ({ type: 'turn_ended', turn: 1, stopped: true })));
  await run.handle.signal('close');
  expect(await run.result()).toMatchObject({ status: 'closed', output: '' });
});

test('the calls of an answer that comes with the stop are not asked about', async () => {
  const run = await start([{ text: 'never', delayMs: 86_400_000 }], asks);
  await scheduled(run, 'countersign.callModel');
  await world.stopWorker();
  const { raw } = await run.handle.describe();
  const { activityId } = raw.pendingActivities![0]!;
  const usage = { inputTokens: 1, outputTokens: 1 };
  const calls = [
    { id: 'one', ...pay('late') },
    { id: 'two', tool: 'look', args: { what: 'late' } },
  ];
  const answer = { text: '', calls, usage, finishReason: 'tool-calls' };
  // In one workflow task: the model's answer, then the stop.
  await world.client.session.client.activity.complete({ workflowId: run.workflowId, activityId: activityId! }, answer);
  await run.handle.signal('message', stop);
  await world.startWorker();
  await run.awaitsUser();
  expect((await run.status()).outcomes).toMatchObject([
    { callId: '1.1', outcome: 'cancelled', ran: 'no' },
    { callId: '1.2', outcome: 'cancelled', ran: 'no' },
  ]);
  await run.handle.terminate();
});

test('what the user had said before the stop waits for what they say next', async () => {
  const run = await start(turnOf([pay('before')]), asks);
  await run.open();
  await tell(run, { content: 'also pay bob' });
  await tell(run, stop);
  await run.awaitsUser();
  expect(await run.status()).toMatchObject({ turn: 1 });
  expect(await run.transcript()).toEqual(['assistant: ', `tool: ${cancelled}`]);
  await tell(run, { content: 'no, leave it' });
  await eventually('turn 2', async () => (await run.status()).turn === 2);
  expect((await run.transcript()).slice(2)).toEqual(['user: also pay bob', 'user: no, leave it', 'assistant: done']);
  await run.handle.signal('close');
  await run.result();
});

test('a stopped run that continues as new still waits for its user', async () => {
  const run = await start(turnOf([pay('carried')]), asks);
  await run.open();
  await tell(run, { content: 'wait' });
  await tell(run, stop);
  await run.awaitsUser();
  await eventually('it continues as new', async () => {
    await run.handle.signal('noise');
    return (await run.status().catch(() => undefined))?.executions === 2;
  });
  await run.awaitsUser();
  expect(await run.status()).toMatchObject({ turn: 1, counts: { open: 0 } });
  await tell(run, { content: 'go' });
  await eventually('turn 2', async () => (await run.status()).turn === 2);
  expect((await run.transcript()).slice(1)).toEqual([
    `tool: ${cancelled}`,
    'user: wait',
    'user: go',
    'assistant: done',
  ]);
  await run.handle.signal('close');
  await run.result();
});

test('nested runs in flight are cancelled with their requests, those of the next turn are not', async () => {
  const asked = { tool: 'ask_clerk', args: { input: JSON.stringify(turnOf([pay('nested')])) } };
  const turns = [{ calls: [asked] }, { calls: [asked] }, { text: 'done' }];
  const run = await start(turns, { agent: 'boss', ...asks });
  const first = world.run(`${run.workflowId}/1.1`);
  await eventually('the nested run has started', () => first.open().catch(() => undefined));
  await tell(run, stop);
  await run.awaitsUser();
  expect(await first.result()).toMatchObject({ status: 'cancelled' });
  await tell(run, { content: 'again' });
  const second = world.run(`${run.workflowId}/2.1`);
  const [request] = await eventually('the next one has started', () => second.open().catch(() => undefined));
  await second.handle.signal('decide', { requestId: request!.requestId, approved: true });
  await eventually('turn 3', async () => (await run.status()).turn === 3);
  await run.handle.signal('close');
  await run.result();
  expect(world.ran().filter((line) => line === 'pay nested 1')).toHaveLength(1);
});

test('a session that is cancelled learns how its tools ended as well', async () => {
  const run = await start(turnOf([{ tool: 'slow', args: {} }]), asks);
  await scheduled(run, 'slow');
  await run.handle.cancel();
  writeFileSync(join(world.folder, 'release-slow'), '');
  expect(await run.result()).toMatchObject({ status: 'cancelled' });
  expect((await run.status()).outcomes).toMatchObject([{ callId: '1.1', outcome: 'allowed', ran: 'yes' }]);
});

test('a stop is refused where nothing is under way, and in a run that is no session', async () => {
  const single = await world.start(turnOf([pay('single')]), asks);
  const [request] = await single.open();
  await expect(tell(single, stop)).rejects.toMatchObject({ cause: { message: expect.stringContaining('no session') } });
  await single.handle.signal('message', stop);
  await single.handle.signal('decide', { requestId: request!.requestId, approved: true });
  expect((await single.result()).output).toBe('done');
  const run = await start([{ text: 'hello' }]);
  await run.awaitsUser();
  await expect(tell(run, stop)).rejects.toMatchObject({ cause: { type: 'invalid_message' } });
  await run.handle.signal('close');
  await run.result();
});
