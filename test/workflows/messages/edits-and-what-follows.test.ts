import { describe, expect, test } from 'vitest';
import type { ApprovalDetails, Receipt } from '../../../src/contract.ts';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import { inTime, secondsInTime } from '../../support/in-time.ts';
import type { RunInTest, Turns } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';

/** Edits combined with other features: standing denials, limits, hidden arguments, a worker that was away (I9). */

const world = forAllTests(() =>
  openWorld({
    policy: {
      rules: [
        { pattern: 'wipe', action: 'ask' },
        ...secondsInTime(3).map((seconds) => {
          const when = `args.what == "runs ${seconds}"`;
          return { pattern: 'look', action: 'ask', when, ask: { timeout: `${2 * seconds + 2}s` } };
        }),
      ],
      approval: { on_timeout: 'allow' },
    },
  }),
);

const update = (run: RunInTest, name: string, message: object): Promise<Receipt> =>
  run.handle.executeUpdate<Receipt, [unknown]>(name, { args: [message] });
const refused = (code: string): object => ({ cause: { type: code } });
const pays = (...calls: [string, number][]): Turns => [
  { calls: calls.map(([to, amount]) => ({ tool: 'pay', args: { to, amount } })) },
  { text: '{{lastResult}}' },
];
const details = (run: RunInTest, requestId: string): Promise<ApprovalDetails> =>
  run.handle.query<ApprovalDetails, [unknown]>('approvals', { requestId });
const asks: JsonObject = { rules: [{ pattern: 'pay', action: 'ask' }] };

test('an edit into a standing denial is refused', async () => {
  const run = await world.start(pays(['mallory', 1], ['ann', 2]), { policy: asks });
  const [first, second] = await run.open(2);
  const always = { kind: 'arguments', match: { to: 'mal*' } };
  await update(run, 'decide', { requestId: first!.requestId, approved: false, always });
  const { requestId } = second!;
  const edit = { requestId, approved: true, modifiedArguments: { to: 'mallory', amount: 2 } };
  await expect(update(run, 'decide', edit)).rejects.toMatchObject(refused('denied_by_policy'));
  await update(run, 'decide', { requestId, approved: true });
  await run.result();
  expect(world.ran()).toContain('pay ann 2');
  expect(world.ran()).not.toContain('pay mallory 2');
});

test('an edit into an irreversible call counts, and is refused once the run has reached its limit', async () => {
  const policy = {
    rules: [{ pattern: 'echo', action: 'ask' }],
    assess: [{ pattern: 'echo', args: { amount: '500' }, severity: 'high', reversible: false }],
    approval: { max_irreversible_per_run: 1 },
  };
  const calls = [1, 2].map((amount) => ({ tool: 'echo', args: { amount } }));
  const run = await world.start([{ calls }, { text: 'done' }], { policy });
  const [first, second] = await run.open(2);
  const edit = (requestId: string): Promise<Receipt> =>
    update(run, 'decide', { requestId, approved: true, modifiedArguments: { amount: 500 } });
  await edit(first!.requestId);
  await expect(edit(second!.requestId)).rejects.toMatchObject(refused('denied_by_policy'));
  await update(run, 'decide', { requestId: second!.requestId, approved: true });
  expect((await run.status()).counts).toMatchObject({ irreversible: 1 });
  await run.result();
});

test('if arguments are hidden, edited arguments are too', async ({ onTestFinished }) => {
  const hiding = await openWorld({ policy: { ...asks, approval: { include_arguments: false } } });
  onTestFinished(() => hiding.close());
  const run = await hiding.start(pays(['hidden', 1]));
  const [request] = await run.open();
  const { requestId } = request!;
  await update(run, 'decide', { requestId, approved: true, modifiedArguments: { to: 'hidden-secret', amount: 9 } });
  expect(JSON.stringify(await details(run, requestId))).not.toContain('hidden-secret');
  await run.result();
});

test('below a ceiling, a change of policy that hides arguments is refused', async () => {
  const run = await world.start(pays(['shown', 1]), { policy: asks });
  const [request] = await run.open();
  const hides = { policy: { ...asks, approval: { include_arguments: false } } };
  await expect(update(run, 'setPolicy', hides)).rejects.toMatchObject({
    cause: { type: 'policy_invalid', message: expect.stringContaining('approval.include_arguments: ') },
  });
  expect(await details(run, request!.requestId)).toMatchObject({ arguments: { to: 'shown', amount: 1 } });
  await run.handle.terminate();
});

describe('the same rule with other terms', () => {
  const turns = (seconds: number) => [
    { calls: [{ tool: 'look', args: { what: `runs ${seconds}` } }] },
    { text: '{{lastResult}}' },
  ];
  const policy = (on_timeout: string, seconds: number): JsonObject => ({
    rules: [{ id: 'look', pattern: 'look', action: 'ask', ask: { timeout: `${seconds}s` } }],
    approval: { on_timeout },
  });

  test.each([
    ['a request no longer runs by itself at its deadline', 'allow', 'deny'],
    ['a request that would be denied soon does not run then: the ceiling gives it longer', 'deny', 'allow'],
  ])('%s', async (_name, before, after) => {
    const { played: run } = await inTime(3, async (seconds) => {
      const asked = await world.start(turns(seconds), { policy: policy(before, seconds) });
      await asked.open();
      await update(asked, 'setPolicy', { policy: policy(after, seconds) });
      return asked;
    });
    const { outcomes } = await run.result();
    expect(outcomes).toMatchObject([{ outcome: 'expired', ran: 'no' }]);
  });
});

test('an edit sent in time while the worker was away: the new request gets its full time', async () => {
  const policy = (seconds: number): JsonObject => ({
    rules: [
      { pattern: 'pay', action: 'ask', ask: { reviewers: ['ann'], timeout: `${seconds}s` } },
      {
        id: 'large',
        pattern: 'pay',
        when: 'args.amount > 1000.0',
        action: 'ask',
        ask: { reviewers: ['cfo'], timeout: '1h' },
      },
    ],
  });
  const { played } = await inTime(8, async (seconds) => {
    await world.stopWorker();
    await world.startWorker();
    const run = await world.start(pays(['away', 1]), { policy: policy(seconds) });
    const [request] = await run.open();
    await world.stopWorker();
    const { requestId } = request!;
    const modifiedArguments = { to: 'away', amount: 2_000 };
    await run.handle.signal('decide', { requestId, approved: true, reviewerId: 'ann', modifiedArguments });
    return { run, ...request! };
  });
  const { run, requestId, deadline } = played;
  await eventually('the deadline is over', () => Promise.resolve(Date.now() > Date.parse(deadline!) + 1_500));
  const backAt = Date.now();
  await world.startWorker();
  const [next] = await eventually('the new request', async () => {
    const open = await run.open();
    return open[0]!.requestId !== requestId && open;
  });
  expect(Date.parse(next!.requestedAt)).toBeGreaterThanOrEqual(backAt);
  expect(Date.parse(next!.deadline!) - Date.parse(next!.requestedAt)).toBe(3_600_000);
  await update(run, 'decide', { requestId: next!.requestId, approved: true, reviewerId: 'cfo' });
  expect((await run.result()).output).toContain('paid 2000 to away');
});
