/** The steps while a request waits: reminders, further reviewers, a warning. Their times follow from the request. */
import { reviewersAt } from '../policy/ask-terms.ts';
import { iso, type RequestRecord } from './ledger-state.ts';

export interface DueStep {
  kind: 'warned' | 'reminded' | 'escalated';
  dueMs: number;
  /** For `escalated`: the additional reviewers. */
  to?: readonly string[];
}

/** A step of escalation that has added reviewers to a request. */
export interface Escalated {
  /** Since when they may answer, in ISO 8601. */
  at: string;
  /** Names, or `group:NAME`, that were not asked before. */
  to: string[];
}

/** The steps that have added reviewers to an open request by `atMs`, oldest first. */
export function escalatedBy(record: Pick<RequestRecord, 'terms' | 'request'>, atMs: number): Escalated[] {
  const { requirements } = record.terms;
  const openedMs = openedAtMs(record);
  const namesAt = (waitedMs: number): string[] => requirements.flatMap((each) => reviewersAt(each, waitedMs));
  const stepTimes = requirements.flatMap(({ escalate }) => escalate).map(({ afterMs }) => afterMs);
  // At -1 ms no step has added reviewers, not even one that is due after 0 ms.
  const asked = new Set([...namesAt(-1), ...requirements.flatMap(({ oneOfEach }) => oneOfEach)]);
  return [...new Set(stepTimes)]
    .filter((afterMs) => afterMs <= atMs - openedMs)
    .toSorted((one, other) => one - other)
    .flatMap((afterMs) => {
      const to = [...new Set(namesAt(afterMs))].filter((name) => !asked.has(name));
      for (const name of to) asked.add(name);
      return to.length === 0 ? [] : [{ at: iso(openedMs + afterMs), to }];
    });
}

/** When the next step of an open request is due, in workflow time; null if none is left. */
export function nextStepAtMs(record: RequestRecord): number | null {
  const dues = [...plannedSteps(record).map(({ dueMs }) => dueMs), nextReminderMs(record)].filter(
    (dueMs) => dueMs !== null && dueMs > record.stepsTakenUntilMs && isBeforeDeadline(record, dueMs),
  );
  return dues.length === 0 ? null : Math.min(...(dues as number[]));
}

/** The steps that are due at `atMs` and not taken yet, oldest first. Several missed reminders count as one. */
export function stepsDue(record: RequestRecord, atMs: number): DueStep[] {
  const planned = plannedSteps(record).filter(({ dueMs }) => dueMs > record.stepsTakenUntilMs && dueMs <= atMs);
  const reminderMs = nextReminderMs(record);
  const reminded: DueStep[] =
    reminderMs !== null && reminderMs <= atMs ? [{ kind: 'reminded', dueMs: reminderMs }] : [];
  return [...planned, ...reminded]
    .filter(({ dueMs }) => isBeforeDeadline(record, dueMs))
    .toSorted((one, other) => one.dueMs - other.dueMs);
}

/** All escalations of a request, and its warning before the deadline, whether they are due or not. */
function plannedSteps(record: RequestRecord): DueStep[] {
  const { terms, deadlineMs } = record;
  const openedMs = openedAtMs(record);
  const escalations = terms.escalate.map(({ afterMs, to }): DueStep => ({
    kind: 'escalated',
    dueMs: openedMs + afterMs,
    to,
  }));
  if (terms.warnBeforeMs === null || deadlineMs === null) return escalations;
  // A warning that is due before the request opens is sent when it opens.
  const warning: DueStep = { kind: 'warned', dueMs: Math.max(openedMs, deadlineMs - terms.warnBeforeMs) };
  return [...escalations, warning];
}

/** When the next reminder is due: the first one after `stepsTakenUntilMs`. Null if the request has no reminders. */
function nextReminderMs(record: RequestRecord): number | null {
  const { remindMs } = record.terms;
  if (remindMs === null) return null;
  const openedMs = openedAtMs(record);
  const taken = Math.max(0, Math.floor((record.stepsTakenUntilMs - openedMs) / remindMs));
  return openedMs + (taken + 1) * remindMs;
}

function isBeforeDeadline({ deadlineMs }: RequestRecord, dueMs: number): boolean {
  return deadlineMs === null || dueMs <= deadlineMs;
}

export function openedAtMs({ request }: { request: { requestedAt: string } }): number {
  // oxlint-disable-next-line no-restricted-globals -- parses a given date; reads no clock
  return Date.parse(request.requestedAt);
}
