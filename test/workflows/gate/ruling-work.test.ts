import { expect, test } from 'vitest';
import { sentences } from '../../../src/core/ledger/sentences.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { openWorld } from '../../support/world.ts';

/** Rulings that are made in one step cost at most half a second together: a task that takes five is repeated for ever (I5). */

const world = forAllTests(() => openWorld());

const many = <Item>(count: number, itemOf: (index: number) => Item): Item[] =>
  Array.from({ length: count }, (_, index) => itemOf(index));
const parts = many(256, () => 'a').join(';');
/** 256 parts, and a long text that each deny and ask rule is matched against as well. */
const long = (index: number) => ({ tool: 'bash', args: { command: `${parts} #${'a'.repeat(15_000)}${index}` } });

test('the calls of a turn beyond that are refused, and the model may make them again', async () => {
  const rules = [
    { pattern: 'bash', action: 'deny' },
    ...many(100, () => ({ pattern: 'bash:*a?*[b-z]*', action: 'deny' })),
  ];
  const turns = [{ calls: many(20, long) }, { calls: [long(20)] }, { text: '{{lastResult}}' }];
  const run = await world.start(turns, { policy: { version: 1, rules } });
  const { outcomes, output } = await run.result();
  const told = outcomes.map(({ outcome }) => outcome);
  const ruled = told.indexOf('refused');
  expect(ruled).toBeGreaterThan(1);
  expect(told).toEqual([
    ...many(ruled, () => 'denied_by_policy'),
    ...many(20 - ruled, () => 'refused'),
    'denied_by_policy',
  ]);
  expect(output).toBe("Denied: Policy denies 'bash'");
});

test('a change of policy rules again on as many open requests, and cancels the others', async () => {
  const asks = { pattern: 'bash', action: 'ask' };
  const approval = { max_pending: 50 };
  const policy = { version: 1, rules: [asks], approval };
  const run = await world.start([{ calls: many(24, long) }, { text: 'done' }], { policy });
  await run.open(24);
  const rules = [asks, ...many(100, (index) => ({ pattern: `bash:*a?*[b-z]*${index % 10}`, action: 'deny' }))];
  await world.client.setPolicy(run.workflowId, { policy: { version: 1, rules, approval } });
  const open = await run.open();
  expect(open.length).toBeLessThan(24);
  await world.client.decide(open.map(({ requestId }) => ({ requestId, approved: false })));
  const { outcomes } = await run.result();
  expect(new Set(outcomes.map(({ outcome }) => outcome))).toEqual(new Set(['cancelled', 'denied']));
  const { entries } = await world.client.journal(run.workflowId);
  const reasons = entries.flatMap(({ outcome, reason }) => (outcome === 'cancelled' ? [reason] : []));
  expect(new Set(reasons)).toEqual(new Set([sentences.notRuledAgain]));
});
