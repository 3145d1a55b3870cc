import type { ActivityLine } from '../core/audit/audit-line.ts';
import type { Activity } from '../core/events/history-event.ts';
import type { ReadExecution } from './history-chain.ts';

type Ran = Omit<ActivityLine, 'line' | 'run'>;

/** What ran for the calls that passed the gate: activities with a permit, and nested runs under `nestedPrefix`. */
export function activitiesOf({ runId, events }: ReadExecution, nestedPrefix: string): Ran[] {
  const found = new Map<number, Ran>();
  for (const { eventId, at, what } of events) {
    if (what?.kind !== 'scheduled' && what?.kind !== 'attempted' && what?.kind !== 'ended') continue;
    const { scheduledEventId } = what.activity;
    const called = calledBy(what.activity, nestedPrefix);
    if (called === undefined) continue;
    const scheduled: Ran = { ...called, runId, scheduledEventId, scheduledAt: at, state: 'open' };
    const ran = found.get(scheduledEventId) ?? scheduled;
    found.set(scheduledEventId, ran);
    if (what.kind === 'attempted') {
      const { attempt, worker } = what;
      Object.assign(ran, { startedAt: at, ...(attempt !== undefined && { attempt }), ...(worker && { worker }) });
    } else if (what.kind === 'ended') Object.assign(ran, { closedEventId: eventId, closedAt: at, state: what.state });
  }
  return [...found.values()];
}

function calledBy(activity: Activity, nestedPrefix: string): Pick<Ran, 'callId' | 'activity'> | undefined {
  if (activity.kind === 'tool') return { callId: activity.permit.callId, activity: activity.name };
  if (activity.kind !== 'nested' || !activity.workflowId.startsWith(nestedPrefix)) return undefined;
  return { callId: activity.workflowId.slice(nestedPrefix.length), activity: activity.workflowId };
}
