import { describe, expect, test } from 'vitest';
import { isDroppable, placeEmptyTasks, type TaskChange } from './workflows/replay/empty-task-placements.ts';
import { attributesOf, tasksOf, type HistoryEvent } from './workflows/replay/history-tasks.ts';
import { placementsOf } from './workflows/replay/placements.ts';

const kinds = {
  started: 'WORKFLOW_EXECUTION_STARTED',
  task: 'WORKFLOW_TASK_SCHEDULED',
  taskStarted: 'WORKFLOW_TASK_STARTED',
  taskCompleted: 'WORKFLOW_TASK_COMPLETED',
  taskFailed: 'WORKFLOW_TASK_FAILED',
  activity: 'ACTIVITY_TASK_SCHEDULED',
  activityStarted: 'ACTIVITY_TASK_STARTED',
  activityCompleted: 'ACTIVITY_TASK_COMPLETED',
  signal: 'WORKFLOW_EXECUTION_SIGNALED',
  accepted: 'WORKFLOW_EXECUTION_UPDATE_ACCEPTED',
  completed: 'WORKFLOW_EXECUTION_COMPLETED',
} as const;
type Kind = keyof typeof kinds;

/** A history of these events, one second apart. Attributes may refer to other events by number. */
function history(...events: (Kind | [Kind, Record<string, unknown>])[]): HistoryEvent[] {
  return events.map((event, index) => {
    const [kind, attributes] = typeof event === 'string' ? [event, {}] : event;
    return {
      eventId: String(index + 1),
      eventTime: new Date(1_000 * index).toISOString(),
      eventType: `EVENT_TYPE_${kinds[kind]}`,
      someEventAttributes: attributes,
    };
  });
}

const task = (scheduledEventId: number, startedEventId = scheduledEventId + 1): [Kind, Record<string, unknown>][] => [
  ['taskStarted', { scheduledEventId: String(scheduledEventId) }],
  ['taskCompleted', { scheduledEventId: String(scheduledEventId), startedEventId: String(startedEventId) }],
];

/** Two activities; the end of the first writes nothing, then a signal and an update do. */
const recorded = history(
  'started',
  'task',
  ...task(2),
  'activity',
  'activity',
  ['activityStarted', { scheduledEventId: '5' }],
  ['activityCompleted', { scheduledEventId: '5', startedEventId: '7' }],
  'task',
  ...task(9),
  'signal',
  'task',
  ...task(13),
  ['activity', { workflowTaskCompletedEventId: '15' }],
  'task',
  ...task(17),
  ['accepted', { acceptedRequestSequencingEventId: '17' }],
  ['completed', { workflowTaskCompletedEventId: '19' }],
);

const unchanged: TaskChange = { inserted: 0, isEarly: false, isDropped: false };
const placedAt = (at: number, change: Partial<TaskChange>, events = recorded): HistoryEvent[] =>
  placeEmptyTasks(events, (_task, index) => (index === at ? { ...unchanged, ...change } : unchanged))!;
const short = (events: HistoryEvent[]): string[] =>
  events.map(({ eventType }) => Object.entries(kinds).find(([, type]) => eventType.endsWith(type))?.[0] ?? eventType);
const named = (events: HistoryEvent[], kind: Kind): HistoryEvent[] =>
  events.filter(({ eventType }) => eventType === `EVENT_TYPE_${kinds[kind]}`);

test('a history without a change stays the same', () => {
  expect(placeEmptyTasks(recorded, () => unchanged)).toEqual(recorded);
});

describe('an additional empty task', () => {
  test('follows the commands of the previous task, and takes nothing', () => {
    expect(short(placedAt(0, { inserted: 1 })).slice(3, 12)).toEqual(
      'taskCompleted activity activity task taskStarted taskCompleted activityStarted activityCompleted task'.split(
        ' ',
      ),
    );
  });

  test('shifts the numbers of later events, and all references to them', () => {
    const placed = placedAt(1, { inserted: 1 });
    expect(placed.map(({ eventId }) => Number(eventId))).toEqual(placed.map((_event, index) => index + 1));
    expect(named(placed, 'taskCompleted').map(attributesOf)).toEqual([
      { scheduledEventId: '2', startedEventId: '3' },
      { scheduledEventId: '9', startedEventId: '10' },
      { scheduledEventId: '12', startedEventId: '13' },
      { scheduledEventId: '16', startedEventId: '17' },
      { scheduledEventId: '20', startedEventId: '21' },
    ]);
    expect(attributesOf(named(placed, 'accepted')[0]!)).toEqual({ acceptedRequestSequencingEventId: '20' });
    expect(attributesOf(placed.at(-1)!)).toEqual({ workflowTaskCompletedEventId: '22' });
  });

  test('has a time between its neighbours', () => {
    const times = [0, 1, 2].map((at) => {
      const placed = placeEmptyTasks(recorded, (_task, index) => ({ ...unchanged, inserted: index === 1 ? 1 : 0 }), {
        pickTime: (each) => each[at]!,
      })!;
      return placed[12]!.eventTime;
    });
    expect(times).toEqual(['1970-01-01T00:00:10.000Z', '1970-01-01T00:00:10.500Z', '1970-01-01T00:00:11.000Z']);
  });

  test('does not follow the end of the run', () => {
    expect(placedAt(3, { inserted: 2 })).toEqual(recorded);
  });

  test('is not legal if it moves a run past the length at which it continues as new', () => {
    const insert = (historyEvents: number): unknown =>
      placeEmptyTasks(recorded, (_task, index) => ({ ...unchanged, inserted: index === 1 ? 1 : 0 }), { historyEvents });
    // The two tasks after it start at events 14 and 18, and at 17 and 21 with the empty task.
    const legal = [14, 15, 17, 18, 19, 21, 22].filter((length) => insert(length) !== undefined);
    expect(legal).toEqual([14, 18, 22]);
  });
});

describe('a task before its events', () => {
  test('is scheduled first, and still takes them', () => {
    const placed = placedAt(2, { isEarly: true });
    expect(short(placed).slice(10, 15)).toEqual(['taskCompleted', 'task', 'signal', 'taskStarted', 'taskCompleted']);
    expect(attributesOf(placed[13]!)).toEqual({ scheduledEventId: '12' });
  });

  test('is never the first one', () => {
    expect(placedAt(0, { isEarly: true })).toEqual(recorded);
  });

  test('is never one that follows a failed attempt', () => {
    const failed = history(
      'started',
      'task',
      ...task(2),
      'activity',
      'task',
      'taskStarted',
      'taskFailed',
      'task',
      ...task(9),
    );
    expect(tasksOf(failed).tasks).toHaveLength(2);
    expect(placedAt(1, { isEarly: true }, failed)).toEqual(failed);
  });
});

describe('one empty task less', () => {
  test('its events come with the next task', () => {
    expect(short(placedAt(1, { isDropped: true })).slice(6, 12)).toEqual(
      'activityStarted activityCompleted signal task taskStarted taskCompleted'.split(' '),
    );
  });

  test('a task that wrote a command stays, and so does one that took a signal', () => {
    expect(placedAt(2, { isDropped: true })).toEqual(recorded);
    const refused = history(
      'started',
      'task',
      ...task(2),
      'activity',
      'signal',
      'task',
      ...task(7),
      'task',
      ...task(10),
    );
    expect(tasksOf(refused).tasks.map(isDroppable)).toEqual([false, false, true]);
  });
});

test('placements of a history all differ from it and from each other, and a seed repeats its own', () => {
  const made = placementsOf(recorded, [1, 2, 3]);
  expect(new Set([recorded, ...made.map(({ events }) => events)].map((each) => JSON.stringify(each))).size).toBe(
    made.length + 1,
  );
  expect(placementsOf(recorded, [1, 2, 3]).map(({ name, events }) => [name, short(events)])).toEqual(
    made.map(({ name, events }) => [name, short(events)]),
  );
});
