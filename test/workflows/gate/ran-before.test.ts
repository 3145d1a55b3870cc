/** What a request says of the very same call that ran before it in the same run. */
import { expect, test } from 'vitest';
import type { ApprovalDetails } from '../../../src/contract.ts';
import { instantText } from '../../../src/text/instant-text.ts';
import { cardOf } from '../../../src/card/card-of.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import { type RunInTest, openWorld } from '../../support/world.ts';

const world = forAllTests(() => openWorld({ continueAsNewAfter: { historyEvents: 40 } }));

async function firstOpen(run: RunInTest): Promise<ApprovalDetails> {
  const [open] = await run.open();
  return world.client.approvals.get(open!.requestId);
}

function expectUnasked({ ranBefore, ...request }: ApprovalDetails): void {
  expect(ranBefore).toEqual({ at: expect.stringMatching(/^\d{4}-/) as string, ran: 'yes' });
  expect(cardOf({ ...request, ranBefore: ranBefore! }).warnings).toContain(
    `The very same call already ran in this run: it was allowed on ${instantText(ranBefore!.at)}, without a question.`,
  );
}

const pay = (to: string, amount: number) => ({ calls: [{ tool: 'pay', args: { to, amount } }] });

test('a call that a rule allowed is named, without a request', async () => {
  const asks = { pattern: 'pay', action: 'ask', when: 'counts.calls >= 1' };
  const policy = { version: 1, rules: [{ pattern: 'pay', action: 'allow' }, asks] };
  const run = await world.start([pay('ann', 5), pay('ann', 5), { text: 'done' }], { policy });
  expectUnasked(await firstOpen(run));
  await run.handle.terminate();
});

test('a call that a grant allowed is named, without a request, also after continue-as-new', async () => {
  const policy = { version: 1, rules: [{ pattern: 'pay', action: 'ask' }] };
  const turns = [pay('ann', 5), pay('ann', 5), pay('ann', 5), { text: 'done' }];
  const run = await world.start(turns, { policy });
  const { requestId } = await firstOpen(run);
  await world.client.decide({ requestId, approved: true, always: { kind: 'tool', uses: 1 } });
  await eventually('the third call is asked about', async () => (await run.status()).counts.asks === 2);
  await eventually('the run continues as new', async () => {
    await run.handle.signal('noise');
    return (await run.status()).executions === 2;
  });
  expectUnasked(await firstOpen(run));
  await run.handle.terminate();
});

test('only a call that ran with the same arguments is named, with when', async () => {
  const turns = [pay('ann', 5), pay('bob', 5), pay('ann', 5), pay('ann', 6), { text: 'done' }];
  const policy = { version: 1 as const, rules: [{ pattern: 'pay', action: 'ask' }] };
  const run = await world.start(turns, { policy });
  const seen: ApprovalDetails[] = [];
  for (const approved of [true, true, true, true]) {
    const [open] = await run.open();
    const details = await world.client.approvals.get(open!.requestId);
    seen.push(details);
    await world.client.decide({ requestId: open!.requestId, approved });
  }
  await run.result();
  const [first, , third] = seen;
  const ended = await world.client.approvals.get(first!.requestId);
  const ranBefore = { requestId: first!.requestId, at: ended.settled!.settledAt, ran: 'yes' };
  expect(seen.map((each) => each.ranBefore)).toEqual([undefined, undefined, ranBefore, undefined]);
  expect(cardOf(third!).warnings).toContain(
    `The very same call already ran in this run: it was settled on ${instantText(ranBefore.at)}, as request ${ranBefore.requestId}.`,
  );
});
