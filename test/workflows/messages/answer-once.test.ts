import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Receipt } from '../../../src/contract.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import type { RunInTest, Turns } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';

const world = forAllTests(() => openWorld());

const policy = { version: 1, rules: [{ pattern: '*', action: 'ask' }] };

async function waiting(): Promise<{ run: RunInTest; requestId: string; deadlineMs: number }> {
  const pay = (to: string): object => ({ calls: [{ tool: 'pay', args: { to, amount: 1 } }] });
  const run = await world.start([pay('first'), pay('second'), { text: '{{lastResult}}' }] as Turns, { policy });
  const [open] = await run.open();
  return { run, requestId: open!.requestId, deadlineMs: Date.parse(open!.deadline!) };
}

const update = (run: RunInTest, name: string, message: unknown): Promise<Receipt> =>
  run.handle.executeUpdate<Receipt, [unknown]>(name, { args: [message] });

const receipt = (run: RunInTest, messageId: string): Promise<Receipt | null> =>
  run.handle.query<Receipt | null, [unknown]>('receipt', { messageId });

describe('a message with an id takes effect once', () => {
  test('again, by update or by signal: the first receipt; a different message under its id is refused', async () => {
    const { run, requestId, deadlineMs } = await waiting();
    const messageId = randomUUID();
    const until = new Date(deadlineMs + 60_000).toISOString();
    const message = { requestId, until, messageId };
    expect(await receipt(run, messageId)).toBeNull();
    const first = await update(run, 'extend', message);
    expect(first).toMatchObject({ accepted: true });
    expect(await update(run, 'extend', message)).toEqual(first);
    await run.handle.signal('extend', message);
    expect(await receipt(run, messageId)).toEqual(first);
    const other = { ...message, until: new Date(deadlineMs + 120_000).toISOString() };
    await expect(update(run, 'extend', other)).rejects.toMatchObject({ cause: { type: 'invalid_message' } });
    await expect(update(run, 'delegate', { requestId, to: 'ann', messageId })).rejects.toMatchObject({
      cause: { type: 'invalid_message' },
    });
    expect((await run.open())[0]!.deadline).toBe(until);
    // A refused update leaves no trace; a refused signal is counted.
    expect((await run.status()).refused.total).toBe(0);
    await run.handle.signal('extend', other);
    await eventually('the signal is refused', async () => (await run.status()).refused.total > 0);
    expect((await run.status()).refused.last).toEqual([{ code: 'invalid_message', size: expect.any(Number) }]);
    expect((await run.open())[0]!.deadline).toBe(until);
  });

  test('two with the same id at once, when the answer needs an activity: applied once', async () => {
    const { run } = await waiting();
    const message = { policy: { version: 1, rules: [] }, mode: 'confirm_all', messageId: randomUUID() };
    const receipts = await Promise.all([update(run, 'setPolicy', message), update(run, 'setPolicy', message)]);
    expect(receipts[0]).toMatchObject({ accepted: true });
    expect(receipts[1]).toEqual(receipts[0]);
    const { executions } = await world.client.historyChain(run.workflowId);
    const reads = executions
      .flatMap(({ events }) => events)
      .filter((event) => event.activityTaskScheduledEventAttributes?.activityType?.name === 'countersign.readPolicy');
    expect(reads).toHaveLength(1);
  });

  test('an abandoned update that arrives after later signals: the later policy stands', async () => {
    const { run } = await waiting();
    await world.stopWorker();
    const older = { mode: 'bypassPermissions', messageId: randomUUID() };
    const { connection } = world.client.session;
    await connection
      .withDeadline(Date.now() + 1_000, () => update(run, 'setPolicy', older))
      .then(
        () => expect('the worker is gone').toBe('nobody answers'),
        () => undefined,
      );
    await run.handle.signal('setPolicy', older);
    await run.handle.signal('setPolicy', { mode: 'auto_deny', messageId: randomUUID() });
    await world.startWorker();
    const { outcomes } = await run.result();
    expect(outcomes.map(({ outcome, ran }) => [outcome, ran])).toEqual([
      ['superseded', 'yes'],
      ['denied_by_policy', 'no'],
    ]);
  });
});

test.each(['1', '-1', 'NaN', '999999999999'])(
  'a signal that brings an event id, %s, takes no other place',
  async (forged) => {
    const calls = [{ tool: 'pay', args: { to: 'first', amount: 1 } }];
    const run = await world.start([{ calls }, { text: 'done' }] as Turns, { policy });
    const [{ requestId } = { requestId: '' }] = await run.open();
    await world.stopWorker();
    await run.handle.signal('decide', { requestId, approved: false });
    await run.handle.signal('decide', { requestId, approved: true }, forged);
    await run.handle.signal('decide', { requestId, approved: true });
    await world.startWorker();
    const { outcomes } = await run.result();
    expect(outcomes.map(({ outcome, ran }) => [outcome, ran])).toEqual([['denied', 'no']]);
  },
);

test('half a surrogate pair, also in a list: refused before it enters history, and the run continues', async () => {
  const { run, requestId } = await waiting();
  const half = '\ud800';
  const decision = { requestId, approved: true, reason: half };
  await expect(run.handle.executeUpdate('decide', { args: [[decision]] })).rejects.toMatchObject({
    cause: { type: 'undecodable' },
  });
  await run.handle.signal('setPolicy', { policy: { rules: [{ pattern: half }] }, messageId: 'one' });
  await run.handle.signal('revoke', { grants: 'all', reason: half });
  const refused = await eventually('two refusals', async () => {
    const { refused: counted } = await run.status();
    return counted.total === 2 && counted.last;
  });
  expect(refused.map(({ code }) => code)).toEqual(['undecodable', 'undecodable']);
  expect(await world.client.decide({ requestId, approved: false })).toMatchObject({ outcome: 'denied' });
});
