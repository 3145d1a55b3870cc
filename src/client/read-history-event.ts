import type { Payload, PayloadConverter } from '@temporalio/common';
import type { temporal } from '@temporalio/proto';
import { activityNames, memoName, workflowType } from '../contract.ts';
import type { ActivityEnd, Happening, HistoryEvent, PlainFailure } from '../core/events/history-event.ts';
import { permitIn } from '../core/base/permit-metadata.ts';
import { isUndecodable } from '../core/base/undecodable.ts';
import type { ApprovalSummary } from '../core/ledger/approval-index.ts';
import { isMarkedPermit, journalOfEvent } from './journal-of.ts';
import { eventTimeMs } from './event-time.ts';
import { findCarried } from './find-carried.ts';

type Event = temporal.api.history.v1.IHistoryEvent;
type Failure = temporal.api.failure.v1.IFailure;
type Payloads = temporal.api.common.v1.IPayloads;

/** Reads the events of a run's history, whose payloads the codecs have decoded already, for the projection in core. */
export class HistoryReader {
  readonly #converter: Pick<PayloadConverter, 'fromPayload'>;
  #isAgentRun = false;
  #unread = 0;

  constructor(converter: Pick<PayloadConverter, 'fromPayload'>) {
    this.#converter = converter;
  }

  read(event: Event): HistoryEvent {
    const { started } = partsOf(event);
    if (started != null) this.#isAgentRun = started.workflowType?.name === workflowType;
    this.#unread = 0;
    const what = this.#what(event);
    const open = this.#open(event);
    const journal = journalOfEvent(event, this.#isAgentRun);
    return {
      eventId: Number(event.eventId),
      at: new Date(eventTimeMs(event)).toISOString(),
      ...(what !== undefined && { what }),
      ...(journal.length > 0 && { journal }),
      ...(open !== undefined && { open }),
      ...(this.#unread > 0 && { unread: this.#unread }),
    };
  }

  #what(event: Event): Happening | undefined {
    const { started, scheduled, nestedStarted, nestedCompleted } = partsOf(event);
    if (started != null) return this.#started(started);
    if (scheduled != null) return this.#scheduled(scheduled);
    if (nestedStarted?.workflowType?.name === workflowType) {
      return { kind: 'nested_started', workflowId: nestedStarted.workflowExecution?.workflowId ?? '' };
    }
    if (nestedCompleted?.workflowType?.name === workflowType) {
      const workflowId = nestedCompleted.workflowExecution?.workflowId ?? '';
      return { kind: 'nested_completed', workflowId, result: this.#first(nestedCompleted.result) };
    }
    return this.#activityEnd(event) ?? this.#runEnd(event);
  }

  #started(started: NonNullable<Event['workflowExecutionStartedEventAttributes']>): Happening {
    const before = started.continuedExecutionRunId ?? '';
    const isFirst = before === '';
    const name = started.workflowType?.name ?? '';
    if (!this.#isAgentRun) {
      // Its other arguments are the workflow's own business, also if they cannot be read.
      const values = isFirst ? [] : (started.input?.payloads ?? []).map((each) => this.#converter.fromPayload(each));
      const carried = findCarried(values, { isAgentRun: false, before });
      return { kind: 'started', workflowType: name, isFirst, input: undefined, ...(carried && { carried }) };
    }
    const input = this.#first(started.input);
    const carried = isFirst ? undefined : this.#value(started.input?.payloads?.[1]);
    return { kind: 'started', workflowType: name, isFirst, input, carried };
  }

  #scheduled(scheduled: NonNullable<Event['activityTaskScheduledEventAttributes']>): Happening | undefined {
    const toolName = scheduled.activityType?.name ?? '';
    const [first] = scheduled.input?.payloads ?? [];
    if (toolName === activityNames.callModel) {
      const activityId = scheduled.activityId ?? '';
      return this.#isAgentRun ? { kind: 'model_scheduled', activityId, input: this.#value(first) } : undefined;
    }
    if (withPolicies.includes(toolName)) return { kind: 'policies_scheduled' };
    if (toolName.startsWith('countersign.')) return undefined;
    const given = (scheduled.input?.payloads ?? []).map((each) => this.#value(each));
    const beside = objectIn(permitIn(first?.metadata));
    const isArgument = beside === undefined && (this.#isAgentRun || isMarkedPermit(first));
    const { callId } = (isArgument ? objectIn(given[0]) : beside) ?? {};
    if (typeof callId !== 'string') return undefined;
    const args = this.#isAgentRun ? given[1] : given.slice(isArgument ? 1 : 0);
    return { kind: 'tool_scheduled', callId, toolName, arguments: args };
  }

  #activityEnd(event: Event): Happening | undefined {
    const {
      activityTaskCompletedEventAttributes: completed,
      activityTaskFailedEventAttributes: failed,
      activityTaskTimedOutEventAttributes: timedOut,
      activityTaskCanceledEventAttributes: cancelled,
    } = event;
    const ended = (of: { scheduledEventId?: unknown }, end: ActivityEnd): Happening => {
      return { kind: 'ended', scheduledEventId: Number(of.scheduledEventId), end };
    };
    if (completed != null) return ended(completed, { result: this.#first(completed.result) });
    if (failed != null) return ended(failed, { failure: this.#failure(failed.failure) });
    if (timedOut != null) return ended(timedOut, { failure: this.#failure(timedOut.failure) });
    if (cancelled != null) return ended(cancelled, { failure: { kind: 'other', message: 'cancelled' } });
    return undefined;
  }

  #runEnd(event: Event): Happening | undefined {
    const {
      workflowExecutionCompletedEventAttributes: completed,
      workflowExecutionFailedEventAttributes: failed,
      workflowExecutionTimedOutEventAttributes: timedOut,
      workflowExecutionTerminatedEventAttributes: terminated,
    } = event;
    const next = (of: { newExecutionRunId?: string | null }) =>
      (of.newExecutionRunId ?? '') === '' ? {} : { continues: true };
    if (event.workflowExecutionContinuedAsNewEventAttributes != null) return { kind: 'continued' };
    if (completed != null) return { kind: 'completed', result: this.#first(completed.result), ...next(completed) };
    if (failed != null) return { kind: 'failed', failure: this.#failure(failed.failure), ...next(failed) };
    if (timedOut != null) return { kind: 'timed_out', ...next(timedOut) };
    if (terminated != null) return { kind: 'terminated', reason: terminated.reason ?? '' };
    return event.workflowExecutionCanceledEventAttributes == null ? undefined : { kind: 'cancelled' };
  }

  /** An `ActivityFailure` and its like only say where the failure inside them happened. */
  #failure(given: Failure | null | undefined): PlainFailure {
    const failure = given?.activityFailureInfo == null ? given : (given.cause ?? given);
    const message = this.#message(failure);
    const { applicationFailureInfo: application, timeoutFailureInfo: timeout } = failure ?? {};
    if (application != null) return { kind: 'application', type: application.type ?? '', message };
    // TIMEOUT_TYPE_SCHEDULE_TO_START
    return { kind: Number(timeout?.timeoutType) === 2 ? 'schedule_to_start' : 'other', message };
  }

  /** A codec may have encrypted the message. */
  #message(failure: Failure | null | undefined): string {
    const encoded = failure?.encodedAttributes == null ? undefined : this.#value(failure.encodedAttributes);
    const { message } = objectIn(encoded) ?? {};
    return typeof message === 'string' ? message : (failure?.message ?? '');
  }

  #open(event: Event): ApprovalSummary[] | undefined {
    const memo = event.workflowPropertiesModifiedEventAttributes?.upsertedMemo?.fields?.[memoName];
    if (memo == null) return undefined;
    const { open } = objectIn(this.#value(memo)) ?? {};
    return Array.isArray(open) ? open.filter(isRow) : undefined;
  }

  #first(payloads: Payloads | null | undefined): unknown {
    return this.#value(payloads?.payloads?.[0]);
  }

  #value(payload: Payload | null | undefined): unknown {
    if (payload == null) return undefined;
    const value = this.#converter.fromPayload<unknown>(payload);
    if (isUndecodable(value) && value.unread) this.#unread += 1;
    return value;
  }
}

/** The activities whose result holds policies. */
const withPolicies: readonly string[] = [
  activityNames.loadAgent,
  activityNames.loadGate,
  activityNames.readPolicy,
  activityNames.readParents,
];

function partsOf(event: Event) {
  return {
    started: event.workflowExecutionStartedEventAttributes,
    scheduled: event.activityTaskScheduledEventAttributes,
    nestedStarted: event.childWorkflowExecutionStartedEventAttributes,
    nestedCompleted: event.childWorkflowExecutionCompletedEventAttributes,
  };
}

function objectIn(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
}

function isRow(value: unknown): value is ApprovalSummary {
  const { requestId, toolName } = (value ?? {}) as Partial<ApprovalSummary>;
  return typeof requestId === 'string' && typeof toolName === 'string';
}
