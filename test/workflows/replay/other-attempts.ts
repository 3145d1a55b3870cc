/**
 * Rewrites the workflow tasks of a history into what other workers might have left: other starts, and attempts that
 * failed before the one that completed. The workflow sees only the clock of these (I12).
 */
import { activityNames } from '../../../src/contract.ts';
import { attributesOf, tasksOf, type HistoryEvent, type WorkflowTask } from './history-tasks.ts';
import { numberEvents } from './number-events.ts';
import type { SeededRandom } from '../../support/seeded-random.ts';

/**
 * Starts tasks earlier: at any time from the start of the task before. Leaves out tasks in which several steps were
 * due, because a worker that takes such a task earlier takes one step only, and tasks that start a timer: the deadline of
 * the request that they open would be earlier, too, and a decision that was in time would be late.
 */
export function startEarlier(events: readonly HistoryEvent[], random: SeededRandom, share: number): HistoryEvent[] {
  const { tasks } = tasksOf(events);
  const times = new Map<string, string>();
  for (const [index, { started, commands }] of tasks.entries()) {
    const previous = tasks[index - 1];
    if (previous === undefined || !random.chance(share)) continue;
    if (commands.filter(isStep).length > 1 || commands.some(startsTimer)) continue;
    const [fromMs, toMs] = [previous.started, started].map(({ eventTime }) => Date.parse(eventTime));
    const middle = new Date(Math.ceil((fromMs! + toMs!) / 2)).toISOString();
    times.set(started.eventId, random.pick([previous.started.eventTime, middle]));
  }
  return events.map((event) => ({ ...event, eventTime: times.get(event.eventId) ?? event.eventTime }));
}

/** Inserts attempts that timed out before or after their start, or failed, each before the start of its task. */
export function insertAttempts(
  events: readonly HistoryEvent[],
  random: SeededRandom,
  { share, historyEvents }: { share: number; historyEvents: number },
): HistoryEvent[] {
  const [, ...tasks] = tasksOf(events).tasks;
  const changed = new Map<HistoryEvent, HistoryEvent[]>();
  for (const task of tasks) {
    if (!random.chance(share)) continue;
    const { scheduled, whileScheduled, started, completed } = task;
    const again: HistoryEvent = { ...structuredClone(scheduled), eventId: `${scheduled.eventId}-again` };
    const last = whileScheduled.at(-1) ?? scheduled;
    changed.set(last, [last, ...failedAttempt(task, random), again]);
    for (const event of [started, completed]) {
      const copy = structuredClone(event);
      attributesOf(copy)['scheduledEventId'] = again.eventId;
      changed.set(event, [copy]);
    }
  }
  const inserted = events.flatMap((event) => changed.get(event) ?? [event]);
  const numbered = numberEvents(inserted);
  // Beyond its limit, a run continues as new.
  const isLong = (event: HistoryEvent): boolean => Number(event.eventId) >= historyEvents;
  const starts = (all: readonly HistoryEvent[]): boolean[] => tasksOf(all).tasks.map(({ started }) => isLong(started));
  return starts(events).join() === starts(numbered).join() ? numbered : [...events];
}

function failedAttempt({ scheduled, started }: WorkflowTask, random: SeededRandom): HistoryEvent[] {
  const start: HistoryEvent = { ...structuredClone(started), eventId: `${started.eventId}-failed` };
  const kind = random.pick(['never started', 'timed out', 'failed']);
  const type = kind === 'failed' ? 'FAILED' : 'TIMED_OUT';
  const name = kind === 'failed' ? 'workflowTaskFailedEventAttributes' : 'workflowTaskTimedOutEventAttributes';
  const end: HistoryEvent = {
    eventId: `${started.eventId}-ended`,
    eventTime: started.eventTime,
    eventType: `EVENT_TYPE_WORKFLOW_TASK_${type}`,
    taskId: started['taskId'],
    [name]: {
      scheduledEventId: scheduled.eventId,
      ...(kind !== 'never started' && { startedEventId: start.eventId }),
      ...(kind === 'failed'
        ? { cause: 'WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND' }
        : { timeoutType: `TIMEOUT_TYPE_${kind === 'timed out' ? 'START_TO_CLOSE' : 'SCHEDULE_TO_START'}` }),
    },
  };
  return kind === 'never started' ? [end] : [start, end];
}

function startsTimer({ eventType }: HistoryEvent): boolean {
  return eventType === 'EVENT_TYPE_TIMER_STARTED';
}

function isStep(event: HistoryEvent): boolean {
  return (attributesOf(event)['activityType'] as { name?: string } | undefined)?.name === activityNames.notify;
}
