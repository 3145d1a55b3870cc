import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Decision, RunInput } from '../../src/contract.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { type RunInTest, openWorld } from '../support/world.ts';

const world = forAllTests(() => openWorld());

async function startAsking(
  count = 1,
  input: Partial<RunInput> = {},
): Promise<{ run: RunInTest; ids: string[]; workflowId: string }> {
  const calls = Array.from({ length: count }, (_, index) => ({
    tool: 'pay',
    args: { to: `p${index}`, amount: index },
  }));
  const run = await world.start([{ calls }, { text: '{{lastResult}}' }], input);
  const ids = (await run.open(count)).map(({ requestId }) => requestId);
  return { run, ids, workflowId: run.workflowId };
}

describe('decide, with a worker', () => {
  test('approve: the receipt says so and the tool runs', async () => {
    const { run, ids } = await startAsking();
    await expect(world.client.decide({ requestId: ids[0]!, approved: true })).resolves.toMatchObject({
      requestId: ids[0],
      accepted: true,
      outcome: 'approved',
    });
    await expect(run.result()).resolves.toMatchObject({ output: 'paid 0 to p0' });
  });

  test('deny: the reason reaches the model', async () => {
    const { run, ids, workflowId } = await startAsking();
    await world.client.decide({ requestId: ids[0]!, approved: false, reason: 'not today' }, { workflowId });
    await expect(run.result()).resolves.toMatchObject({ output: 'Denied: not today' });
  });

  test('a second decision is refused, whatever it says, and names the first reviewer', async () => {
    const { ids, workflowId, run } = await startAsking(2);
    const requestId = ids[0]!;
    await world.client.decide({ requestId, approved: true, reviewerId: 'ann' }, { workflowId });
    for (const approved of [true, false]) {
      await expect(world.client.decide({ requestId, approved }, { workflowId })).rejects.toMatchObject({
        code: 'already_settled',
        message: expect.stringContaining('already settled by ann: approved'),
      });
    }
    await world.client.decide({ requestId: ids[1]!, approved: true }, { workflowId });
    await run.result();
    await expect(world.client.decide({ requestId, approved: true }, { workflowId })).rejects.toMatchObject({
      code: 'already_settled',
    });
  });

  test('the same decision again returns the receipt, also after the run has ended; a changed one under its id does not', async () => {
    const { ids, workflowId, run } = await startAsking();
    const decision = { requestId: ids[0]!, approved: true, decisionId: randomUUID() };
    const first = await world.client.decide(decision, { workflowId });
    expect(await world.client.decide(decision, { workflowId })).toEqual(first);
    await run.result();
    expect(await world.client.decide(decision, { workflowId })).toMatchObject({ accepted: true, outcome: 'approved' });
    for (const other of [{ approved: false }, { reviewerId: 'ann' }, { modifiedArguments: { to: 'p0', amount: 9 } }]) {
      await expect(world.client.decide({ ...decision, ...other }, { workflowId })).rejects.toMatchObject({
        code: 'already_settled',
      });
    }
  });

  test('after the run has ended, a decision that came by signal is known by its content', async () => {
    const { ids, workflowId, run } = await startAsking();
    const decision = { requestId: ids[0]!, approved: true, decisionId: randomUUID(), reviewerId: 'ann' };
    // By signal: the server then has no update whose result it could repeat without the run.
    await run.handle.signal('decide', decision);
    await run.result();
    expect(await world.client.decide(decision, { workflowId })).toMatchObject({ accepted: true, outcome: 'approved' });
    await expect(world.client.decide({ ...decision, reviewerId: 'bob' }, { workflowId })).rejects.toMatchObject({
      code: 'already_settled',
    });
  });

  test('a digest of something else: refused, and the request stays open', async () => {
    const { ids, workflowId, run } = await startAsking();
    const requestId = ids[0]!;
    await expect(
      world.client.decide({ requestId, approved: true, digest: '0'.repeat(64) }, { workflowId }),
    ).rejects.toMatchObject({ code: 'digest_mismatch' });
    const { digest } = await world.client.approvals.get(requestId, { workflowId });
    await world.client.decide({ requestId, approved: true, digest }, { workflowId });
    await run.result();
  });

  test.each([
    [
      'a scope that is none',
      { always: { kind: 'arguments' } },
      'invalid_decision',
      "'always.match' names globs by argument; it goes with kind 'arguments', and only with it",
    ],
    [
      "an approval in the tool's place",
      { response: 'done' },
      'invalid_decision',
      "'response' answers in the tool's place: it goes with approved: false",
    ],
    ['a misspelt field', { aproved: true }, 'invalid_decision', "unknown field 'aproved'"],
    ['too long a reason', { reason: 'x'.repeat(2_001) }, 'too_large', "'reason' is longer than 2000 characters"],
  ])('%s is refused before it is sent', async (_name, extra, code, message) => {
    const decision = { requestId: '0'.repeat(32), approved: true, ...extra } as Decision;
    await expect(world.client.decide(decision, { workflowId: 'run-nowhere' })).rejects.toMatchObject({ code, message });
  });
});

describe('decide several', () => {
  test('receipts in order, across several runs; a refusal does not affect the others', async () => {
    const one = await startAsking(2);
    const two = await startAsking(1);
    const decisions = [
      { requestId: one.ids[1]!, approved: true },
      { requestId: 'nonsense', approved: true },
      { requestId: two.ids[0]!, approved: false },
      { requestId: one.ids[0]!, approved: true },
      { requestId: one.ids[1]!, approved: false },
      { requestId: randomUUID().replaceAll('-', ''), approved: true },
    ];
    const receipts = await world.client.decide(decisions);
    expect(receipts.map(({ requestId, accepted, outcome, code }) => [requestId, accepted, code ?? outcome])).toEqual([
      [one.ids[1], true, 'approved'],
      ['nonsense', false, 'unknown_request'],
      [two.ids[0], true, 'denied'],
      [one.ids[0], true, 'approved'],
      [one.ids[1], false, 'already_settled'],
      [decisions[5]!.requestId, false, 'unknown_request'],
    ]);
    await Promise.all([one.run.result(), two.run.result()]);
  });

  test('a list in which none counts: each receipt has its own code', async () => {
    const { ids, run, workflowId } = await startAsking(2);
    await world.client.decide({ requestId: ids[0]!, approved: false, reviewerId: 'ann' }, { workflowId });
    const receipts = await world.client.decide(
      [
        { requestId: ids[0]!, approved: true },
        { requestId: ids[1]!, approved: true, digest: '0'.repeat(64) },
      ],
      { workflowId },
    );
    expect(receipts).toMatchObject([
      { requestId: ids[0], accepted: false, code: 'already_settled', settledBy: 'ann' },
      { requestId: ids[1], accepted: false, code: 'digest_mismatch' },
    ]);
    await world.client.decide({ requestId: ids[1]!, approved: true }, { workflowId });
    await run.result();
  });

  test('thirty at once, each on its own: more updates than the server admits per run; each counts once', async () => {
    const policy = { version: 1, rules: [], approval: { max_pending: 30 } };
    const { run, ids, workflowId } = await startAsking(30, { policy });
    const receipts = await Promise.all(
      ids.map((requestId) => world.client.decide({ requestId, approved: true }, { workflowId })),
    );
    // On a busy machine some may not be answered in time: these are recorded and count too.
    expect(receipts.map(({ accepted }) => accepted)).toEqual(ids.map(() => true));
    const { outcomes } = await run.result();
    expect(outcomes.map(({ outcome, ran }) => [outcome, ran])).toEqual(ids.map(() => ['approved', 'yes']));
    expect((await run.status()).refused.total).toBe(0);
  });

  test('an empty list returns an empty list', async () => {
    await expect(world.client.decide([])).resolves.toEqual([]);
  });
});

describe('decide, without a worker', () => {
  test('recorded, not yet applied; a worker applies it, and a repetition changes nothing', async () => {
    const { ids, workflowId, run } = await startAsking();
    const paid = (): number => world.ran().filter((line) => line === 'pay p0 0').length;
    const paidBefore = paid();
    await world.stopWorker();
    const decision = { requestId: ids[0]!, approved: true, decisionId: randomUUID() };
    const receipt = await world.client.decide(decision);
    expect(receipt).toMatchObject({ requestId: ids[0], accepted: true, recorded: true });
    expect(receipt.outcome).toBeUndefined();
    expect(receipt.message).toMatch(/^The decision is recorded, not yet applied: No worker answers for task queue /);
    await world.client.decide(decision, { workflowId });
    await world.startWorker();
    await expect(run.result()).resolves.toMatchObject({
      output: 'paid 0 to p0',
      outcomes: [{ outcome: 'approved', ran: 'yes' }],
    });
    expect(paid()).toBe(paidBefore + 1);
  });

  test('a run that was terminated: run_closed', async () => {
    const { ids, workflowId, run } = await startAsking();
    await run.handle.terminate('enough');
    await expect(world.client.decide({ requestId: ids[0]!, approved: true }, { workflowId })).rejects.toMatchObject({
      code: 'run_closed',
      message: `Run '${workflowId}' is closed and takes no more messages.`,
    });
  });
});
