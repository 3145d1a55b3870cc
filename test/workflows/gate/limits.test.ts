import { expect, test } from 'vitest';
import { forAllTests } from '../../support/for-all-tests.ts';
import { openWorld } from '../../support/world.ts';

/** The limits of a policy (docs/policy-reference.md), on real runs. */

const world = forAllTests(() => openWorld());

const pay = (to: string, amount: number) => ({ calls: [{ tool: 'pay', args: { to, amount } }] });
const done = { text: 'told: {{lastResult}}' };

test('a tool that was denied three times is denied from then on, without asking', async () => {
  const run = await world.start([pay('n', 1), pay('n', 2), pay('n', 3), pay('n', 4), done]);
  for (let index = 1; index <= 3; index++) {
    const [request] = await run.open();
    expect(request!.arguments).toMatchObject({ amount: index });
    await run.handle.signal('decide', { requestId: request!.requestId, approved: false });
  }
  const { output, outcomes } = await run.result();
  expect(output).toBe('told: Denied: This action was permanently denied after 3 attempts. Do not retry this tool.');
  expect(outcomes.at(-1)).toEqual({ callId: '4.1', toolName: 'pay', outcome: 'refused', ran: 'no' });
});

test('a repeated call that a reviewer denied gets that denial again, and it counts', async () => {
  const run = await world.start([pay('again', 1), pay('again', 1), done]);
  const [request] = await run.open();
  await run.handle.signal('decide', { requestId: request!.requestId, approved: false, reason: 'Wrong account' });
  const { output, outcomes } = await run.result();
  expect(output).toBe('told: Denied: Wrong account');
  expect(outcomes.map(({ outcome, requestId }) => [outcome, requestId !== undefined])).toEqual([
    ['denied', true],
    ['denied', false],
  ]);
  expect(await run.status()).toMatchObject({ counts: { asks: 1, denials: 2 } });
});

test('irreversible calls of a run: pending ones count, and the next is refused before asking', async () => {
  const wipes = { calls: [1, 2, 3].map(() => ({ tool: 'wipe', args: {} })) };
  const run = await world.start([wipes, done], {
    policy: { rules: [{ pattern: 'wipe', action: 'ask' }], approval: { max_irreversible_per_run: 2 } },
  });
  const open = await run.open(2);
  expect(open).toHaveLength(2);
  for (const { requestId } of open) await run.handle.signal('decide', { requestId, approved: true });
  const { output, outcomes } = await run.result();
  expect(output).toBe('told: Denied: This run may make at most 2 calls that cannot be undone.');
  expect(outcomes.map(({ outcome }) => outcome).toSorted()).toEqual(['approved', 'approved', 'refused']);
});

test("batch sequential: one request at a time, in the model's order", async () => {
  const run = await world.start(
    [{ calls: [1, 2, 3].map((amount) => ({ tool: 'pay', args: { to: 'seq', amount } })) }, done],
    {
      policy: { rules: [], approval: { batch: 'sequential' } },
    },
  );
  for (let amount = 1; amount <= 3; amount++) {
    const open = await run.open();
    expect(open.map((each) => each.arguments['amount'])).toEqual([amount]);
    await run.handle.signal('decide', { requestId: open[0]!.requestId, approved: true });
  }
  await run.result();
  expect(world.ran().filter((line) => line.startsWith('pay seq'))).toEqual(['pay seq 1', 'pay seq 2', 'pay seq 3']);
});

test('denied_as error: the model gets a denial as an error', async () => {
  const run = await world.start([pay('error', 1), done], {
    policy: { rules: [{ pattern: 'pay', action: 'deny' }], approval: { denied_as: 'error' } },
  });
  await run.result();
  const messages = await run.handle.query<object[]>('transcript');
  expect(messages).toContainEqual(expect.objectContaining({ role: 'tool', isError: true }));
});

test('include_arguments false: reviewers see names, and the requested call runs', async () => {
  const run = await world.start([pay('hidden', 7), done], {
    policy: { rules: [], approval: { include_arguments: false } },
  });
  const [request] = await run.open();
  expect(request).toMatchObject({ arguments: {}, shown: 'part' });
  await run.handle.signal('decide', { requestId: request!.requestId, approved: true });
  expect((await run.result()).output).toBe('told: paid 7 to hidden');
});

test.each<[string, object | undefined, boolean]>([
  [
    'the ceiling allows it: the call runs, and is reported as expired',
    { approval: { on_timeout: 'allow', timeout: '300ms' }, rules: [] },
    true,
  ],
  ['no ceiling allows it: denied', undefined, false],
])('on_timeout allow, with %s', async (_, ceiling, runs) => {
  const own = await openWorld(ceiling === undefined ? {} : { policy: ceiling });
  try {
    const policy = {
      rules: [{ pattern: 'look', action: 'ask' }],
      approval: { on_timeout: 'allow', timeout: '300ms' },
    };
    const run = await own.start([{ calls: [{ tool: 'look', args: { what: 'sky' } }] }, done], {
      policy,
    });
    const { output, outcomes } = await run.result();
    expect(outcomes).toMatchObject([{ outcome: 'expired', ran: runs ? 'yes' : 'no' }]);
    expect(output).toBe(runs ? 'told: saw sky' : 'told: Denied: no decision within 0.3s');
  } finally {
    await own.close();
  }
});
