import type { temporal } from '@temporalio/proto';
import type { ActivityLine } from '../core/audit/audit-line.ts';
import { permitIn } from '../core/base/permit-metadata.ts';
import { isObject } from '../core/base/is-object.ts';
import { eventTime } from './event-time.ts';
import { decoded } from './journal-of.ts';

type Event = temporal.api.history.v1.IHistoryEvent;
type Ran = Omit<ActivityLine, 'line' | 'run'>;

/** What ran for the calls that passed the gate: activities with a permit, and nested runs under `nestedPrefix`. */
export function activitiesOf(events: readonly Event[], runId: string, nestedPrefix: string): Ran[] {
  const found = new Map<number, Ran>();
  for (const event of events) {
    const begun = begunIn(event, runId, nestedPrefix);
    if (begun !== undefined) found.set(begun.scheduledEventId, begun);
    const started = event.activityTaskStartedEventAttributes ?? event.childWorkflowExecutionStartedEventAttributes;
    if (started != null) note(found, started, { startedAt: eventTime(event), ...attemptOf(started) });
    const closed = closedIn(event);
    if (closed === undefined) continue;
    note(found, closed.attributes, {
      closedEventId: Number(event.eventId),
      closedAt: eventTime(event),
      state: closed.state,
    });
  }
  return [...found.values()];
}

function begunIn(event: Event, runId: string, nestedPrefix: string): Ran | undefined {
  const scheduled = event.activityTaskScheduledEventAttributes;
  const nested = event.startChildWorkflowExecutionInitiatedEventAttributes;
  const first = scheduled?.input?.payloads?.[0];
  const permit = first == null ? undefined : (permitIn(first.metadata) ?? decoded(first));
  const isNested = nested?.workflowId?.startsWith(nestedPrefix) === true;
  const callId = isNested
    ? nested.workflowId!.slice(nestedPrefix.length)
    : isObject(permit)
      ? permit['callId']
      : undefined;
  const activity = isNested ? nested.workflowId : scheduled?.activityType?.name;
  // Activities of ours have a dot in their names, which no tool has.
  if (typeof callId !== 'string' || activity == null || activity.startsWith('countersign.')) return undefined;
  const scheduledAt = eventTime(event) ?? '';
  return { callId, activity, runId, scheduledEventId: Number(event.eventId), scheduledAt, state: 'open' };
}

function note(found: Map<number, Ran>, about: object, facts: Partial<Ran>): void {
  const { scheduledEventId, initiatedEventId } = about as Record<string, unknown>;
  const ran = found.get(Number(scheduledEventId ?? initiatedEventId));
  const known = Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
  if (ran !== undefined) Object.assign(ran, known);
}

function attemptOf(started: object): Partial<Ran> {
  const { attempt, identity } = started as { attempt?: number | null; identity?: string | null };
  return { ...(attempt != null && { attempt }), ...(identity ? { worker: identity } : {}) };
}

function closedIn(event: Event): { attributes: object; state: Ran['state'] } | undefined {
  for (const [name, state] of Object.entries(closings)) {
    const attributes = event[name as keyof typeof closings];
    if (attributes != null) return { attributes, state };
  }
  return undefined;
}

const closings = {
  activityTaskCompletedEventAttributes: 'completed',
  activityTaskFailedEventAttributes: 'failed',
  activityTaskTimedOutEventAttributes: 'timed out',
  activityTaskCanceledEventAttributes: 'cancelled',
  childWorkflowExecutionCompletedEventAttributes: 'completed',
  childWorkflowExecutionFailedEventAttributes: 'failed',
  childWorkflowExecutionTimedOutEventAttributes: 'timed out',
  childWorkflowExecutionCanceledEventAttributes: 'cancelled',
  childWorkflowExecutionTerminatedEventAttributes: 'failed',
  startChildWorkflowExecutionFailedEventAttributes: 'failed',
} as const satisfies Partial<Record<keyof Event, Ran['state']>>;
