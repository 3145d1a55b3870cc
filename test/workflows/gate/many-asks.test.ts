import { expect, test } from 'vitest';
import { forAllTests } from '../../support/for-all-tests.ts';
import { seededRandom } from '../../support/seeded-random.ts';
import { openWorld } from '../../support/world.ts';

const world = forAllTests(() => openWorld());

const payAll = (count: number, to: string) => [
  { calls: Array.from({ length: count }, (_, amount) => ({ tool: 'pay', args: { to, amount } })) },
  { text: 'done' },
];

test.each([1, 2, 3])(
  'eight requests of one turn, decided in random order (seed %i): each answer reaches its own call',
  async (seed) => {
    const random = seededRandom(seed);
    const run = await world.start(payAll(8, `shuffled-${seed}`));
    const requests = await run.open(8);
    const answers = requests.map(({ requestId, arguments: args }) => ({
      requestId,
      approved: random.chance(0.5),
      args,
    }));
    for (const { requestId, approved } of random.shuffled(answers)) {
      await run.handle.signal('decide', { requestId, approved, ...(!approved && { reason: `no to ${requestId}` }) });
    }
    expect((await run.result()).status).toBe('completed');
    const approved = answers
      .filter((each) => each.approved)
      .map(({ args }) => `pay shuffled-${seed} ${String(args['amount'] as number)}`);
    expect(
      world
        .ran()
        .filter((line) => line.startsWith(`pay shuffled-${seed} `))
        .sort(),
    ).toEqual(approved.sort());
    const transcript = await run.handle.query<{ role: string; content: string }[]>('transcript');
    const told = transcript.filter(({ role }) => role === 'tool').map(({ content }) => content);
    expect(told).toEqual(
      answers.map(({ requestId, approved: yes, args }) =>
        yes ? `paid ${String(args['amount'] as number)} to shuffled-${seed}` : `Denied: no to ${requestId}`,
      ),
    );
  },
);

test('a denial never denies another request, and an approval releases no other (I14)', async () => {
  const run = await world.start(payAll(3, 'siblings'));
  const [first, second, third] = await run.open(3);
  await run.handle.executeUpdate('decide', { args: [{ requestId: first!.requestId, approved: false }] });
  await run.handle.executeUpdate('decide', { args: [{ requestId: second!.requestId, approved: true }] });
  expect((await run.open()).map(({ requestId }) => requestId)).toEqual([third!.requestId]);
  await run.handle.terminate();
});

test('the same call twice in one turn, under one model id: two requests, answered separately', async () => {
  const call = { id: 'same', tool: 'pay', args: { to: 'twin', amount: 1 } };
  const run = await world.start([{ calls: [call, call] }, { text: 'done' }]);
  const [first, second] = await run.open(2);
  expect(first!.requestId).not.toBe(second!.requestId);
  await run.handle.signal('decide', { requestId: second!.requestId, approved: true });
  await run.handle.signal('decide', { requestId: first!.requestId, approved: false });
  await run.result();
  expect(world.ran().filter((line) => line === 'pay twin 1')).toHaveLength(1);
});

test('60 requests in one turn: ten wait, the limit answers the rest, and nothing is terminated', async () => {
  const run = await world.start(payAll(60, 'crowd'));
  const requests = await run.open(10);
  expect(requests).toHaveLength(10);
  await run.handle.signal(
    'decide',
    requests.map(({ requestId }) => ({ requestId, approved: true })),
  );
  const { status, outcomes } = await run.result();
  expect(status).toBe('completed');
  expect(outcomes.filter(({ outcome }) => outcome === 'refused')).toHaveLength(50);
  expect(outcomes.filter(({ outcome, ran }) => outcome === 'approved' && ran === 'yes')).toHaveLength(10);
  const transcript = await run.handle.query<{ role: string; content: string }[]>('transcript');
  expect(transcript.filter(({ content }) => content === 'Denied: Too many pending approval requests.')).toHaveLength(
    50,
  );
});

test('50 requests, the most a policy may allow: the index holds them all', async () => {
  const run = await world.start(payAll(60, 'fifty'), { policy: { version: 1, approval: { max_pending: 50 } } });
  const requests = await run.open(50);
  expect(requests).toHaveLength(50);
  const description = await run.handle.describe();
  expect(description.searchAttributes['ApprovalIds']).toHaveLength(50);
  const memo = description.memo!['approvals'] as { open: unknown[]; more?: number };
  expect(memo.open.length + (memo.more ?? 0)).toBe(50);
  await run.handle.signal(
    'decide',
    requests.map(({ requestId }) => ({ requestId, approved: false })),
  );
  expect((await run.result()).outcomes.filter(({ outcome }) => outcome === 'denied')).toHaveLength(50);
});
