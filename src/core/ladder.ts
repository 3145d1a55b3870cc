/**
 * What happens while a request waits: it is remembered, more reviewers are asked, its end is announced. Pure: the
 * times follow from the request alone, and the one shared timer of the run serves them all.
 */
import type { BookedRequest } from './ledger-state.ts';

export interface LadderStep {
  kind: 'warned' | 'reminded' | 'escalated';
  /** Workflow time at which the step was due. */
  dueMs: number;
  /** For `escalated`: who is asked besides. */
  to?: readonly string[];
}

/** When the next step of an open request is due, in workflow time; null if none is left. */
export function nextStepAtMs(booked: BookedRequest): number | null {
  const dues = [...plannedSteps(booked).map(({ dueMs }) => dueMs), nextReminderMs(booked)].filter(
    (dueMs) => dueMs !== null && dueMs > booked.ladderMs && isBeforeDeadline(booked, dueMs),
  );
  return dues.length === 0 ? null : Math.min(...(dues as number[]));
}

/** The steps that are due at `atMs` and were not taken, oldest first. Reminders that were missed are one. */
export function stepsDue(booked: BookedRequest, atMs: number): LadderStep[] {
  const planned = plannedSteps(booked).filter(({ dueMs }) => dueMs > booked.ladderMs && dueMs <= atMs);
  const reminderMs = nextReminderMs(booked);
  const reminded: LadderStep[] =
    reminderMs !== null && reminderMs <= atMs ? [{ kind: 'reminded', dueMs: reminderMs }] : [];
  return [...planned, ...reminded]
    .filter(({ dueMs }) => isBeforeDeadline(booked, dueMs))
    .toSorted((one, other) => one.dueMs - other.dueMs);
}

function plannedSteps(booked: BookedRequest): LadderStep[] {
  const { terms, deadlineMs } = booked;
  const openedMs = openedAtMs(booked);
  const escalations = terms.escalate.map(({ afterMs, to }): LadderStep => ({
    kind: 'escalated',
    dueMs: openedMs + afterMs,
    to,
  }));
  if (terms.warnBeforeMs === null || deadlineMs === null) return escalations;
  // A warning that would come before its request comes with it.
  const warning: LadderStep = { kind: 'warned', dueMs: Math.max(openedMs, deadlineMs - terms.warnBeforeMs) };
  return [...escalations, warning];
}

/** The first reminder after the steps that were taken. */
function nextReminderMs(booked: BookedRequest): number | null {
  const { remindMs } = booked.terms;
  if (remindMs === null) return null;
  const openedMs = openedAtMs(booked);
  const taken = Math.max(0, Math.floor((booked.ladderMs - openedMs) / remindMs));
  return openedMs + (taken + 1) * remindMs;
}

function isBeforeDeadline({ deadlineMs }: BookedRequest, dueMs: number): boolean {
  return deadlineMs === null || dueMs <= deadlineMs;
}

/** Workflow time at which a request was opened. */
export function openedAtMs({ request }: { request: { requestedAt: string } }): number {
  // oxlint-disable-next-line no-restricted-globals -- a calendar, not a clock
  return Date.parse(request.requestedAt);
}
