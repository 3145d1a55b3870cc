/** Many invalid signatures: their cost is bounded, and honest signers are only delayed (I4). */
import { expect, test } from 'vitest';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createReviewerKey, signDecision } from '../../../src/client/send/sign-message.ts';
import type { Decision, Receipt } from '../../../src/contract.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import { openWorld, type RunInTest } from '../../support/world.ts';

const ann = createReviewerKey();
const world = forAllTests(() =>
  openWorld({
    policy: {
      rules: [
        { pattern: 'pay', action: 'ask', ask: { reviewers: ['ann'], verified: true } },
        { pattern: 'hold', action: 'allow' },
      ],
      directory: { people: { ann: { keys: ['laptop'] } } },
      reviewer_keys: { laptop: ann.publicKey },
    },
  }),
);

const pay = { tool: 'pay', args: { to: 'p', amount: 1 } };
const forgedOne = ({ requestId }: { requestId: string }): Decision => ({
  requestId,
  approved: true,
  signature: { keyId: 'laptop', signedAt: '2030-01-31T12:00:00Z', value: Buffer.alloc(64, 1).toString('base64') },
});
const forged = (request: { requestId: string }, change = (decision: Decision) => decision): Decision[] =>
  Array.from({ length: 100 }, () => change(forgedOne(request)));
const heard = (run: RunInTest): Promise<boolean> =>
  eventually('500 are refused', async () => (await run.status()).refused.total >= 500);
const decide = (run: RunInTest, decision: Decision): Promise<Receipt> =>
  run.handle.executeUpdate<Receipt, [unknown]>('decide', { args: [decision] });
const approval = (run: RunInTest, { requestId }: { requestId: string }): Decision =>
  signDecision(
    { requestId, approved: true },
    { keyId: 'laptop', privateKey: ann.privateKey, workflowId: run.workflowId, namespace: 'default' },
  );

test('500 forged decisions: not all are verified, the run continues as new, and an honest one counts', async () => {
  const run = await world.start([{ calls: [pay] }, { text: '{{lastResult}}' }]);
  const [request] = await run.open();
  // All are handled in one workflow task.
  await world.stopWorker();
  for (let list = 0; list < 5; list++) await run.handle.signal('decide', forged(request!));
  await world.startWorker();
  await heard(run);
  await eventually('the run continues as new', async () => (await run.status()).executions === 2);
  const { refused } = await run.status();
  expect(refused.last.map(({ code }) => code)).toEqual(Array.from({ length: 50 }, () => 'rate_limited'));
  await expect(decide(run, approval(run, request!))).resolves.toMatchObject({ accepted: true, outcome: 'approved' });
  expect(await run.result()).toMatchObject({ output: 'paid 1 to p', status: 'completed' });
});

test('while a tool runs, a run cannot continue as new: the same decision is refused, and counts when repeated afterwards', async () => {
  const run = await world.start(
    [{ calls: [{ tool: 'hold', args: { name: 'flood' } }, pay] }, { text: '{{lastResult}}' }],
    { policy: { rules: [{ pattern: 'hold', action: 'allow' }] } },
  );
  const [request] = await run.open();
  await eventually('the tool runs', () => world.ran().includes('start flood'));
  for (let list = 0; list < 5; list++) await run.handle.signal('decide', forged(request!));
  await heard(run);
  const honest = approval(run, request!);
  await expect(decide(run, honest)).rejects.toMatchObject({ cause: { type: 'rate_limited' } });
  expect(await run.status()).toMatchObject({ executions: 1, counts: { open: 1 } });
  writeFileSync(join(world.folder, 'release-flood'), '');
  await eventually('the next execution', async () => (await run.status()).executions === 2);
  await expect(decide(run, honest)).resolves.toMatchObject({ accepted: true, outcome: 'approved' });
  expect(await run.result()).toMatchObject({ output: 'paid 1 to p', status: 'completed' });
});

test.each<[string, (decision: Decision) => Decision]>([
  ['a key that nobody has', (decision) => ({ ...decision, signature: { ...decision.signature!, keyId: 'none' } })],
  ['a request that there is not', (decision) => ({ ...decision, requestId: '0'.repeat(32) })],
])('a refusal without verification does not use up the limit: %s', async (_, change) => {
  const run = await world.start([{ calls: [pay] }, { text: '{{lastResult}}' }]);
  const [request] = await run.open();
  for (let list = 0; list < 5; list++) {
    await run.handle.signal('decide', forged(request!, change));
  }
  await heard(run);
  await expect(decide(run, approval(run, request!))).resolves.toMatchObject({ accepted: true, outcome: 'approved' });
  expect((await run.status()).executions).toBe(1);
  await run.result();
});
