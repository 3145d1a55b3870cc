import { expect, test } from 'vitest';
import type { WorkflowHandle } from '@temporalio/client';
import { forAllTests } from '../../support/for-all-tests.ts';
import { projectHistories } from '../../support/read-histories.ts';
import { eventually } from '../../support/eventually.ts';
import { inTime } from '../../support/in-time.ts';
import { openGatedWorld } from '../../support/gated-world.ts';
import { onActivity, untilAttempt } from './operator.ts';

/** `temporal activity …` applied to a gated activity of a user's own workflow: docs/operator-commands.md. */

const lines: string[] = [];
const world = forAllTests(() => openGatedWorld());

const starts = (name: string): number => {
  lines.push(...world.ran());
  return lines.filter((line) => line === `hang ${name}`).length;
};

/** A workflow whose gated activity was approved and has started. */
async function running(name: string, timeoutS?: number): Promise<WorkflowHandle> {
  const step = { name: 'hang', args: [name], ...(timeoutS !== undefined && { timeoutS }) };
  const handle = await world.start('calls', [step]);
  const [request] = await world.open(handle);
  await handle.executeUpdate('decide', { args: [{ requestId: request!.requestId, approved: true }] });
  await eventually(`${name} starts`, () => starts(name) === 1);
  return handle;
}

/** One that has several attempts, which it got before its only one timed out. */
async function runningWithAttempts(what: string, interval: string): Promise<{ handle: WorkflowHandle; name: string }> {
  const { played } = await inTime(6, async (timeoutS) => {
    const name = `${what}, ${timeoutS} s`;
    const handle = await running(name, timeoutS);
    const attempts = ['--retry-maximum-attempts', '5', '--retry-initial-interval', interval];
    await onActivity('update-options', handle, 'hang', ...attempts, '--retry-maximum-interval', '1h');
    return { handle, name };
  });
  return played;
}

const unknown = [{ name: 'ActivityFailure', cause: 'outcome_unknown' }];

/** Returns whether the activity ran, according to the journal. */
async function ranByJournal(handle: WorkflowHandle): Promise<unknown> {
  const { outcomes } = projectHistories([await handle.fetchHistory()]);
  return outcomes.map(({ ran }) => ran);
}

test.each(['pause', 'reset'])('%s: it is cancelled, and ends as unknown without a second start', async (command) => {
  const handle = await running(command);
  await onActivity(command, handle, 'hang');
  expect(await handle.result()).toEqual(unknown);
  expect(starts(command)).toBe(1);
});

test.each<[string, string[][]]>([
  ['nothing else', []],
  ['reset', [['reset', '--reset-heartbeats']]],
  ['pause and unpause', [['pause'], ['unpause', '--reset-attempts', '--reset-heartbeats']]],
])('more attempts, a timeout, then %s: unknown, without a second start', async (what, commands) => {
  const { handle, name } = await runningWithAttempts(`gated, ${what}`, commands.length === 0 ? '1s' : '1h');
  if (commands.length > 0) await untilAttempt(2, handle, 'hang');
  for (const [command, ...options] of commands) await onActivity(command!, handle, 'hang', ...options);
  expect(await handle.result()).toEqual(unknown);
  expect(await ranByJournal(handle)).toEqual(['unknown']);
  expect(starts(name)).toBe(1);
});

test("complete: the operator's result counts as the activity's", async () => {
  const handle = await running('completed');
  await onActivity('complete', handle, 'hang', '--result', '"done by hand"');
  expect(await handle.result()).toEqual([{ result: 'done by hand' }]);
  expect(await ranByJournal(handle)).toEqual(['yes']);
});

test("fail: the workflow gets the operator's reason, and whether the activity ran is unknown", async () => {
  const handle = await running('failed');
  await onActivity('fail', handle, 'hang', '--reason', 'stopped by hand');
  expect(await handle.result()).toMatchObject([{ name: 'ActivityFailure' }]);
  expect(await ranByJournal(handle)).toEqual(['unknown']);
});
