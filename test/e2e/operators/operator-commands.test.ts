import { expect, test } from 'vitest';
import { sentences } from '../../../src/core/ledger/sentences.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import { inTime } from '../../support/in-time.ts';
import { expectDone, onActivity, onWorkflow, startBatch, untilAttempt } from './operator.ts';
import { ended, openOperatorWorld } from './operator-world.ts';
import { temporal } from '../../support/temporal-cli.ts';

/** `temporal activity …` applied to a running tool that is not idempotent: docs/operator-commands.md. */

const world = forAllTests(() => openOperatorWorld());

/** A run of a tool that sends no heartbeats, of which a command was entered before its time was over. */
async function silent(name: string, [command, ...options]: [command: string, ...options: string[]]) {
  const { played } = await inTime(8, async (seconds) => {
    const silentRun = { tool: `hold_silent_${seconds}`, name: `${name}, ${seconds} s` };
    const run = await world.running(silentRun.tool, silentRun.name);
    await onActivity(command, run.handle, silentRun.tool, ...options);
    return { ...silentRun, run };
  });
  return played;
}

const unknown = { output: sentences.unknownOutcome, ran: 'unknown' };

test('pause: it is cancelled, and ends as unknown without a second start', async () => {
  const run = await world.running('hold', 'paused');
  await onActivity('pause', run.handle, 'hold');
  expect(await ended(run)).toEqual(unknown);
  expect(world.starts('paused')).toBe(1);
});

test('pause, and the tool does not stop: its result counts', async () => {
  const run = await world.running('hold_on', 'goes on');
  await onActivity('pause', run.handle, 'hold_on');
  world.release('goes on');
  expect(await ended(run)).toEqual({ output: 'held goes on', ran: 'yes' });
});

test('pause, and the tool fails by itself: its failure counts', async () => {
  const run = await world.running('hold_on', 'breaks');
  await onActivity('pause', run.handle, 'hold_on');
  world.breakIt('breaks');
  expect(await ended(run)).toEqual({ output: 'Error: the bank is closed', ran: 'yes' });
  expect(world.starts('breaks')).toBe(1);
});

test('pause, then the worker is lost: no timeout until unpause; then unknown', async () => {
  const { run, tool, name } = await silent('lost', ['pause']);
  await onActivity('reset', run.handle, tool);
  await onActivity('unpause', run.handle, tool);
  expect(await ended(run)).toEqual(unknown);
  expect(world.starts(name)).toBe(1);
  world.release(name);
});

test('reset: it is cancelled, and ends as unknown without a second start', async () => {
  const run = await world.running('hold', 'reset');
  await onActivity('reset', run.handle, 'hold', '--reset-attempts', '--reset-heartbeats');
  expect(await ended(run)).toEqual(unknown);
  expect(world.starts('reset')).toBe(1);
});

test('batches: none reaches the tool', async () => {
  const run = await world.running('hold_on', 'batch');
  const batch = ['--yes', '--query', `WorkflowId = "${run.workflowId}"`];
  await eventually('the run is listed', async () => {
    const { stdout } = await temporal(['workflow', 'count', ...batch.slice(1)]);
    return /Total: 1/.test(stdout);
  });
  expectDone(await startBatch(['activity', 'reset', ...batch]));
  expectDone(await startBatch(['activity', 'unpause', ...batch]));
  const attempts = ['--retry-maximum-attempts', '5'];
  expect(await startBatch(['activity', 'update-options', ...attempts, ...batch])).toMatchObject({ exitCode: 1 });
  world.release('batch');
  expect(await ended(run)).toEqual({ output: 'held batch', ran: 'yes' });
  expect(world.starts('batch')).toBe(1);
});

test('update-options with more attempts, then a failure: the failure counts', async () => {
  const run = await world.running('hold', 'more attempts');
  await onActivity('update-options', run.handle, 'hold', '--retry-maximum-attempts', '5');
  world.breakIt('more attempts');
  expect(await ended(run)).toEqual({ output: 'Error: the bank is closed', ran: 'yes' });
  expect(world.starts('more attempts')).toBe(1);
});

// Each gives the server another reason to start the tool again, and hides the earlier start in another way.
test.concurrent.each<[string, string[][]]>([
  ['nothing else', []],
  ['reset', [['reset']]],
  ['reset with its heartbeats', [['reset', '--reset-attempts', '--reset-heartbeats']]],
  ['pause and unpause', [['pause'], ['unpause']]],
  ['pause and unpause from zero', [['pause'], ['unpause', '--reset-attempts', '--reset-heartbeats']]],
  [
    'paused reset',
    [
      ['pause'],
      ['reset', '--keep-paused', '--reset-heartbeats'],
      ['update-options', '--retry-maximum-attempts', '9'],
      ['unpause'],
    ],
  ],
])('update-options with more attempts, a timeout, then %s: unknown, without a second start', async (what, commands) => {
  const interval = commands.length === 0 ? '1s' : '1h';
  const attempts = ['--retry-maximum-attempts', '5', '--retry-initial-interval', interval];
  const { run, tool, name } = await silent(`more attempts, ${what}`, [
    'update-options',
    ...attempts,
    '--retry-maximum-interval',
    '1h',
  ]);
  if (commands.length > 0) await untilAttempt(2, run.handle, tool);
  for (const [command, ...options] of commands) await onActivity(command!, run.handle, tool, ...options);
  expect(await ended(run)).toEqual(unknown);
  expect(world.starts(name)).toBe(1);
  world.release(name);
});

test("complete: the operator's result counts as the tool's", async () => {
  const run = await world.running('hold_on', 'completed');
  await onActivity('complete', run.handle, 'hold_on', '--result', '"done by hand"');
  expect(await ended(run)).toEqual({ output: 'done by hand', ran: 'yes' });
  world.release('completed');
});

test("fail: the model reads the operator's reason, and whether the tool ran is unknown", async () => {
  const run = await world.running('hold_on', 'failed');
  await onActivity('fail', run.handle, 'hold_on', '--reason', 'stopped by hand');
  expect(await ended(run)).toEqual({ output: 'Error: stopped by hand', ran: 'unknown' });
  world.release('failed');
});

test('workflow reset to after it was scheduled: unknown, without a second start', async () => {
  const run = await world.running('hold_on', 'reset workflow');
  const tasks = async (): Promise<number[]> => {
    const { events } = await run.handle.fetchHistory();
    return events!
      .filter((each) => each.workflowTaskCompletedEventAttributes != null)
      .map((each) => Number(each.eventId));
  };
  const { length } = await tasks();
  await run.handle.signal('decide', {});
  const later = await eventually('a later workflow task', async () => (await tasks())[length]);
  await onWorkflow('reset', run.handle, '--event-id', String(later), '--reason', 'test');
  expect(await ended(world.run(run.workflowId))).toEqual(unknown);
  expect(world.starts('reset workflow')).toBe(1);
  world.release('reset workflow');
});
