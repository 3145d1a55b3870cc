import { describe, expect, test } from 'vitest';
import { cardOf } from '../../../src/card.ts';
import { activityNames, type ApprovalDetails, type Message, type Receipt } from '../../../src/contract.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import { openWorld, type RunInTest } from '../../support/world.ts';

/** What the user of a session says while a request is open is on its card, and an old card approves nothing. */

const world = forAllTests(() => openWorld({ continueAsNewAfter: { historyEvents: 60 } }));

const pay = { pattern: 'pay', action: 'ask' };
const withdraws = { ...pay, when: 'args.to == "fickle"', ask: { when_user_writes: 'withdraw' } };
const policy = { version: 1, rules: [pay, withdraws] };

async function start(to: string, more: object = {}): Promise<{ run: RunInTest; requestId: string }> {
  const turns = [{ calls: [{ tool: 'pay', args: { to, amount: 1 } }] }, { text: '{{lastResult}}' }];
  const run = await world.start(turns, { session: true, policy, ...more });
  const [request] = await run.open();
  return { run, requestId: request!.requestId };
}
function update(run: RunInTest, name: string, message: object): Promise<Receipt> {
  return run.handle.executeUpdate<Receipt, [object]>(name, { args: [message] });
}
const details = (run: RunInTest, requestId: string): Promise<ApprovalDetails> =>
  run.handle.query<ApprovalDetails, [object]>('approvals', { requestId });
const seen = (userMessages: number) => ({ channel: 'test', userMessages });

async function finish(run: RunInTest): Promise<void> {
  await run.handle.signal('close');
  await run.result();
}

test('it is on the card, redacted like the call, and gone once the model has it', async () => {
  const { run, requestId } = await start('ann');
  expect(await details(run, requestId)).not.toHaveProperty('userMessages');
  await update(run, 'message', { content: 'Never mind, the password is hunter2hunter2: password=hunter2hunter2' });
  await update(run, 'message', { content: 'x'.repeat(700) });
  const shown = await details(run, requestId);
  expect(shown.userMessages).toMatchObject({
    count: 2,
    last: [expect.stringContaining('[PASSWORD]'), expect.any(String)],
  });
  expect(shown.userMessages!.last[0]).not.toContain('password=hunter2');
  expect(shown.userMessages!.last[1]).toHaveLength(501);
  const card = cardOf(shown);
  expect(card.warnings).toContainEqual(expect.stringMatching(/^The user has written 2 messages /));
  expect(card.why.find(({ label }) => label === 'The user has written since')?.texts).toHaveLength(2);
  // A list stays short.
  expect(JSON.stringify(await run.handle.query('approvals'))).not.toContain('Never mind');
  await update(run, 'decide', { requestId, approved: false });
  await eventually('turn 2', async () => (await run.status()).turn === 2);
  expect(await details(run, requestId)).not.toHaveProperty('userMessages');
  await finish(run);
});

test('where the policy hides arguments, only their number is shown', async () => {
  const { run, requestId } = await start('hidden', { policy: { ...policy, approval: { include_arguments: false } } });
  await update(run, 'message', { content: 'secret words' });
  const shown = await details(run, requestId);
  expect(shown.userMessages).toEqual({ count: 1, last: [] });
  expect(cardOf(shown).warnings).toContainEqual(expect.stringContaining('which are not shown here'));
  await finish(run);
});

describe('a decision that says what it saw', () => {
  const decisions: [string, object][] = [
    ['an approval', { approved: true }],
    ['an edit', { approved: true, modifiedArguments: { to: 'ann', amount: 2 } }],
    ['an answer in the place of the tool', { approved: false, response: 'paid' }],
  ];
  test.each(decisions)('%s without the last message is refused, by update and by signal', async (_what, answer) => {
    const { run, requestId } = await start('ann');
    await update(run, 'message', { content: 'one' });
    await update(run, 'message', { content: 'two' });
    const old = { requestId, ...answer, viewed: seen(1) };
    await expect(update(run, 'decide', old)).rejects.toMatchObject({
      cause: { type: 'request_changed', message: expect.stringContaining('look at it again') },
    });
    await run.handle.signal('decide', old);
    await eventually('the signal is refused', async () => (await run.status()).refused.last.length === 1);
    expect((await run.status()).refused.last).toMatchObject([{ code: 'request_changed', requestId }]);
    expect(await run.open()).toHaveLength(1);
    expect(await update(run, 'decide', { ...old, viewed: seen(2) })).toMatchObject({ accepted: true });
    await finish(run);
  });

  test('a denial counts, and so does a decision that says nothing of it, or comes again', async () => {
    const [denied, silent] = [await start('denied'), await start('silent')];
    for (const { run } of [denied, silent]) await update(run, 'message', { content: 'one' });
    const no = { requestId: denied.requestId, approved: false, viewed: seen(0) };
    expect(await update(denied.run, 'decide', no)).toMatchObject({ outcome: 'denied' });
    const yes = { requestId: silent.requestId, approved: true };
    expect(await update(silent.run, 'decide', yes)).toMatchObject({ outcome: 'approved' });
    for (const { run } of [denied, silent]) await finish(run);
    const two = { policy: { ...policy, rules: [{ ...pay, ask: { quorum: 2 } }] } };
    const { run, requestId } = await start('voted', two);
    const vote = { requestId, approved: true, reviewerId: 'ann', decisionId: 'first', viewed: seen(0) };
    const first = await update(run, 'decide', vote);
    await update(run, 'message', { content: 'one' });
    expect(await update(run, 'decide', vote)).toEqual(first);
    const second = { ...vote, reviewerId: 'bob', decisionId: 'second' };
    await expect(update(run, 'decide', second)).rejects.toMatchObject({ cause: { type: 'request_changed' } });
    await finish(run);
  });
});

describe('when_user_writes: withdraw', () => {
  test('a message withdraws the request, a retry and a refused message do not', async () => {
    const { run, requestId } = await start('fickle');
    await run.handle.signal('message', { content: '' });
    await run.handle.signal('message', { retry: true });
    await eventually('both are refused', async () => (await run.status()).refused.total === 2);
    expect(await run.open()).toHaveLength(1);
    await update(run, 'message', { content: 'Never mind' });
    expect(await details(run, requestId)).toMatchObject({
      settled: { outcome: 'cancelled', reason: 'the user has written since', runs: false },
    });
    await eventually('turn 2', async () => (await run.status()).turn === 2);
    const messages = await run.handle.query<Message[]>('transcript');
    expect(messages.slice(2).map(({ role, content }) => `${role}: ${content}`)).toEqual([
      'tool: Cancelled: the user has written since',
      'user: Never mind',
      'assistant: Cancelled: the user has written since',
    ]);
    await finish(run);
    expect(world.ran().filter((line) => line.includes('fickle'))).toEqual([]);
  });

  test('a call that the model makes without knowing of a message is not asked about', async () => {
    const turns = [{ text: 'never', delayMs: 86_400_000 }];
    const run = await world.start(turns, { session: true, policy });
    const { activityId } = await eventually('the model is asked', async () => {
      const { raw } = await run.handle.describe();
      return raw.pendingActivities?.find(
        (each) => each.activityType?.name === activityNames.callModel && each.lastStartedTime != null,
      );
    });
    await update(run, 'message', { content: 'Never mind' });
    const calls = ['fickle', 'steady'].map((to) => ({ id: to, tool: 'pay', args: { to, amount: 1 } }));
    const answer = { text: '', calls, usage: { inputTokens: 1, outputTokens: 1 }, finishReason: 'tool-calls' };
    const { workflowId } = run;
    await world.client.session.client.activity.complete({ workflowId, activityId: activityId! }, answer);
    const [request] = await run.open();
    expect(request).toMatchObject({ arguments: { to: 'steady' } });
    expect(await details(run, request!.requestId)).toMatchObject({ userMessages: { count: 1, last: ['Never mind'] } });
    expect((await run.status()).outcomes).toMatchObject([{ callId: '1.1', outcome: 'cancelled', ran: 'no' }]);
    await finish(run);
  });
});

test('it is carried through continue-as-new', async () => {
  const { run, requestId } = await start('carried');
  await update(run, 'message', { content: 'wait' });
  await eventually('it continues as new', async () => {
    await run.handle.signal('noise');
    return (await run.status().catch(() => undefined))?.executions === 2;
  });
  expect(await details(run, requestId)).toMatchObject({ userMessages: { count: 1, last: ['wait'] } });
  const old = { requestId, approved: true, viewed: seen(0) };
  await expect(update(run, 'decide', old)).rejects.toMatchObject({ cause: { type: 'request_changed' } });
  await finish(run);
});
