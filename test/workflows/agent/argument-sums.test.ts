import { expect, test } from 'vitest';
import type { Decision, Receipt } from '../../../src/contract.ts';
import { exported, verified } from '../../audit/audit-file.ts';
import { pay } from '../replay/recorded/play-runs.ts';
import { payingUpTo100 } from '../replay/recorded/agents.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { openWorld, type RunInTest, type Turns } from '../../support/world.ts';

/** Rules that add up what a run pays: calls of one turn, decisions, edits, changes of policy, further executions. */

const world = forAllTests(() =>
  openWorld({
    // The tool's worker does not know the sum: what the run allowed runs there all the same.
    policy: { ...payingUpTo100, version: 1 },
    continueAsNewAfter: { historyEvents: 40 },
  }),
);

const decide = (run: RunInTest, decision: Decision): Promise<Receipt> =>
  run.handle.executeUpdate<Receipt, [Decision]>('decide', { args: [decision] });
/** The amounts that are asked about. */
const asked = async (run: RunInTest, count: number) =>
  (await run.open(count)).map(({ requestId, arguments: args }) => ({ requestId, amount: args['amount'] }));

async function expectAudited(run: RunInTest): Promise<void> {
  const lines = await exported(world.client.audit(run.workflowId));
  expect(await verified(lines)).toMatchObject({ findings: [] });
}

test('of parallel calls the first ones that fit run, and the others are asked about, over further executions', async () => {
  const turns: Turns = [
    { calls: [pay(60, 'p1'), pay(60, 'p2'), pay(40, 'p3')] },
    { calls: [pay(40, 'p4'), pay(1, 'p5')] },
    { text: 'done' },
  ];
  const run = await world.start(turns);
  const first = await asked(run, 2);
  expect(first.map(({ amount }) => amount)).toEqual([60, 40]);
  for (const { requestId } of first) await decide(run, { requestId, approved: false });
  const [last] = await asked(run, 1);
  expect(last!.amount).toBe(1);
  await decide(run, { requestId: last!.requestId, approved: true });
  const { status } = await run.result();
  expect([
    status,
    world
      .ran()
      .filter((line) => / p\d /.test(line))
      .toSorted(),
  ]).toEqual(['completed', ['pay p1 60', 'pay p4 40', 'pay p5 1']]);
  await expectAudited(run);
});

test('an edited call counts what runs, and a change of policy counts what ran before it', async () => {
  const turns: Turns = [
    { calls: [pay(90, 'e1'), pay(50, 'e2')] },
    { calls: [pay(5, 'e3'), pay(6, 'e4')] },
    { text: 'done' },
  ];
  const run = await world.start(turns);
  const [over] = await asked(run, 1);
  const modifiedArguments = { to: 'e2', amount: 4 };
  // What the reviewer wrote fits, without the share of what it replaces.
  expect(await decide(run, { requestId: over!.requestId, approved: true, modifiedArguments })).toMatchObject({
    outcome: 'approved',
  });
  const [last] = await asked(run, 1);
  expect(last!.amount).toBe(6);
  const when = "sum('pay', 'amount') + args.amount > 104.0";
  const policy = { rules: [{ id: 'most', pattern: 'pay', when, action: 'deny' }] };
  await run.handle.executeUpdate('setPolicy', { args: [{ policy }] });
  const { outcomes } = await run.result();
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(['allowed', 'approved', 'allowed', 'superseded']);
  expect(
    world
      .ran()
      .filter((line) => / e\d /.test(line))
      .toSorted(),
  ).toEqual(['pay e1 90', 'pay e2 4', 'pay e3 5']);
  await expectAudited(run);
});
