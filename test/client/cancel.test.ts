import { expect, test } from 'vitest';
import { cli, jsonLines } from '../adapters/cli/support.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { type RunInTest, openWorld } from '../support/world.ts';

const world = forAllTests(() => openWorld());

const waiting = async (): Promise<{ run: RunInTest; requestId: string }> => {
  const run = await world.start([{ calls: [{ tool: 'pay', args: { to: 'ann', amount: 1 } }] }, { text: 'end' }]);
  const [request] = await run.open();
  return { run, requestId: request!.requestId };
};

/** The reason in the event of the cancellation. */
async function reasonOf({ handle }: RunInTest): Promise<string | null | undefined> {
  const { events } = await handle.fetchHistory();
  const event = events!.find((each) => each.workflowExecutionCancelRequestedEventAttributes != null);
  return event?.workflowExecutionCancelRequestedEventAttributes?.cause;
}

test('open requests are settled as cancelled, and the history keeps the reason', async () => {
  const { run, requestId } = await waiting();
  await world.client.cancel(run.workflowId, { reason: 'started by mistake' });
  await expect(run.result()).resolves.toMatchObject({ status: 'cancelled' });
  expect(await reasonOf(run)).toBe('started by mistake');
  const { outcomes } = await world.client.journal(run.workflowId);
  expect(outcomes).toMatchObject([{ requestId, outcome: 'cancelled', ran: 'no' }]);
  await expect(world.client.decide({ requestId, approved: true })).rejects.toMatchObject({ code: 'run_closed' });
  await expect(world.client.cancel(run.workflowId)).rejects.toMatchObject({ code: 'run_closed' });
  expect(world.ran()).toEqual([]);
});

test('by the handle of a run, without a reason', async () => {
  const { run } = await waiting();
  await world.client.run(run.workflowId).cancel();
  await expect(run.result()).resolves.toMatchObject({ status: 'cancelled' });
  expect(await reasonOf(run)).toBe('');
});

test.each([
  ['no run', 'run-nowhere', {}, 'run_not_found'],
  ['a long reason', 'run-nowhere', { reason: 'x'.repeat(1_001) }, 'too_large'],
  ['a reason that is no text', 'run-nowhere', { reason: 7 as unknown as string }, 'invalid_message'],
])('%s: refused', async (_name, workflowId, options, code) => {
  await expect(world.client.cancel(workflowId, options)).rejects.toMatchObject({ code });
});

test('countersign cancel RUN', async () => {
  const { run } = await waiting();
  const { workflowId } = run;
  const result = await cli(['cancel', workflowId, '--reason', 'no longer needed']);
  expect([result.code, jsonLines(result)]).toEqual([
    0,
    [{ workflowId, accepted: true, message: `run '${workflowId}' is being cancelled` }],
  ]);
  await expect(run.result()).resolves.toMatchObject({ status: 'cancelled' });
  expect(await reasonOf(run)).toBe('no longer needed');
  expect(await cli(['cancel', workflowId])).toMatchObject({ code: 4, stdout: '' });
  expect(await cli(['cancel', 'run-nowhere'])).toMatchObject({ code: 3, stdout: '' });
});
