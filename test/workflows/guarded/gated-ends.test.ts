import { expect, test } from 'vitest';
import { forAllTests } from '../../support/for-all-tests.ts';
import { projectHistories } from '../../support/read-histories.ts';
import { openGatedWorld } from '../../support/gated-world.ts';

/**
 * A user's own workflow ends while a message to it is in flight: the message is refused, and the refusal is journaled.
 */

const world = forAllTests(() => openGatedWorld());

const edit = (requestId: string) => ({ requestId, approved: true, modifiedArguments: { to: 'b', amount: 2 } });

test.each<[string, 'cancelled' | 'returns', (requestId: string) => [string, object]]>([
  ['an edit, and it is cancelled', 'cancelled', (requestId) => ['decide', edit(requestId)]],
  ['an edit, and it returns', 'returns', (requestId) => ['decide', edit(requestId)]],
  ['a policy, and it is cancelled', 'cancelled', () => ['setPolicy', { policy: { version: 1, rules: [] } }]],
  ['a policy, and it returns', 'returns', () => ['setPolicy', { policy: { version: 1, rules: [] } }]],
])('%s', async (_, how, messageOf) => {
  const handle = await world.start('leavesWhenTold');
  const [request] = await world.open(handle);
  // Without a worker, both wait in history and arrive in one activation.
  await world.stopWorker();
  await handle.signal(...messageOf(request!.requestId));
  await (how === 'cancelled' ? handle.cancel() : handle.signal('enough'));
  await world.startWorker();
  await handle.result().catch(() => undefined);
  expect((await handle.describe()).status.name).toBe(how === 'cancelled' ? 'CANCELLED' : 'COMPLETED');
  const { requests, refusals, gaps } = projectHistories([await handle.fetchHistory()]);
  expect(requests.map(({ outcome }) => outcome)).toEqual(['cancelled']);
  expect({ refusals, gaps }).toEqual({ refusals: 1, gaps: [] });
  const ended = how === 'cancelled' ? { status: 'cancelled' } : { status: 'completed', returned: 'done' };
  const outcomes = [{ toolName: 'pay', outcome: 'cancelled', ran: 'no' }];
  expect(await world.client.show(handle.workflowId)).toMatchObject({ ...ended, outcomes });
});
