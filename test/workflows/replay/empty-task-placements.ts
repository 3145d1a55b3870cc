/**
 * Rewrites a history into others that differ only in their empty workflow tasks, that is, tasks that wrote no command.
 * On replay, the SDK merges some of these with the next task, so a workflow must make the same commands for each
 * placement (I12). A placement is legal if a live worker that sees its tasks makes the recorded commands. Legal
 * placements have:
 *
 * - an additional empty task, left by a refused update;
 * - a task scheduled before the events that it takes, because a refused update came first;
 * - one empty task less: a task that took nothing, or only ends of what the workflow itself started. The next task
 *   takes these events instead.
 *
 * A task that took a signal, an update or a timer is not moved.
 */
import { attributesOf, tasksOf, type HistoryEvent, type WorkflowTask } from './history-tasks.ts';
import { numberEvents } from './number-events.ts';

/** Changes to one task. */
export interface TaskChange {
  /** The number of empty tasks to insert after it. */
  inserted: number;
  /** Whether it is scheduled before the events that it takes. */
  isEarly: boolean;
  /** Whether it is left out; the next task takes its events. */
  isDropped: boolean;
}

/** Chooses the time of an inserted task among the possible ones, which are in ascending order. */
export type PickTime = (times: readonly string[]) => string;

export interface PlacementOptions {
  /** Default: the earliest. */
  pickTime?: PickTime;
  /** The history length at which the run continues as new. A placement that moves a task past it is not legal. */
  historyEvents?: number;
}

/** Events that resolve what the workflow itself started. */
const ends = new RegExp(
  `^EVENT_TYPE_(${[
    'ACTIVITY_TASK_(STARTED|COMPLETED|FAILED|TIMED_OUT|CANCELED)',
    'CHILD_WORKFLOW_EXECUTION_(STARTED|COMPLETED|FAILED|CANCELED|TIMED_OUT|TERMINATED)',
    'EXTERNAL_WORKFLOW_EXECUTION_(SIGNALED|CANCEL_REQUESTED)',
  ].join('|')})$`,
);

/** True if the task wrote nothing and took only ends of what the workflow started. */
export function isDroppable({ before, whileScheduled, completed, commands }: WorkflowTask): boolean {
  const { coreUsedFlags, langUsedFlags } = (attributesOf(completed)['sdkMetadata'] ?? {}) as Record<string, unknown>;
  const hasFlags = coreUsedFlags !== undefined || langUsedFlags !== undefined;
  return (
    commands.length === 0 && !hasFlags && [...before, ...whileScheduled].every((event) => ends.test(event.eventType))
  );
}

/**
 * The history with these changes to its tasks; undefined if they are not legal. The first task always keeps its start.
 */
export function placeEmptyTasks(
  events: readonly HistoryEvent[],
  changeOf: (task: WorkflowTask, index: number) => TaskChange,
  { pickTime = ([first]) => first!, historyEvents = Number.POSITIVE_INFINITY }: PlacementOptions = {},
): HistoryEvent[] | undefined {
  const { tasks, rest } = tasksOf(events);
  const placed: HistoryEvent[] = [];
  let carried: HistoryEvent[] = [];
  for (const [index, task] of tasks.entries()) {
    const { inserted, isEarly, isDropped } = changeOf(task, index);
    const { scheduled, whileScheduled, started, completed, commands } = task;
    const before = [...carried, ...task.before];
    if (isDropped && index < tasks.length - 1 && isDroppable(task)) {
      carried = [...before, ...whileScheduled];
      continue;
    }
    carried = [];
    // An earlier failed attempt belongs to this task and stays after its start.
    const mayBeEarly = index > 0 && !before.some(({ eventType }) => eventType.includes('_WORKFLOW_TASK_'));
    placed.push(...(isEarly && mayBeEarly ? [scheduled, ...before] : [...before, scheduled]));
    placed.push(...whileScheduled, started, completed, ...commands);
    const isClosed = index === tasks.length - 1 && endsRun(commands);
    if (isClosed) continue;
    const next = tasks[index + 1];
    const following = next === undefined ? rest[0] : (next.before[0] ?? next.scheduled);
    for (let number = 0; number < inserted; number++)
      placed.push(...emptyTask(task, placed.at(-1)!, following, pickTime));
  }
  placed.push(...carried, ...rest);
  const numbered = numberEvents(placed);
  const isLong = (event: HistoryEvent): boolean => Number(event.eventId) >= historyEvents;
  const isLegal = tasks.every(({ started }) => {
    const at = placed.indexOf(started);
    return at === -1 || isLong(started) === isLong(numbered[at]!);
  });
  return isLegal ? numbered : undefined;
}

function endsRun(commands: readonly HistoryEvent[]): boolean {
  return commands.some(({ eventType }) =>
    /_WORKFLOW_EXECUTION_(COMPLETED|FAILED|CANCELED|CONTINUED_AS_NEW)$/.test(eventType),
  );
}

let inserted = 0;

/** An empty task, copied from the task before it. */
function emptyTask(
  { scheduled, started, completed }: WorkflowTask,
  previous: HistoryEvent,
  following: HistoryEvent | undefined,
  pickTime: PickTime,
): HistoryEvent[] {
  const ids = [1, 2, 3].map((part) => `inserted-${++inserted}-${part}`);
  const references = { scheduledEventId: ids[0], startedEventId: ids[1] };
  const eventTime = pickTime(timesBetween(previous.eventTime, following?.eventTime));
  return [scheduled, started, completed].map((event, part) => {
    const copy: HistoryEvent = { ...structuredClone(event), eventId: ids[part]!, eventTime };
    const attributes = attributesOf(copy);
    for (const [name, id] of Object.entries(references)) if (name in attributes) attributes[name] = id;
    delete attributes['sdkMetadata'];
    return copy;
  });
}

/** The first moment, the middle and the last moment. */
function timesBetween(first: string, last = first): string[] {
  const [fromMs, toMs] = [Date.parse(first), Date.parse(last)];
  if (toMs <= fromMs) return [first];
  return [first, new Date(Math.ceil((fromMs + toMs) / 2)).toISOString(), last];
}
