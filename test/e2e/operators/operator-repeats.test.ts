import { describe, expect, test } from 'vitest';
import { sentences } from '../../../src/core/ledger/sentences.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import { onActivity, untilPaused } from './operator.ts';
import { ended, openOperatorWorld } from './operator-world.ts';

/** `temporal activity …` applied to a tool that may be repeated, or that has not started: docs/operator-commands.md. */

const world = forAllTests(() => openOperatorWorld());

const unknown = { output: sentences.unknownOutcome, ran: 'unknown' };

describe('a running tool that may be repeated', () => {
  test.each([
    ['pause and unpause', 'hold_again', ['pause', 'unpause']],
    ['pause and reset', 'hold_look', ['pause', 'reset']],
    ['reset', 'hold_again', ['reset']],
  ])('%s: it starts again', async (what, tool, commands) => {
    const name = `repeated, ${what}`;
    const run = await world.running(tool, name);
    for (const command of commands) {
      await onActivity(command, run.handle, tool);
      if (command === 'pause') await untilPaused(run.handle, tool);
    }
    await eventually(`${name} starts again`, () => world.starts(name) === 2);
    world.release(name);
    expect(await ended(run)).toEqual({ output: `held ${name}`, ran: 'yes' });
  });
});

describe('a tool that is scheduled but not started', () => {
  test('update-options: it starts once, with the new options', async () => {
    const run = await world.scheduled('hold_on', 'options');
    await onActivity('update-options', run.handle, 'hold_on', '--retry-maximum-attempts', '5');
    world.freeSlot('options');
    expect(await ended(run)).toEqual({ output: 'held options', ran: 'yes' });
    expect(world.starts('options')).toBe(1);
  });

  test.each([
    ['pause and unpause', ['pause', 'unpause']],
    ['reset', ['reset']],
  ])('%s: it does not start, and ends as unknown', async (what, commands) => {
    const name = `scheduled, ${what}`;
    const run = await world.scheduled('hold_on', name);
    for (const command of commands) await onActivity(command, run.handle, 'hold_on');
    world.freeSlot(name);
    expect(await ended(run)).toEqual(unknown);
    expect(world.starts(name)).toBe(0);
  });

  test('complete: the result counts, and it never starts', async () => {
    const run = await world.scheduled('hold_on', 'never');
    await onActivity('complete', run.handle, 'hold_on', '--result', '"done by hand"');
    world.freeSlot('never');
    expect(await ended(run)).toEqual({ output: 'done by hand', ran: 'yes' });
    expect(world.starts('never')).toBe(0);
  });

  test('fail: the server refuses it, and the tool starts', async () => {
    const run = await world.scheduled('hold_on', 'refused');
    await expect(onActivity('fail', run.handle, 'hold_on', '--reason', 'stopped by hand')).rejects.toThrow(
      'invalid activityID',
    );
    world.freeSlot('refused');
    expect(await ended(run)).toEqual({ output: 'held refused', ran: 'yes' });
  });
});
