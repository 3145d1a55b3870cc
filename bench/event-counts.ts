import type { temporal } from '@temporalio/proto';

/** Events of a history by kind: `timerStarted`, `workflowTaskCompleted`, … */
export type EventCounts = Record<string, number>;

/**
 * Several concurrent tools may end in one task or in many, depending on timing. Further tasks that only report ended
 * activities are counted under this name, so that such runs compare exactly.
 */
export const furtherTasks = 'furtherTasks';

type History = temporal.api.history.v1.IHistory;
type Event = temporal.api.history.v1.IHistoryEvent;

/**
 * Counts a history's events by kind. The sum over all kinds, `furtherTasks` included, is the length of the history, without
 * the attempts of workflow tasks that timed out: a busy machine adds those, and not the code.
 */
export function countEvents(history: History): EventCounts {
  const counts: EventCounts = {};
  let task: Event[] = [];
  let told = new Set<string>();
  let tells = new Set<string>();
  const add = (kind: string, count = 1): void => {
    counts[kind] = (counts[kind] ?? 0) + count;
  };
  for (const event of history.events ?? []) {
    const kind = kindOf(event);
    if (!kind.startsWith('workflowTask')) {
      told.add(kind);
      add(kind);
      continue;
    }
    if (kind === 'workflowTaskTimedOut') {
      task = [];
      told = new Set([...tells, ...told]);
      tells = new Set();
      continue;
    }
    if (kind === 'workflowTaskStarted') {
      tells = told;
      told = new Set();
    }
    task.push(event);
    if (kind !== 'workflowTaskCompleted') continue;
    // The first task after an activity was scheduled also reports the scheduling.
    const endsOnly = [...tells].every((each) => ['activityTaskStarted', 'activityTaskCompleted'].includes(each));
    if (endsOnly && tells.size > 0) add(furtherTasks, task.length);
    else for (const each of task) add(kindOf(each));
    task = [];
  }
  for (const each of task) add(kindOf(each));
  return counts;
}

export function total(counts: EventCounts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

/** The counts of `ours` minus those of `theirs`; kinds without a difference are omitted. */
export function difference(ours: EventCounts, theirs: EventCounts): EventCounts {
  const kinds = [...new Set([...Object.keys(ours), ...Object.keys(theirs)])].sort();
  return Object.fromEntries(
    kinds.map((kind) => [kind, (ours[kind] ?? 0) - (theirs[kind] ?? 0)] as const).filter(([, count]) => count !== 0),
  );
}

function kindOf(event: Event): string {
  const suffix = 'EventAttributes';
  const field = Object.keys(event).find((key) => key.endsWith(suffix) && event[key as keyof Event] != null);
  return field?.slice(0, -suffix.length) ?? String(event.eventType);
}
