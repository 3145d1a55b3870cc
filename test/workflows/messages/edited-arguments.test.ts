import { describe, expect, test } from 'vitest';
import type { ApprovalDetails, Receipt } from '../../../src/contract.ts';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import type { RunInTest, Turns } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';

/** Edited arguments are a new call (I9), and a response replaces the tool's result. */

const world = forAllTests(() => openWorld());

const turns = (to: string, amount: number): Turns => [
  { calls: [{ tool: 'pay', args: { to, amount } }] },
  { text: 'told: {{lastResult}}' },
];
const decide = (run: RunInTest, decision: object): Promise<Receipt> =>
  run.handle.executeUpdate<Receipt, [unknown]>('decide', { args: [decision] });
const ran = (to: string): string[] => world.ran().filter((line) => line.startsWith(`pay ${to} `));

test.each(['update', 'signal'] as const)(
  'edited by %s: the edited call runs, under its own digest, and the model is told',
  async (by) => {
    const to = `edit-${by}`;
    const run = await world.start(turns(to, 500));
    const [request] = await run.open();
    const decision = { requestId: request!.requestId, approved: true, modifiedArguments: { to, amount: 5 } };
    if (by === 'update') expect(await decide(run, decision)).toMatchObject({ accepted: true, outcome: 'approved' });
    else await run.handle.signal('decide', decision);
    const { output } = await run.result();
    expect(output).toBe(
      `told: A reviewer changed the arguments before the tool ran: amount: 500 became 5.\npaid 5 to ${to}`,
    );
    expect(ran(to)).toEqual([`pay ${to} 5`]);
    const details = await run.handle.query<ApprovalDetails, [unknown]>('approvals', { requestId: request!.requestId });
    expect(details.settled).toMatchObject({ outcome: 'approved', edited: { arguments: { amount: 5 } } });
    expect(details.settled!.edited!.digest).not.toBe(details.digest);
  },
);

const policy: JsonObject = {
  rules: [
    { pattern: 'pay', action: 'ask', ask: { reviewers: ['ann', 'bob', 'cfo'] } },
    { id: 'large', pattern: 'pay', when: 'args.amount > 1000.0', action: 'ask', ask: { reviewers: ['cfo'] } },
    { id: 'huge', pattern: 'pay', when: 'args.amount > 9000.0', action: 'deny', reason: 'Too much' },
  ],
};

describe('an edit is evaluated by the policy again', () => {
  test.each<[string, object, string]>([
    ['denied by policy', { to: 'pol', amount: 9_999 }, 'denied_by_policy'],
    ['of the wrong type', { to: 'pol', amount: 'much' }, 'arguments_invalid'],
    ['not whole', { to: 'pol' }, 'arguments_invalid'],
  ])('%s: refused, and the request stays open', async (_, modifiedArguments, code) => {
    const run = await world.start(turns('pol', 10), { policy });
    const [request] = await run.open();
    const edit = { requestId: request!.requestId, approved: true, reviewerId: 'ann', modifiedArguments };
    await expect(decide(run, edit)).rejects.toMatchObject({ cause: { type: code } });
    const [still] = await run.open();
    expect(still).toEqual(request);
    expect(await run.status()).toMatchObject({ counts: { open: 1, refused: 1 } });
    await run.handle.terminate();
  });

  test('another rule asks: a new request replaces the old one, and only its reviewers count', async () => {
    const run = await world.start(turns('succ', 10), { policy });
    const [request] = await run.open();
    const { requestId } = request!;
    const receipt = await decide(run, {
      requestId,
      approved: true,
      reviewerId: 'ann',
      modifiedArguments: { to: 'succ', amount: 2_000 },
    });
    expect(receipt).toMatchObject({ accepted: true, outcome: 'superseded' });
    const [next] = await run.open();
    expect(next).toMatchObject({
      requestId: receipt.successor,
      arguments: { amount: 2_000 },
      reviewers: ['cfo'],
      rule: 'large',
      replaces: { requestId, by: 'edit' },
    });
    expect(next!.digest).not.toBe(request!.digest);
    await expect(decide(run, { requestId, approved: true, reviewerId: 'cfo' })).rejects.toMatchObject({
      cause: { type: 'already_settled' },
    });
    await decide(run, { requestId: next!.requestId, approved: true, reviewerId: 'cfo' });
    const { outcomes, output } = await run.result();
    expect(output).toContain('paid 2000 to succ');
    expect(outcomes).toEqual([
      { callId: '1.1', toolName: 'pay', requestId: receipt.successor, outcome: 'approved', ran: 'yes' },
    ]);
  });

  test('by a reviewer who may answer the new request too: one answer is enough', async () => {
    const run = await world.start(turns('both', 10), { policy });
    const [request] = await run.open();
    const modifiedArguments = { to: 'both', amount: 2_000 };
    const decision = {
      requestId: request!.requestId,
      approved: true,
      reviewerId: 'cfo',
      decisionId: 'd',
      modifiedArguments,
    };
    expect(await decide(run, decision)).toMatchObject({ accepted: true, outcome: 'superseded' });
    expect((await run.result()).output).toContain('paid 2000 to both');
    expect(ran('both')).toEqual(['pay both 2000']);
  });
});

test('a response goes to the model instead of the result, and the tool does not run', async () => {
  const run = await world.start(turns('resp', 1));
  const [request] = await run.open();
  const response = { balance: 'ask again tomorrow' };
  const decision = { requestId: request!.requestId, approved: false, response };
  expect(await decide(run, decision)).toMatchObject({ outcome: 'responded' });
  const { output, outcomes } = await run.result();
  expect(output).toBe(`told: ${JSON.stringify(response)}`);
  expect(outcomes).toMatchObject([{ outcome: 'responded', ran: 'no' }]);
  expect(ran('resp')).toEqual([]);
});
