import { expect, test } from 'vitest';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import { commandsOf, simpleCommands } from '../../support/page-commands.ts';
import { resetToTask, type Event } from '../../support/reset-to.ts';
import { temporal } from '../../support/temporal-cli.ts';
import type { RunInTest } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';

/** `temporal workflow reset` and old decisions: the safe reset points of docs/operations.md. */

const world = forAllTests(() => openWorld());

const paid = (to: string): number => world.ran().filter((line) => line === `pay ${to} 1`).length;

/** A run whose call was approved and ran, with the workflow tasks to which it could be reset. */
async function approvedRun(to: string): Promise<{ run: RunInTest; requestId: string; tasks: Event[] }> {
  const run = await world.start([{ calls: [{ tool: 'pay', args: { to, amount: 1 } }] }, { text: 'done' }]);
  const [request] = await run.open();
  await run.handle.signal('decide', { requestId: request!.requestId, approved: true });
  await run.result();
  const { events = [] } = await run.handle.fetchHistory();
  const tasks = events!.filter((each) => each.workflowTaskCompletedEventAttributes != null);
  return { run, requestId: request!.requestId, tasks };
}

async function resetTo(run: RunInTest, task: Event): Promise<void> {
  const { workflowId } = run;
  const { runId } = await run.handle.describe();
  await resetToTask(world, { workflowId, runId }, task);
}

/** The command of docs/operations.md. */
function resetCommand(workflowId: string, eventId: string): string[] {
  const [line] = commandsOf('docs/operations.md').filter((each) => each.isWhole && each.line.includes(' reset '));
  const [words = []] = simpleCommands(line!.line);
  return words.slice(1).map((word) => ({ ID: workflowId, EVENT: eventId })[word] ?? word);
}

test.each([
  ['to the task that called the model', 1],
  ['to the task that asked', 2],
])('%s: the call is asked again, and the old decision does not apply', async (name, task) => {
  const { run, requestId, tasks } = await approvedRun(name);
  await resetTo(run, tasks[task]!);
  const handle = world.client.session.client.workflow.getHandle(run.workflowId);
  const [again] = await run.open();
  expect(again!.requestId).not.toBe(requestId);
  expect(await handle.query('run')).toMatchObject({ refused: { last: [{ code: 'unknown_request', requestId }] } });
  expect(paid(name)).toBe(1);
  await handle.terminate();
});

test('to the task that handled the decision: it applies again, and the tool runs again', async () => {
  const { run, tasks } = await approvedRun('unsafe');
  await resetTo(run, tasks[3]!);
  await world.client.session.client.workflow.getHandle(run.workflowId).result();
  expect(paid('unsafe')).toBe(2);
});

test('between request and decision, with old decisions excluded: the same request is open again, and nothing ran', async () => {
  const to = 'excluded';
  const calls = [1, 2].map((amount) => ({ tool: 'pay', args: { to, amount } }));
  const run = await world.start([{ calls }, { text: 'done' }]);
  const [first, second] = await run.open(2);
  // A workflow task between the requests and their decisions.
  await run.handle.signal('decide', { requestId: '0'.repeat(32), approved: true });
  await eventually('the refusal', async () => (await run.status()).counts.refused === 1);
  for (const { requestId } of [first!, second!]) {
    await run.handle.executeUpdate('decide', { args: [{ requestId, approved: true }] });
  }
  await run.result();
  const { events = [] } = await run.handle.fetchHistory();
  const refusal = events!.findIndex((each) => each.workflowExecutionSignaledEventAttributes != null);
  const task = events!.slice(refusal).find((each) => each.workflowTaskCompletedEventAttributes != null)!;
  const before = world.ran().filter((line) => line.startsWith(`pay ${to}`)).length;
  expect(await temporal(resetCommand(run.workflowId, String(task.eventId)))).toMatchObject({ exitCode: 0 });
  const handle = world.client.session.client.workflow.getHandle(run.workflowId);
  expect(await run.open(2)).toEqual([first, second]);
  expect(world.ran().filter((line) => line.startsWith(`pay ${to}`))).toHaveLength(before);
  await handle.terminate();
});
