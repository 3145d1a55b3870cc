/** `describe` of a tool on real runs: the sentence reaches the reviewer, and nobody else. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../../src/agents/define-agent.ts';
import { defineTool } from '../../../src/agents/define-tool.ts';
import type { ApprovalDetails, ApprovalRequest, Receipt } from '../../../src/contract.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { promptScripted } from '../../support/prompt-scripted.ts';
import { openWorld, type RunInTest } from '../../support/world.ts';

const refund = defineTool({
  name: 'refund',
  description: 'Pays a customer back.',
  input: z.object({ amount: z.number(), to: z.string() }),
  describe: async ({ amount, to }) => {
    if (to === 'nobody') throw new Error(`cannot describe ${amount}`);
    return `Refund €${amount} to ${to}`;
  },
  execute: ({ amount }) => `refunded ${amount}`,
});

const world = forAllTests(() =>
  openWorld({
    agentsIn: () => [defineAgent({ name: 'tester', instructions: 'Play.', model: promptScripted(), tools: [refund] })],
  }),
);

async function waiting(to: string, policy?: object): Promise<{ run: RunInTest; request: ApprovalRequest }> {
  const calls = [{ tool: 'refund', args: { amount: 40, to } }];
  const run = await world.start([{ calls }, { text: '{{lastResult}}' }], { policy: policy as never });
  const [request] = await run.open();
  return { run, request: request! };
}
const details = (run: RunInTest, requestId: string): Promise<ApprovalDetails> =>
  run.handle.query('approvals', { requestId });
const decide = (run: RunInTest, decision: object): Promise<Receipt> =>
  run.handle.executeUpdate<Receipt, [unknown]>('decide', { args: [decision] });

test('the sentence is in the request, for all queries, and not in the memo', async () => {
  const { run, request } = await waiting('ann');
  expect(request.sentence).toBe('Refund €40 to ann');
  expect(await details(run, request.requestId)).toMatchObject({ sentence: 'Refund €40 to ann' });
  const { memo } = await run.handle.describe();
  expect(JSON.stringify(memo)).toContain(request.requestId);
  expect(JSON.stringify(memo)).not.toContain('€40');
  await decide(run, { requestId: request.requestId, approved: true });
  expect(await details(run, request.requestId)).toMatchObject({ sentence: 'Refund €40 to ann', settled: {} });
  expect((await run.result()).output).toBe('refunded 40');
});

test('a describe that throws denies nothing: the request has no sentence', async () => {
  const { run, request } = await waiting('nobody');
  expect(request).not.toHaveProperty('sentence');
  await decide(run, { requestId: request.requestId, approved: true });
  expect((await run.result()).output).toBe('refunded 40');
});

test('a policy that hides arguments hides the sentence', async () => {
  const { run, request } = await waiting('bob', { rules: [], approval: { include_arguments: false } });
  expect(request.shown).toBe('part');
  expect(request).not.toHaveProperty('sentence');
  expect(await details(run, request.requestId)).not.toHaveProperty('sentence');
  await run.handle.terminate();
});

test('an edit that asks again has the sentence of the edited call', async () => {
  const policy = {
    rules: [
      { pattern: 'refund', action: 'ask', ask: { reviewers: ['ann', 'cfo'] } },
      { pattern: 'refund', when: 'args.amount > 100.0', action: 'ask', ask: { reviewers: ['cfo'] } },
    ],
  };
  const { run, request } = await waiting('ann', policy);
  const { requestId } = request;
  const modifiedArguments = { amount: 500, to: 'cy' };
  const { successor } = await decide(run, { requestId, approved: true, reviewerId: 'ann', modifiedArguments });
  expect(await details(run, successor!)).toMatchObject({ sentence: 'Refund €500 to cy' });
  const again = { amount: 900, to: 'nobody' };
  const last = await decide(run, {
    requestId: successor,
    approved: true,
    reviewerId: 'cfo',
    modifiedArguments: { ...again },
  });
  expect(last).toMatchObject({ accepted: true });
  expect((await run.result()).output).toContain('refunded 900');
});
