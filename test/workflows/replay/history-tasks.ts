/** An event of a history as `historyToJSON` and `temporal workflow show --output json` write it. */
export interface HistoryEvent {
  eventId: string;
  eventTime: string;
  /** `EVENT_TYPE_…` */
  eventType: string;
  [attributes: string]: unknown;
}

/** A completed workflow task with the events that led to it and the commands that it wrote. */
export interface WorkflowTask {
  /** Events between the commands of the previous task and this task's WorkflowTaskScheduled. */
  before: HistoryEvent[];
  scheduled: HistoryEvent;
  /** Events between WorkflowTaskScheduled and WorkflowTaskStarted. */
  whileScheduled: HistoryEvent[];
  started: HistoryEvent;
  completed: HistoryEvent;
  commands: HistoryEvent[];
}

export interface HistoryTasks {
  tasks: WorkflowTask[];
  /** Events after the commands of the last completed task. */
  rest: HistoryEvent[];
}

/** The event types that the SDK's core counts as commands (`is_command_event`). */
const commandEvents = new Set(
  [
    'ACTIVITY_TASK_SCHEDULED',
    'ACTIVITY_TASK_CANCEL_REQUESTED',
    'MARKER_RECORDED',
    'REQUEST_CANCEL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED',
    'SIGNAL_EXTERNAL_WORKFLOW_EXECUTION_INITIATED',
    'START_CHILD_WORKFLOW_EXECUTION_INITIATED',
    'TIMER_CANCELED',
    'TIMER_STARTED',
    'UPSERT_WORKFLOW_SEARCH_ATTRIBUTES',
    'WORKFLOW_PROPERTIES_MODIFIED',
    'WORKFLOW_EXECUTION_CANCELED',
    'WORKFLOW_EXECUTION_COMPLETED',
    'WORKFLOW_EXECUTION_CONTINUED_AS_NEW',
    'WORKFLOW_EXECUTION_FAILED',
    'WORKFLOW_EXECUTION_UPDATE_ACCEPTED',
    'WORKFLOW_EXECUTION_UPDATE_REJECTED',
    'WORKFLOW_EXECUTION_UPDATE_COMPLETED',
  ].map((name) => `EVENT_TYPE_${name}`),
);

/** The attributes of an event of any type. */
export function attributesOf(event: HistoryEvent): Record<string, unknown> {
  const key = Object.keys(event).find((name) => name.endsWith('EventAttributes'));
  return key === undefined ? {} : (event[key] as Record<string, unknown>);
}

/** Splits a history at its completed workflow tasks. Failed and timed-out tasks stay among the events around them. */
export function tasksOf(events: readonly HistoryEvent[]): HistoryTasks {
  const completedFor = new Map(
    events
      .filter(({ eventType }) => eventType === 'EVENT_TYPE_WORKFLOW_TASK_COMPLETED')
      .map((event) => [String(attributesOf(event)['scheduledEventId']), event]),
  );
  const tasks: WorkflowTask[] = [];
  let rest: HistoryEvent[] = [];
  for (let at = 0; at < events.length; at++) {
    const scheduled = events[at]!;
    const completed = completedFor.get(scheduled.eventId);
    if (completed === undefined) {
      rest.push(scheduled);
      continue;
    }
    const started = String(attributesOf(completed)['startedEventId']);
    const startedAt = events.findIndex(({ eventId }) => eventId === started);
    const firstCommandAt = events.indexOf(completed) + 1;
    let end = firstCommandAt;
    while (end < events.length && commandEvents.has(events[end]!.eventType)) end++;
    tasks.push({
      before: rest,
      scheduled,
      whileScheduled: events.slice(at + 1, startedAt),
      started: events[startedAt]!,
      completed,
      commands: events.slice(firstCommandAt, end),
    });
    rest = [];
    at = end - 1;
  }
  return { tasks, rest };
}
