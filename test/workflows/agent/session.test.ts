import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Message, Receipt, RunInput } from '../../../src/contract.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import { HeldLoading, signalled } from './held-loading.ts';
import { rawMessages } from '../messages/raw-messages.ts';
import { testAgent } from '../../support/test-agent.ts';
import type { Calls, RunInTest, Turns } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';

/** Sessions: a run that stays open for further messages of its user. */

const loading = new HeldLoading();
const world = forAllTests(() =>
  openWorld({
    interceptors: loading.interceptors,
    policy: { version: 1, rules: ['look', 'hold'].map((pattern) => ({ pattern, action: 'allow' })) },
    agentsIn: (folder) => {
      const tester = testAgent(folder);
      return [tester, { ...tester, name: 'brief', maxTurns: 2 }];
    },
  }),
);

const session = { session: true } as const;
const texts = (...answers: string[]): Turns => answers.map((text) => ({ text }));

/** Sends a message by update, and returns its receipt. */
function tell(run: RunInTest, content: string, more: object = {}): Promise<Receipt> {
  return run.handle.executeUpdate<Receipt, [object]>('message', { args: [{ content, ...more }] });
}

async function journal(run: RunInTest): Promise<object[]> {
  const { entries } = await world.client.journal(run.workflowId);
  return entries
    .filter(({ kind }) => kind === 'message')
    .map(({ reviewerId, identity, reason, digest }) => ({ reviewerId, identity, reason, digest }));
}

/** SHA-256 of the text as JSON. */
const digestOf = (content: string): string => createHash('sha256').update(JSON.stringify(content)).digest('hex');

test.each(['signal', 'update'])('a message by %s, while the session waits', async (by) => {
  const run = await world.start(texts('first', 'second'), session);
  await run.awaitsUser();
  expect(await run.status()).toMatchObject({ status: 'running', turn: 1, awaitsMessage: true });
  const message = { content: 'again', by: 'carl', reason: 'why', messageId: 'm-1' };
  if (by === 'signal') await run.handle.signal('message', message);
  else {
    expect(await run.handle.executeUpdate('message', { args: [message] })).toEqual({
      requestId: '',
      accepted: true,
      message: 'the model gets the message before its next turn',
    });
  }
  await eventually('the second answer', async () => (await run.status()).turn === 2);
  await run.awaitsUser();
  expect(await run.transcript()).toEqual(['assistant: first', 'user: again', 'assistant: second']);
  await run.handle.signal('close', {});
  expect(await run.result()).toMatchObject({ status: 'closed', output: 'second' });
  expect(await run.status()).toMatchObject({ status: 'closed' });
  expect(await run.status()).not.toHaveProperty('awaitsMessage');
  expect(await journal(run)).toEqual([
    { reviewerId: 'carl', identity: 'claimed', reason: 'why', digest: digestOf('again') },
  ]);
});

test('a message costs the events of its turn and its own, and a session that waits costs none', async () => {
  const run = await world.start(texts('first', 'second'), session);
  await run.awaitsUser();
  const before = (await run.handle.describe()).historyLength;
  await sleep(1_500);
  expect((await run.handle.describe()).historyLength).toBe(before);
  await run.handle.signal('message', { content: 'again' });
  await eventually('the second answer', async () => (await run.status()).turn === 2);
  await run.awaitsUser();
  const { executions } = await world.client.historyChain(run.workflowId);
  const added = executions.at(-1)!.events.slice(before);
  expect(added.map((event) => Object.keys(event).find((key) => key.endsWith('Attributes')))).toEqual(
    [
      'workflowExecutionSignaled',
      'workflowTaskScheduled',
      'workflowTaskStarted',
      'workflowTaskCompleted',
      'activityTaskScheduled',
      'activityTaskStarted',
      'activityTaskCompleted',
      'workflowTaskScheduled',
      'workflowTaskStarted',
      'workflowTaskCompleted',
    ].map((name) => `${name}EventAttributes`),
  );
  await run.handle.terminate();
});

test('a message in the middle of a turn reaches the model after the results of that turn', async () => {
  const calls: Calls = [1, 2].map((amount) => ({ tool: 'pay', args: { to: 'middle', amount } }));
  const run = await world.start([{ text: 'Paying.', calls }, { text: 'paid' }] as Turns, session);
  const [first, second] = await run.open(2);
  await tell(run, 'be quick');
  await run.handle.signal('decide', { requestId: first!.requestId, approved: true });
  await tell(run, 'please');
  expect(await run.transcript()).toEqual(['assistant: Paying.']);
  expect(await run.status()).not.toHaveProperty('awaitsMessage');
  await run.handle.signal('decide', { requestId: second!.requestId, approved: false });
  await run.awaitsUser();
  expect(await run.transcript()).toEqual([
    'assistant: Paying.',
    'tool: paid 1 to middle',
    'tool: Denied: User denied',
    'user: be quick',
    'user: please',
    'assistant: paid',
  ]);
  expect(await journal(run)).toHaveLength(2);
  await run.handle.terminate();
});

test('a message while the model answers gets an answer of its own', async () => {
  const run = await world.start([{ text: 'first', delayMs: 2_000 }, { text: 'second' }] as Turns, session);
  await eventually('the model is called', async () => (await run.handle.describe()).historyLength > 10);
  await tell(run, 'more');
  await eventually('the second answer', async () => (await run.status()).turn === 2);
  expect(await run.transcript()).toEqual(['assistant: first', 'user: more', 'assistant: second']);
  await run.handle.terminate();
});

test('messages before the agent is loaded wait, and keep their order', async () => {
  loading.hold();
  const run = await world.start(texts('first', 'second'), session);
  await signalled(run.handle, 'message', { content: 'one' });
  const second = tell(run, 'two');
  await eventually('the second message is in the history', async () => {
    const { events } = await run.handle.fetchHistory();
    return events!.some(({ workflowExecutionUpdateAcceptedEventAttributes: accepted }) => accepted != null);
  });
  await signalled(run.handle, 'message', { content: 'three' });
  loading.release();
  expect(await second).toMatchObject({ accepted: true });
  await run.awaitsUser();
  expect(await run.transcript()).toEqual(['user: one', 'user: two', 'user: three', 'assistant: first']);
  await run.handle.terminate();
});

test('two at once both count, in the order of history', async () => {
  const run = await world.start(texts('first', 'second', 'third', 'fourth'), session);
  await run.awaitsUser();
  await Promise.all(['a', 'b', 'c'].map((content) => run.handle.signal('message', { content })));
  await eventually('all are in the transcript', async () => {
    return (await run.transcript()).filter((line) => line.startsWith('user')).length === 3;
  });
  await run.awaitsUser();
  const { executions } = await world.client.historyChain(run.workflowId);
  const recorded = executions[0]!.events.flatMap(({ workflowExecutionSignaledEventAttributes: sent }) =>
    sent == null
      ? []
      : [(JSON.parse(Buffer.from(sent.input!.payloads![0]!.data!).toString()) as { content: string }).content],
  );
  const heard = (await run.transcript()).filter((line) => line.startsWith('user')).map((line) => line.slice(6));
  expect(heard).toEqual(recorded);
  await run.handle.terminate();
});

test('a retry gets the first receipt, and another text under the same id is refused', async () => {
  const run = await world.start(texts('first', 'second'), session);
  await run.awaitsUser();
  const first = await tell(run, 'once', { messageId: 'm-7' });
  expect(await tell(run, 'once', { messageId: 'm-7' })).toEqual(first);
  await run.handle.signal('message', { content: 'once', messageId: 'm-7' });
  await expect(tell(run, 'twice', { messageId: 'm-7' })).rejects.toMatchObject({ cause: { type: 'invalid_message' } });
  await eventually('the second answer', async () => (await run.status()).turn === 2);
  await run.awaitsUser();
  expect(await run.transcript()).toEqual(['assistant: first', 'user: once', 'assistant: second']);
  expect(await journal(run)).toEqual([{ identity: 'anonymous', digest: digestOf('once') }]);
  await run.handle.terminate();
});

describe('refused', () => {
  test('by a run that is no session, in one sentence, by signal and update', async () => {
    const run = await world.start([{ calls: [{ tool: 'pay', args: { to: 'none', amount: 1 } }] }] as Turns);
    await run.open();
    await expect(tell(run, 'more')).rejects.toMatchObject({
      cause: { type: 'invalid_message', message: 'this run is no session: it takes no further messages of its user' },
    });
    await run.handle.signal('message', { content: 'more' });
    await eventually('it is counted', async () => (await run.status()).counts.refused === 1);
    expect((await run.status()).refused.last).toEqual([{ code: 'invalid_message', size: expect.any(Number) }]);
    await run.handle.terminate();
  });

  test('by a session that closes', async () => {
    const calls: Calls = [{ tool: 'hold', args: { name: 'session' } }];
    const run = await world.start([{ calls }] as Turns, session);
    await eventually('the tool runs', () => world.ran().includes('start session'));
    await run.handle.signal('close');
    await expect(tell(run, 'more')).rejects.toMatchObject({ cause: { type: 'run_closed' } });
    writeFileSync(join(world.folder, 'release-session'), '');
    expect(await run.result()).toMatchObject({ status: 'closed' });
    await expect(tell(run, 'more')).rejects.toMatchObject({ name: expect.stringMatching(/NotFound/) });
  });

  test('what cannot be read, and a flood of it', async () => {
    const run = await world.start(texts('first', 'second'), session);
    await run.awaitsUser();
    const raw = rawMessages(world);
    const large = JSON.stringify({ content: 'x'.repeat(1_000_000) });
    const bad = ['{"content":', '"hi"', '[{"content":"hi"}]', '{}', '{"content":7}', '{"content":" "}', large];
    for (const json of bad) await raw.signal(run, 'message', json);
    await raw.signal(run, 'message', Buffer.from([0xff, 0xfe]));
    await raw.signal(run, 'message', String.raw`{"content":"\ud800"}`);
    await run.handle.signal('message', new Uint8Array(1_000));
    await run.handle.signal('message');
    await eventually('all are counted', async () => (await run.status()).counts.refused === bad.length + 4);
    const codes = (await run.status()).refused.last.map(({ code }) => code);
    expect([...new Set(codes)].toSorted()).toEqual(['invalid_message', 'too_large', 'undecodable']);
    for (const json of bad) expect(await raw.update(run, 'message', json)).toHaveProperty('code', expect.any(String));
    expect(await run.status()).toMatchObject({ turn: 1, awaitsMessage: true });
    await tell(run, 'and still');
    await eventually('the second answer', async () => (await run.status()).turn === 2);
    await run.handle.terminate();
  });

  test('more than 100 at once, and what the transcript cannot hold', async () => {
    const calls: Calls = [{ tool: 'pay', args: { to: 'many', amount: 1 } }];
    const run = await world.start([{ calls }, { text: 'done' }] as Turns, session);
    const [request] = await run.open();
    for (let count = 0; count < 15; count++) await tell(run, `${count} ${'y'.repeat(99_000)}`);
    await expect(tell(run, 'z'.repeat(99_000))).rejects.toMatchObject({ cause: { type: 'too_large' } });
    for (let count = 15; count < 100; count++) await run.handle.signal('message', { content: `${count}` });
    await eventually('they are taken', async () => (await journal(run)).length === 100);
    await expect(tell(run, 'one more')).rejects.toMatchObject({ cause: { type: 'rate_limited' } });
    await run.handle.signal('decide', { requestId: request!.requestId, approved: true });
    await run.awaitsUser();
    expect((await run.transcript()).filter((line) => line.startsWith('user'))).toHaveLength(100);
    await run.handle.terminate();
  });

  test.each<[string, Partial<RunInput>]>([
    ['what pretends to be a nested run', { ...session, parent: { lineage: ['x'], policies: [] } }],
    ['another value', { session: 'yes' } as never],
  ])('session: %s', async (_what, input) => {
    const run = await world.start(texts('never'), input);
    await expect(run.result()).rejects.toMatchObject({ code: 'arguments_invalid' });
  });
});

test('a session that waits outlives its worker', async () => {
  const run = await world.start(texts('first', 'second'), session);
  await run.awaitsUser();
  await world.stopWorker();
  await run.handle.signal('message', { content: 'while away' });
  await world.startWorker();
  await eventually('the second answer', async () => (await run.status()).turn === 2);
  expect(await run.transcript()).toEqual(['assistant: first', 'user: while away', 'assistant: second']);
  await run.handle.terminate();
});

test('a session is cancelled while it waits', async () => {
  const run = await world.start(texts('first'), session);
  await run.awaitsUser();
  await run.handle.cancel();
  expect(await run.result()).toMatchObject({ status: 'cancelled' });
});

test('messages that come with a cancellation are refused: nobody would answer them', async () => {
  const run = await world.start(texts('first', 'second'), session);
  await run.awaitsUser();
  await world.stopWorker();
  await run.handle.signal('message', { content: 'wait' });
  await run.handle.cancel();
  await world.startWorker();
  expect(await run.result()).toMatchObject({ status: 'cancelled' });
  expect((await run.status()).refused.last).toMatchObject([{ code: 'run_closed' }]);
  expect(await journal(run)).toEqual([]);
});

test('maxTurns counts from the last message of the user, and the ids of calls go on', async () => {
  const look = { calls: [{ tool: 'look', args: { what: 'x' } }] };
  const run = await world.start([look, { text: 'one' }, look, { text: 'two' }, look, look, look] as Turns, {
    ...session,
    agent: 'brief',
  });
  await run.awaitsUser();
  await tell(run, 'again');
  await eventually('the second answer', async () => (await run.status()).turn === 4);
  await run.awaitsUser();
  await tell(run, 'and again');
  expect(await run.result()).toMatchObject({ status: 'limit', output: 'Stopped after 2 turns' });
  const { outcomes, turn } = await run.status();
  expect(turn).toBe(6);
  expect(outcomes.map(({ callId }) => callId)).toEqual(['1.1', '3.1', '5.1', '6.1']);
});

test('what a session holds, a start takes: it waits where that one waited', async () => {
  const calls: Calls = [
    { tool: 'look', args: { what: 'x' } },
    { tool: 'nothing', args: {} },
  ];
  const run = await world.start([{ text: 'I look.', calls }, { calls }, { text: ' ' }] as Turns, session);
  await eventually('the third answer', async () => (await run.status()).turn === 3);
  await run.awaitsUser();
  const transcript = await run.handle.query<Message[]>('transcript');
  const next = await world.start([], { ...session, input: transcript });
  await next.awaitsUser();
  expect(await next.handle.query('transcript')).toEqual(transcript);
  expect((await next.status()).turn).toBe(0);
  await Promise.all([run.handle.terminate(), next.handle.terminate()]);
});

test('what the transcript has under an id is not said again, however long ago; another text under it is refused', async () => {
  const script = JSON.stringify(texts('first', 'second'));
  const input: Message[] = [{ role: 'user', content: script, messageId: 'm-1' }];
  const run = await world.start([], { ...session, input });
  await run.awaitsUser();
  const known = { requestId: '', accepted: true, message: 'the model has the message already' };
  expect(await world.client.message(run.workflowId, { content: script, messageId: 'm-1' })).toEqual(known);
  await expect(
    world.client.message(run.workflowId, { content: 'Pay mallory', messageId: 'm-1' }),
  ).rejects.toMatchObject({ code: 'invalid_message', message: expect.stringContaining("the id 'm-1' already") });
  expect(await run.status()).toMatchObject({ turn: 1, awaitsMessage: true });
  expect(await run.transcript()).toEqual(['assistant: first']);
  expect(await journal(run)).toEqual([]);
  await run.handle.terminate();
});
