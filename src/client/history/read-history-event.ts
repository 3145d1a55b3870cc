import type { temporal } from '@temporalio/proto';
import { activityNames, memoName, messageNames, workflowType } from '../../contract.ts';
import type {
  Activity,
  ActivityEnd,
  EndState,
  Fact,
  HistoryEvent,
  RunEnd,
  RecordedMessage,
  Started,
  PlainFailure,
} from '../../events/history-event.ts';
import { isObject } from '../../core/base/json.ts';
import { permitIn } from '../../core/base/permit-metadata.ts';
import type { ApprovalSummary } from '../../core/ledger/approval-index.ts';
import type { ReadValue } from '../server/read-payload.ts';
import { entriesIn, headIn, writtenIn } from './written-by-gate.ts';
import { definitionChangedType, previewChangedType } from '../../core/base/tool-call.ts';
import { isUndecodable } from '../../core/base/undecodable.ts';

type Event = temporal.api.history.v1.IHistoryEvent;
type Failure = temporal.api.failure.v1.IFailure;
type Payloads = temporal.api.common.v1.IPayloads;
type MaybePayload = temporal.api.common.v1.IPayload | null | undefined;
type Attributes<Name extends keyof Event> = NonNullable<Event[Name]>;

/**
 * Converts Temporal's events to facts; no other class does. Give it the decoded events of a run in order, execution by
 * execution. Never throws, because every client of the namespace can write any payload.
 */
export class HistoryReader {
  readonly #payloads: EventPayloads;
  #isAgentRun = false;
  /** The activities and nested workflows in flight in the present execution, by the id of the scheduling event. */
  readonly #begun = new Map<number, Activity>();

  constructor(read: ReadValue) {
    this.#payloads = new EventPayloads(read);
  }

  /** Returns the facts in the next event: what happened, and what the gate wrote into it. */
  read(event: Event): HistoryEvent {
    const what = this.#fact(event);
    const open = this.#open(event);
    const written = writtenIn(event, this.#isAgentRun, (payload) => this.#payloads.glance(payload));
    return {
      eventId: Number(event.eventId),
      at: new Date(eventTimeMs(event)).toISOString(),
      what,
      journal: written.flatMap(entriesIn),
      head: headIn(written),
      open,
      unread: this.#payloads.takeUnread(),
    };
  }

  /** Returns the fact in an event; undefined if it has none for readers of a run. */
  #fact(event: Event): Fact | undefined {
    const started = event.workflowExecutionStartedEventAttributes;
    if (started != null) return this.#started(started);
    const begun = this.#begunIn(event);
    if (begun !== undefined) {
      this.#begun.set(begun.scheduledEventId, begun);
      return { kind: 'scheduled', activity: begun };
    }
    if (event.workflowTaskCompletedEventAttributes != null) return { kind: 'task_completed' };
    const { baseRunId, newRunId } = event.workflowTaskFailedEventAttributes ?? {};
    if (baseRunId && newRunId) return { kind: 'reset', baseRunId };
    return this.#attempted(event) ?? this.#ended(event) ?? this.#message(event) ?? this.#runEnd(event);
  }

  /** Reads the start of an execution. Forgets the activities of the execution before it. */
  #started(started: Attributes<'workflowExecutionStartedEventAttributes'>): Started {
    const type = started.workflowType?.name ?? '';
    const before = started.continuedExecutionRunId || undefined;
    const isAgentRun = type === workflowType;
    this.#isAgentRun = isAgentRun;
    this.#begun.clear();
    return {
      kind: 'started',
      workflowType: type,
      isAgentRun,
      workflowId: started.workflowId ?? '',
      runId: started.originalExecutionRunId ?? '',
      firstRunId: started.firstExecutionRunId ?? '',
      before,
      input: isAgentRun ? this.#payloads.first(started.input) : undefined,
      carried: before === undefined ? undefined : this.#carried(started.input?.payloads ?? [], before),
    };
  }

  /**
   * Finds the argument that names the previous execution as its writer. In a custom workflow it may be any argument, or
   * a member of one, if it is there at all. An agent run must have it: null says that it has none.
   */
  #carried(payloads: readonly MaybePayload[], before: string): unknown {
    const values = this.#isAgentRun
      ? [this.#payloads.value(payloads[1])]
      : payloads.flatMap((payload) => {
          const value = this.#payloads.glance(payload);
          return isObject(value) ? [value, ...Object.values(value)] : [];
        });
    const found = values.filter(isObject).find(({ writer }) => isObject(writer) && writer['runId'] === before);
    return found ?? (this.#isAgentRun ? null : undefined);
  }

  /** Returns the activity or nested workflow that an event schedules; undefined for every other event. */
  #begunIn(event: Event): Activity | undefined {
    const scheduled = event.activityTaskScheduledEventAttributes;
    const nested = event.startChildWorkflowExecutionInitiatedEventAttributes;
    const place = { scheduledEventId: Number(event.eventId) };
    if (scheduled != null) return { ...place, ...this.#scheduled(scheduled) };
    if (nested == null) return undefined;
    const isAgentRun = nested.workflowType?.name === workflowType;
    return { ...place, kind: 'nested', workflowId: nested.workflowId ?? '', isAgentRun };
  }

  /** Reads what an activity is: a model call, an activity of Countersign's own, a tool, or `other`. */
  #scheduled(scheduled: Attributes<'activityTaskScheduledEventAttributes'>): Scheduled {
    const name = scheduled.activityType?.name ?? '';
    const payloads = scheduled.input?.payloads ?? [];
    if (name === activityNames.callModel && this.#isAgentRun) {
      return { kind: 'model', activityId: scheduled.activityId ?? '', input: this.#payloads.value(payloads[0]) };
    }
    const own = ourActivities.get(name);
    if (own !== undefined) return { kind: own.kind, given: objectIn(this.#payloads.glance(payloads[own.place])) };
    return name.startsWith('countersign.') ? { kind: 'other' } : this.#tool(name, payloads);
  }

  /** Reads the permit of a tool's activity: its first argument, or metadata of the first argument if guarded. */
  #tool(name: string, payloads: readonly MaybePayload[]): Scheduled {
    const values = payloads.map((payload) => this.#payloads.value(payload));
    const guardedPermit = permitIn(payloads[0]?.metadata);
    const isArgument = guardedPermit === undefined && this.#isAgentRun;
    const { callId, digest, definition, reconciles } = objectIn(isArgument ? values[0] : guardedPermit);
    if (typeof callId !== 'string') return { kind: 'other' };
    const permit = { callId, digest, definition, ...(reconciles === true && { reconciles: true as const }) };
    return { kind: 'tool', name, permit, values: values.slice(isArgument ? 1 : 0) };
  }

  #attempted(event: Event): Fact | undefined {
    const task = event.activityTaskStartedEventAttributes;
    const nested = event.childWorkflowExecutionStartedEventAttributes;
    if (task == null && nested == null) return undefined;
    const activity = this.#activity(task?.scheduledEventId ?? nested?.initiatedEventId);
    return { kind: 'attempted', activity, attempt: task?.attempt ?? undefined, worker: task?.identity || undefined };
  }

  /** Returns the end of an activity or nested workflow, which is then no longer in flight. */
  #ended(event: Event): Fact | undefined {
    for (const [name, state] of Object.entries(endings) as [keyof typeof endings, EndState][]) {
      const ended = event[name] as Ended | null | undefined;
      if (ended == null) continue;
      const activity = this.#activity(ended.scheduledEventId ?? ended.initiatedEventId);
      this.#begun.delete(activity.scheduledEventId);
      return { kind: 'ended', activity, state, end: this.#end(activity, state, ended) };
    }
    return undefined;
  }

  #end(activity: Activity, state: EndState, { result, failure }: Ended): ActivityEnd {
    // The result of a workflow that a custom workflow starts is not a fact about the run.
    const isForeign = activity.kind === 'nested' && !activity.isAgentRun;
    if (state === 'completed') return { result: isForeign ? undefined : this.#payloads.first(result) };
    if (state === 'cancelled' || activity.kind === 'nested') return { failure: { kind: 'other', message: state } };
    return { failure: this.#payloads.failure(failure) };
  }

  #activity(scheduledEventId: unknown): Activity {
    const id = Number(scheduledEventId);
    return this.#begun.get(id) ?? { scheduledEventId: id, kind: 'other' };
  }

  /** Returns the message of Countersign that a signal or an update brought; undefined for every other event. */
  #message(event: Event): RecordedMessage | undefined {
    const signal = event.workflowExecutionSignaledEventAttributes;
    const update = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest;
    const name = ourMessages.find((each) => each === (signal?.signalName ?? update?.input?.name));
    const payload = signal == null ? update?.input?.args?.payloads?.[0] : signal.input?.payloads?.[0];
    if (name === undefined || payload == null) return undefined;
    const sender = (signal == null ? update?.meta?.identity : signal.identity) || undefined;
    const via = signal == null ? 'update' : 'signal';
    return { kind: 'message', name, via, sender, value: this.#payloads.glance(payload) };
  }

  /** Returns how an execution ended; undefined for every other event. `next` is the execution that follows it. */
  #runEnd(event: Event): RunEnd | undefined {
    const {
      workflowExecutionContinuedAsNewEventAttributes: continued,
      workflowExecutionCompletedEventAttributes: completed,
      workflowExecutionFailedEventAttributes: failed,
      workflowExecutionTimedOutEventAttributes: timedOut,
      workflowExecutionTerminatedEventAttributes: terminated,
    } = event;
    const next = (continued ?? completed ?? failed ?? timedOut)?.newExecutionRunId || undefined;
    if (continued != null) return { kind: 'continued', next };
    if (completed != null) return { kind: 'completed', result: this.#payloads.first(completed.result), next };
    if (failed != null) return { kind: 'failed', failure: this.#payloads.failure(failed.failure), next };
    if (timedOut != null) return { kind: 'timed_out', next };
    if (terminated != null) return { kind: 'terminated', reason: terminated.reason ?? '' };
    return event.workflowExecutionCanceledEventAttributes == null ? undefined : { kind: 'cancelled' };
  }

  /** Returns the open requests that an event writes into the memo; undefined if it writes none. */
  #open(event: Event): ApprovalSummary[] | undefined {
    const memo = event.workflowPropertiesModifiedEventAttributes?.upsertedMemo?.fields?.[memoName];
    const { open } = objectIn(this.#payloads.value(memo));
    return Array.isArray(open) ? open.filter(isRow) : undefined;
  }
}

type WithoutPlace<Each> = Each extends Activity ? Omit<Each, 'scheduledEventId'> : never;
type Scheduled = WithoutPlace<Activity>;

/** Countersign's activities that have facts about a run, each with the position of the argument that the gate wrote. */
const ourActivities: ReadonlyMap<
  string,
  { kind: 'config' | 'verified' | 'policy' | 'parents' | 'edit'; place: number }
> = new Map([
  // The first argument of these two is the starter's input. The gate writes the second one, if there is a gate.
  [activityNames.loadAgent, { kind: 'config', place: 1 }],
  [activityNames.loadGate, { kind: 'config', place: 1 }],
  [activityNames.verifyCarried, { kind: 'verified', place: 0 }],
  [activityNames.readPolicy, { kind: 'policy', place: 0 }],
  [activityNames.readParents, { kind: 'parents', place: 0 }],
  [activityNames.checkEdit, { kind: 'edit', place: 0 }],
]);

interface Ended {
  scheduledEventId?: unknown;
  initiatedEventId?: unknown;
  result?: Payloads | null;
  failure?: Failure | null;
}

const endings = {
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
} as const satisfies Partial<Record<keyof Event, EndState>>;

const ourMessages: readonly RecordedMessage['name'][] = Object.values(messageNames);

/** Returns the time of an event, in milliseconds since 1970. In a history from a file, its parts are plain numbers. */
function eventTimeMs({ eventTime }: Event): number {
  return Number(eventTime?.seconds ?? 0) * 1_000 + Math.floor((eventTime?.nanos ?? 0) / 1_000_000);
}

/** Returns the value if it is an object, and an empty object otherwise. */
function objectIn(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {};
}

function isRow(value: unknown): value is ApprovalSummary {
  const { requestId, toolName } = (value ?? {}) as Partial<ApprovalSummary>;
  return typeof requestId === 'string' && typeof toolName === 'string';
}

type Payload = temporal.api.common.v1.IPayload | null | undefined;

/** Decodes the payloads of history events, each once. */
class EventPayloads {
  readonly #read: ReadValue;
  readonly #values = new WeakMap<object, unknown>();
  #unread = 0;

  constructor(read: ReadValue) {
    this.#read = read;
  }

  /** Returns how many undecodable payloads `value` was given since the last call. */
  takeUnread(): number {
    const unread = this.#unread;
    this.#unread = 0;
    return unread;
  }

  /** Returns the value of a payload for run events. `takeUnread` counts the payload if it is undecodable. */
  value(payload: Payload): unknown {
    const value = this.glance(payload);
    if (isUndecodable(value) && value.unread) this.#unread += 1;
    return value;
  }

  /** Returns the value of the first payload, as `value` does. */
  first(payloads: Payloads | null | undefined): unknown {
    return this.value(payloads?.payloads?.[0]);
  }

  /** Returns the value of any other payload, which `takeUnread` does not count. */
  glance(payload: Payload): unknown {
    if (payload == null) return undefined;
    if (!this.#values.has(payload)) this.#values.set(payload, this.#read(payload));
    return this.#values.get(payload);
  }

  /** Reads a failure. If it is an `ActivityFailure`, which only wraps another one, reads the inner failure. */
  failure(given: Failure | null | undefined): PlainFailure {
    const failure = given?.activityFailureInfo == null ? given : (given.cause ?? given);
    const message = this.#message(failure);
    const { applicationFailureInfo: application, timeoutFailureInfo: timeout } = failure ?? {};
    if (application != null) {
      const type = application.type ?? '';
      const isChange = type === definitionChangedType || type === previewChangedType;
      const payloads = isChange ? application.details?.payloads : undefined; // no other details are read
      return { kind: 'application', type, message, details: payloads?.map((payload) => this.glance(payload)) };
    }
    // 2 is `TIMEOUT_TYPE_SCHEDULE_TO_START` of Temporal's API.
    return { kind: Number(timeout?.timeoutType) === 2 ? 'schedule_to_start' : 'other', message };
  }

  /** Reads the message of a failure. If a codec has encrypted it, `encodedAttributes` has the message. */
  #message(failure: Failure | null | undefined): string {
    const encoded = this.value(failure?.encodedAttributes);
    const message = isObject(encoded) ? encoded['message'] : undefined;
    return typeof message === 'string' ? message : (failure?.message ?? '');
  }
}
