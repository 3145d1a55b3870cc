import { expect, test } from 'vitest';
import type { ApprovalRequest } from '../../../src/contract.ts';
import type { WorkflowHandle } from '@temporalio/client';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import { openGatedWorld } from '../../support/gated-world.ts';

/** In a user's own workflow: an edit moves a call to another request, and it remains the same call (I9, I11). */

const world = forAllTests(() =>
  openGatedWorld({
    policy: {
      version: 1,
      rules: [
        { pattern: 'pay', action: 'ask', ask: { reviewers: ['ann', 'cfo'] } },
        { id: 'large', pattern: 'pay', when: 'args.amount > 1000.0', action: 'ask', ask: { reviewers: ['cfo'] } },
      ],
    },
  }),
);

/** The request for the edited call. */
async function editedIn(handle: WorkflowHandle): Promise<ApprovalRequest> {
  const [request] = await world.open(handle);
  const { requestId } = request!;
  await world.client.decide({
    requestId,
    approved: true,
    reviewerId: 'ann',
    modifiedArguments: { to: 'a', amount: 2_000 },
  });
  return eventually('the edited call is asked about', async () => {
    const [next] = await world.open(handle);
    return next!.requestId !== requestId && next!;
  });
}

test('the workflow no longer waits for the call: the replacing request leaves the inbox', async () => {
  const handle = await world.start('givesUp');
  await editedIn(handle);
  await handle.signal('enough');
  await handle.result();
  const details = await handle.query<ApprovalRequest[]>('approvals');
  expect(details).toEqual([]);
  const reason = 'the call was cancelled';
  const { journal } = (await handle.describe()).memo!['approvals'] as { journal: { kind: string; reason?: string }[] };
  expect(journal.filter(({ kind }) => kind === 'settled').map((entry) => entry.reason)).toContain(reason);
});

test.each(['before', 'after'] as const)(
  'the workflow continues as new %s the edited call is approved',
  async (when) => {
    world.ran();
    const handle = await world.start('rolls', 1);
    const { requestId } = await editedIn(handle);
    const roll = async (): Promise<void> => {
      const { runId } = await handle.describe();
      await handle.signal('roll');
      await eventually('the next execution', async () => (await handle.describe()).runId !== runId);
    };
    if (when === 'before') await roll();
    expect((await world.open(handle)).map((request) => request.requestId)).toEqual([requestId]);
    await world.client.decide({ requestId, approved: true, reviewerId: 'cfo' });
    expect(await handle.result()).toMatchObject({ paid: { result: 'paid 2000 to a' } });
    expect(world.ran()).toEqual(['pay a 2000']);
  },
);
