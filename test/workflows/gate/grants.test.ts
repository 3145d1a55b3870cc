import { describe, expect, test } from 'vitest';
import type { Grant, Receipt } from '../../../src/contract.ts';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import type { RunInTest, Turns } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';

/** The grants that "always" creates, on real runs (I14; docs/wire.md). */

const world = forAllTests(() => openWorld());

const pay = (to: string, amount: number) => ({ calls: [{ tool: 'pay', args: { to, amount } }] });
const done = { text: 'done: {{lastResult}}' };
const decide = (run: RunInTest, decision: object): Promise<Receipt> =>
  run.handle.executeUpdate<Receipt, [unknown]>('decide', { args: [decision] });
const paid = (to: string): number => world.ran().filter((line) => line.startsWith(`pay ${to} `)).length;

test.each<[string, object, object, boolean]>([
  ['true: any call of the tool', { always: true }, pay('{{to}}', 2), true],
  ['the same call', { always: { kind: 'call' } }, pay('{{to}}', 1), true],
  ['the same call, not another', { always: { kind: 'call' } }, pay('{{to}}', 2), false],
  ['arguments that fit', { always: { kind: 'arguments', match: { amount: '?' } } }, pay('{{to}}', 9), true],
  ['arguments that do not', { always: { kind: 'arguments', match: { amount: '?' } } }, pay('{{to}}', 10), false],
])('always, %s', async (name, always, second, isGranted) => {
  const to = `g${name.length}${isGranted}`;
  const turns = JSON.parse(JSON.stringify([pay(to, 1), second, done]).replaceAll('{{to}}', to)) as Turns;
  const run = await world.start(turns);
  const [first] = await run.open();
  const receipt = await decide(run, { requestId: first!.requestId, approved: true, ...always });
  expect(receipt).toMatchObject({ accepted: true, outcome: 'approved', grantId: 'grant-1' });
  if (!isGranted) {
    const [again] = await run.open();
    await decide(run, { requestId: again!.requestId, approved: false });
  }
  const { outcomes } = await run.result();
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(['approved', isGranted ? 'allowed' : 'denied']);
  expect(paid(to)).toBe(isGranted ? 2 : 1);
});

describe('open siblings', () => {
  const three = (to: string) => [{ calls: [1, 2, 3].map((amount) => ({ tool: 'pay', args: { to, amount } })) }, done];

  test('a sibling that a new grant covers is settled by it, and the receipt names it (I14)', async () => {
    const run = await world.start(three('sib'));
    const [one, two, other] = await run.open(3);
    const receipt = await decide(run, { requestId: one!.requestId, approved: true, always: true });
    const settled = [two!, other!].map(({ requestId }) => ({ requestId, outcome: 'superseded' }));
    expect(receipt).toMatchObject({ settled });
    expect(receipt.message).toContain(two!.requestId);
    const { outcomes } = await run.result();
    expect(outcomes.map(({ outcome, ran }) => [outcome, ran])).toEqual([
      ['approved', 'yes'],
      ['superseded', 'yes'],
      ['superseded', 'yes'],
    ]);
    expect(paid('sib')).toBe(3);
  });

  test('a decision without always does not affect the others', async () => {
    const run = await world.start(three('alone'));
    const [one] = await run.open(3);
    await decide(run, { requestId: one!.requestId, approved: false });
    expect(await run.status()).toMatchObject({ counts: { open: 2, denials: 1 } });
    await run.handle.terminate();
  });

  test('always denied: the other requests are denied too, now and later', async () => {
    const run = await world.start([...three('never').slice(0, 1), pay('never', 4), done]);
    const [one] = await run.open(3);
    await decide(run, { requestId: one!.requestId, approved: false, always: true, reason: 'Not today' });
    const { outcomes, output } = await run.result();
    expect(outcomes.map(({ outcome, ran }) => [outcome, ran])).toEqual([
      ['denied', 'no'],
      ['superseded', 'no'],
      ['superseded', 'no'],
      ['denied', 'no'],
    ]);
    expect(output).toBe('done: Denied: Not today');
    expect(paid('never')).toBe(0);
  });
});

test('a grant is listed, runs out of uses, and can be revoked', async () => {
  const run = await world.start([1, 2, 3, 4].map((amount) => pay('uses', amount)));
  const grants = (): Promise<Grant[]> => run.handle.query<Grant[]>('grants');
  const [one] = await run.open();
  await decide(run, {
    requestId: one!.requestId,
    approved: true,
    always: { kind: 'tool', uses: 1 },
    reviewerId: 'ann',
  });
  const [third] = await run.open();
  expect(third!.arguments).toMatchObject({ amount: 3 });
  expect(await grants()).toEqual([]);
  await decide(run, {
    requestId: third!.requestId,
    approved: true,
    always: { kind: 'arguments', match: { amount: '3' } },
  });
  await run.open();
  expect(await grants()).toMatchObject([{ grantId: 'grant-2', tool: 'pay', scope: { match: { amount: '3' } } }]);
  const revoke = (ids: unknown): Promise<Receipt> => run.handle.executeUpdate('revoke', { args: [{ grants: ids }] });
  await expect(revoke(['grant-9'])).rejects.toMatchObject({ cause: { type: 'grant_unknown' } });
  expect(await revoke(['grant-2'])).toMatchObject({ accepted: true, message: 'revoked grant-2' });
  expect(await grants()).toEqual([]);
  await run.handle.terminate();
});

test.each<[string, object, string | undefined]>([
  ['always: false admits none', { always: false }, undefined],
  ['always: call narrows a wish for the tool', { always: 'call' }, 'call'],
])('a rule with %s', async (_, ask, kind) => {
  const policy = { rules: [{ pattern: 'pay', action: 'ask', ask }] } as JsonObject;
  const run = await world.start([pay('narrow', 1), done], { policy });
  const [one] = await run.open();
  const receipt = await decide(run, { requestId: one!.requestId, approved: true, always: { kind: 'tool' } });
  expect(receipt.outcome).toBe('approved');
  expect(receipt.grantId).toBe(kind === undefined ? undefined : 'grant-1');
  expect(receipt.message).toMatch(
    kind === undefined ? /no grant: the rule that asked admits none/ : /\(call\), narrowed/,
  );
  await run.result();
});

test("a grant by those who may answer one rule does not answer another rule's request", async () => {
  const rules: JsonObject[] = [
    { pattern: 'pay', action: 'ask' },
    { pattern: 'pay', when: 'args.amount > 100', action: 'ask', ask: { reviewers: ['cfo'] } },
  ];
  const run = await world.start([pay('split', 1), pay('split', 2), pay('split', 500), done], {
    policy: { rules },
  });
  const [one] = await run.open();
  await decide(run, { requestId: one!.requestId, approved: true, always: true, reviewerId: 'bob' });
  const [large] = await run.open();
  expect(large!.arguments).toMatchObject({ amount: 500 });
  await expect(decide(run, { requestId: large!.requestId, approved: true, reviewerId: 'bob' })).rejects.toMatchObject({
    cause: { type: 'not_entitled' },
  });
  await decide(run, { requestId: large!.requestId, approved: true, reviewerId: 'cfo' });
  expect(await run.result()).toMatchObject({ output: 'done: paid 500 to split' });
});
