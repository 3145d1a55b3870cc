import { expect, test } from 'vitest';
import { forAllTests } from '../../support/for-all-tests.ts';
import type { Turns } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';

/** A run does not continue as new while a policy change is in flight, even with no open request (I11). */

const world = forAllTests(() => openWorld({ continueAsNewAfter: { historyEvents: 30 } }));

test('the change takes effect, and the new policy applies to the next call', async () => {
  const pay = (amount: number): Turns[number] => ({ calls: [{ tool: 'pay', args: { to: 'rolled', amount } }] });
  const run = await world.start([pay(1), pay(2), { text: 'done' }]);
  const [request] = await run.open();
  await world.stopWorker();
  // All of this arrives at once: the turn ends, the history has grown enough, and the new policy must be read.
  for (let noise = 0; noise < 20; noise++) await run.handle.signal('noise');
  await run.handle.signal('decide', { requestId: request!.requestId, approved: false });
  await run.handle.signal('setPolicy', { policy: { rules: [{ pattern: 'pay', action: 'allow' }] } });
  await world.startWorker();
  const { outcomes } = await run.result();
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(['denied', 'allowed']);
  expect((await run.status()).executions).toBeGreaterThan(1);
});

test('a run whose state and input are too large for continue-as-new stays in its execution', async () => {
  // Carried six times: as input, twice in the transcript, twice with the call, once with its request.
  const turns = [{ calls: [{ tool: 'echo', args: { large: 'x'.repeat(370_000) } }] }, { text: 'done' }];
  const run = await world.start(turns);
  const [request] = await run.open();
  for (let noise = 0; noise < 40; noise++) await run.handle.signal('noise');
  await run.handle.signal('decide', { requestId: request!.requestId, approved: true });
  expect(await run.result()).toMatchObject({ status: 'completed', output: 'done' });
  const { executions } = await world.client.historyChain(run.workflowId);
  const failed = executions.flatMap(({ events }) =>
    events.flatMap(({ workflowTaskFailedEventAttributes: task }) => (task == null ? [] : [task])),
  );
  expect(failed).toEqual([]);
});
