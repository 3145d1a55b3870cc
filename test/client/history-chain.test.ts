import { expect, test } from 'vitest';
import { forAllTests } from '../support/for-all-tests.ts';
import { eventually } from '../support/eventually.ts';
import { openWorld } from '../support/world.ts';

const world = forAllTests(() => openWorld({ continueAsNewAfter: { historyEvents: 20 } }));

test('returns all executions of a continued run, oldest first, each complete', async () => {
  const look = { calls: [{ tool: 'look', args: { what: 'x' } }] };
  const run = await world.start([look, look, look, look, { text: 'done' }]);
  await run.result();
  const { executions, missing } = await eventually('two executions', async () => {
    const chain = await world.client.historyChain(run.workflowId);
    return chain.executions.length >= 2 && chain;
  });
  expect(missing).toBeUndefined();
  for (const [index, { workflowId, runId, events }] of executions.entries()) {
    expect(workflowId).toBe(run.workflowId);
    const start = events[0]?.workflowExecutionStartedEventAttributes;
    expect(start?.originalExecutionRunId).toBe(runId);
    expect(start?.continuedExecutionRunId || undefined).toBe(executions[index - 1]?.runId);
    expect(events.map(({ eventId }) => Number(eventId))).toEqual(events.map((_, at) => at + 1));
    const last = events.at(-1);
    expect(last?.workflowExecutionContinuedAsNewEventAttributes != null).toBe(index < executions.length - 1);
  }
});

test('an execution with a history of more than 4 MB', async () => {
  const long = await openWorld();
  const look = { calls: [{ tool: 'look', args: { what: 'sea' } }] };
  const padding = { text: 'x'.repeat(350_000) };
  const run = await long.start([...Array.from({ length: 14 }, () => look), { text: 'done' }, padding]);
  expect(await run.result()).toMatchObject({ status: 'completed', output: 'done' });
  const { executions } = await long.client.historyChain(run.workflowId);
  const bytes = executions.map(({ events }) => JSON.stringify(events).length);
  expect(Math.max(...bytes)).toBeGreaterThan(4_194_304);
  await long.close();
});
