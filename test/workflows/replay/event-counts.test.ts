import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EventCounts } from '../../../bench/event-counts.ts';
import { countEvents } from '../../../bench/event-counts.ts';
import type { EventReport } from '../../../bench/measure-events.ts';
import { eventScripts, measureEvents } from '../../../bench/measure-events.ts';
import type { Stage } from '../../../bench/stage.ts';
import { openStage } from '../../../bench/stage.ts';
import { sharedAddress } from '../../support/shared-server.ts';
import { testBundle } from '../../support/world.ts';

/**
 * Budgets B1 and B2, to the event, compared to hand-written workflows with the same activities (`npm run
 * bench:events`).
 */

let stage: Stage;
let report: EventReport;
beforeAll(async () => {
  stage = await openStage({
    address: sharedAddress(),
    scripts: eventScripts,
    workflowBundle: { codePath: testBundle() },
  });
  report = await measureEvents(stage);
});
afterAll(() => stage.close());

const task = { workflowTaskScheduled: 1, workflowTaskStarted: 1, workflowTaskCompleted: 1 };
const index = { upsertWorkflowSearchAttributes: 2, workflowPropertiesModified: 2 };
const bySignal = { ...task, ...index, timerStarted: 1, timerCanceled: 1, workflowExecutionSignaled: 1 };

test('each run has one more activity and task than a bare one: countersign.loadAgent', () => {
  expect(report.once).toEqual({ ...task, activityTaskScheduled: 1, activityTaskStarted: 1, activityTaskCompleted: 1 });
});

describe('what the gate adds', () => {
  const expected: [string, EventCounts][] = [
    ['1 allowed', {}],
    ['2 allowed', {}],
    ['5 allowed', {}],
    ['8 allowed in one turn', {}],
    ['1 asked, approved', bySignal],
    ['1 asked, denied', bySignal],
    ['1 asked, 25 viewers', bySignal],
    [
      '1 asked, approved by update',
      {
        ...task,
        ...index,
        timerStarted: 1,
        timerCanceled: 1,
        workflowExecutionUpdateAccepted: 1,
        workflowExecutionUpdateCompleted: 1,
      },
    ],
    ['1 asked, expired', { ...task, ...index, timerStarted: 1, timerFired: 1 }],
    ['8 asked, 1 signal approves', bySignal],
    ['8 asked, 1 signal denies', bySignal],
    [
      '8 asked, 8 signals deny',
      {
        workflowTaskScheduled: 8,
        workflowTaskStarted: 8,
        workflowTaskCompleted: 8,
        upsertWorkflowSearchAttributes: 9,
        workflowPropertiesModified: 9,
        timerStarted: 1,
        timerCanceled: 1,
        workflowExecutionSignaled: 8,
      },
    ],
  ];

  test.each(expected)('%s', (name, added) => {
    const row = report.rows.find((each) => each.name === name)!;
    expect(row.added).toEqual(added);
    expect(row.addedTotal).toBeLessThanOrEqual(row.budget ?? row.addedTotal);
    // Only concurrent calls have event counts that vary.
    if (name.startsWith('1 ')) expect(row.byChance).toBe(0);
  });

  test('every measured run is expected here', () => {
    expect(report.rows.map(({ name }) => name)).toEqual(expected.map(([name]) => name));
  });
});

test('the counter counts every event once, by its type', () => {
  const events = [
    { workflowExecutionStartedEventAttributes: {} },
    { workflowTaskScheduledEventAttributes: {} },
    { workflowTaskStartedEventAttributes: {} },
    { workflowTaskCompletedEventAttributes: {} },
    { activityTaskScheduledEventAttributes: {} },
    { activityTaskScheduledEventAttributes: {} },
    { activityTaskStartedEventAttributes: {} },
    { activityTaskCompletedEventAttributes: {} },
    { workflowTaskScheduledEventAttributes: {} },
    { workflowTaskStartedEventAttributes: {} },
    { activityTaskStartedEventAttributes: {} },
    { activityTaskCompletedEventAttributes: {} },
    { workflowTaskCompletedEventAttributes: {} },
    { workflowTaskScheduledEventAttributes: {} },
    { workflowTaskStartedEventAttributes: {} },
    { workflowTaskCompletedEventAttributes: {} },
    { workflowExecutionCompletedEventAttributes: {} },
  ];
  const timedOut = [
    { workflowTaskScheduledEventAttributes: {} },
    { workflowTaskStartedEventAttributes: {} },
    { workflowTaskTimedOutEventAttributes: {} },
  ];
  expect(countEvents({ events: [...events.slice(0, 8), ...timedOut, ...events.slice(8)] })).toEqual(
    countEvents({ events }),
  );
  expect(countEvents({ events })).toEqual({
    workflowExecutionStarted: 1,
    activityTaskScheduled: 2,
    activityTaskStarted: 2,
    activityTaskCompleted: 2,
    workflowTaskScheduled: 2,
    workflowTaskStarted: 2,
    workflowTaskCompleted: 2,
    furtherTasks: 3,
    workflowExecutionCompleted: 1,
  });
});
