import { afterAll, beforeAll, expect, test } from 'vitest';
import { journalIn } from '../../../src/client/history/written-by-gate.ts';
import type { Decision, Receipt } from '../../../src/contract.ts';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';
import { eventually } from '../../support/eventually.ts';
import type { RunInTest, World } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';

/** Messages that arrive while an edit is being checked: another edit of the request, and the same decision again. */

/** The assessment of calls with amount 9999 waits for the test. */
const checking = { count: 0, letGo: (): void => {} };
let world: World;
beforeAll(async () => {
  const slow = async ({ args }: { args: JsonObject }): Promise<undefined> => {
    if (args.amount !== 9_999) return;
    checking.count++;
    await new Promise<void>((resolve) => (checking.letGo = resolve));
  };
  world = await openWorld({ assessors: [slow] });
});
afterAll(() => world.close());

const policy: JsonObject = {
  rules: [
    { pattern: 'pay', action: 'ask' },
    { pattern: 'pay', args: { to: 'denied' }, when: 'args.amount > 9000.0', action: 'deny' },
  ],
};
async function editing(
  to: string,
): Promise<{ run: RunInTest; edit: (amount: number) => Decision; answer: Promise<Receipt> }> {
  const calls = [{ tool: 'pay', args: { to, amount: 1 } }];
  const run = await world.start([{ calls }, { text: 'done' }], { policy });
  const [request] = await run.open();
  const { requestId } = request!;
  const edit = (amount: number): Decision => ({
    requestId,
    approved: true,
    decisionId: `edit-${amount}`,
    always: to === 'always',
    modifiedArguments: { to, amount },
  });
  const before = checking.count;
  const answer = run.handle.executeUpdate<Receipt, [unknown]>('decide', { args: [edit(9_999)] });
  // Awaited later; may be refused.
  answer.catch(() => {});
  await eventually('the edit is being checked', () => checking.count > before);
  return { run, edit, answer };
}
async function inHistory(run: RunInTest): Promise<{ updates: number; checks: number }> {
  const { events = [] } = await run.handle.fetchHistory();
  return {
    updates: events!.filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes != null).length,
    checks: events!.filter(
      ({ activityTaskScheduledEventAttributes: each }) => each?.activityType?.name === 'countersign.checkEdit',
    ).length,
  };
}

test('another edit is refused before history, and evaluated when it is repeated under its id', async () => {
  const { run, edit, answer } = await editing('denied');
  const { workflowId } = run;
  const other = edit(5);
  await expect(world.client.decide(other, { workflowId })).rejects.toMatchObject({ code: 'rate_limited' });
  expect(await inHistory(run)).toEqual({ updates: 1, checks: 1 });
  checking.letGo();
  await expect(answer).rejects.toMatchObject({ cause: { type: 'denied_by_policy' } });
  await expect(world.client.decide(other, { workflowId })).resolves.toMatchObject({ outcome: 'approved' });
  expect((await run.result()).status).toBe('completed');
  expect(world.ran()).toContain('pay denied 5');
});

test('the same decision again, by signal and by update: one check, one answer, nothing counted as refused', async () => {
  const { run, edit, answer } = await editing('same');
  const before = (await run.handle.describe()).historyLength;
  await run.handle.signal('decide', edit(9_999));
  const again = run.handle.executeUpdate<Receipt, [unknown]>('decide', { args: [edit(9_999)] });
  await eventually('both are in history', async () => (await inHistory(run)).updates === 2);
  expect((await run.handle.describe()).historyLength).toBeGreaterThan(before);
  checking.letGo();
  expect(await answer).toMatchObject({ accepted: true, outcome: 'approved' });
  expect(await again).toEqual(await answer);
  expect((await run.result()).status).toBe('completed');
  expect((await inHistory(run)).checks).toBe(1);
  expect((await run.status()).refused.total).toBe(0);
});

test('all grants are revoked meanwhile: the grant from the edit is revoked too', async () => {
  const { run, answer } = await editing('always');
  const revoke = (): Promise<Receipt> =>
    run.handle.executeUpdate<Receipt, [unknown]>('revoke', { args: [{ grants: 'all', by: 'ann' }] });
  expect(await revoke()).toMatchObject({ accepted: true, message: 'there was no grant to revoke' });
  checking.letGo();
  expect(await answer).toMatchObject({ accepted: true, grantId: 'grant-1' });
  expect(await run.handle.query('grants')).toEqual([]);
  await run.result();
  const { executions } = await world.client.historyChain(run.workflowId);
  const journal = executions.flatMap(({ events }) => events).flatMap(journalIn);
  expect(journal.find(({ kind }) => kind === 'revoked')).toMatchObject({ grantId: 'grant-1', reviewerId: 'ann' });
});
