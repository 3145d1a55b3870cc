/**
 * What the histories of a run say about its rulings: config, policies, calls of the model, arguments of activities. Only
 * payloads that the run itself believed are read, by their place; what a starter or a tool wrote elsewhere is not.
 */
import type { temporal } from '@temporalio/proto';
import { activityNames, messageNames, type Permit, workflowType } from '../contract.ts';
import type { EvidenceContext } from '../core/audit/evidence.ts';
import { definitionChangedType, refusedBySecondGate } from '../core/base/tool-failure.ts';
import { permitIn } from '../core/base/permit-metadata.ts';
import type { Json, JsonObject, ToolDefinition } from '../core/base/tool-call.ts';
import type { Ledger } from '../core/ledger/ledger.ts';
import { readSetPolicy, type SetPolicyMessage } from '../core/messages/control.ts';
import type { GateConfig } from '../core/policy/gate-config.ts';
import type { Policy } from '../core/policy/policy.ts';
import type { RunConfig } from '../core/policy/run-config.ts';
import type { PolicyChange } from '../core/policy/run-side.ts';
import type { ShellSplit } from '../core/shell/parts.ts';
import type { Assessment } from '../core/assess/assessment.ts';
import { eventTimeMs } from './event-time.ts';
import { isMarkedPermit } from './journal-of.ts';
import { findCarried } from './find-carried.ts';
import { plainPayloadConverter } from '../codec/plain-payload-converter.ts';

type Event = temporal.api.history.v1.IHistoryEvent;
type History = temporal.api.history.v1.IHistory;
type Payload = temporal.api.common.v1.IPayload;

/** Arguments, and what an activity found out when it parsed them. */
export interface ParsedArguments {
  args?: JsonObject;
  shell?: ShellSplit & { argument: string };
  assessment?: Assessment;
}

/** A tool as the worker that refused to start it defines it, and the arguments parsed by its schema. */
interface ChangedTool {
  definition: ToolDefinition;
  checked?: ParsedArguments;
}

/** What one execution handed to the next: believed only because `activities/verify-carried.ts` believed it. */
export interface CarriedPast {
  gate: { ledger: Ledger; change?: PolicyChange };
  config: RunConfig | GateConfig;
  /** The agent in charge, for an agent run after a handoff. */
  agent?: string;
}

export interface HistoryFacts {
  isAgentRun: boolean;
  config?: RunConfig | GateConfig;
  /** If the first of these executions is not the first of the run. */
  carried?: CarriedPast;
  /** What later executions took up, for calls that only their carried requests hold. */
  pasts: CarriedPast[];
  /** Caller and metadata, from the time of each execution on. */
  contexts: { sinceMs: number; context: EvidenceContext }[];
  /** The calls of each turn of the model. */
  turns: Map<number, readonly ParsedArguments[]>;
  edits: { tool: string; parsed: ParsedArguments }[];
  /** Tools that had changed when a call was to start. */
  changes: { atMs: number; permit: Permit; change: ChangedTool }[];
  /** What was passed to activities behind the gate. `values`: positional, for a guarded activity. */
  started: { activity: string; permit: Permit; values: (Json | undefined)[] }[];
  messages: SetPolicyMessage[];
  /** Policies of `setPolicy`, with the document that they were read from. */
  read: { document: JsonObject; policy: Policy }[];
  parents: Policy[][];
}

/** Reads the facts from decoded histories of the executions of a run, oldest first. */
export function historyFacts(executions: readonly History[]): HistoryFacts {
  const first = startedOf(executions[0]);
  const facts: HistoryFacts = {
    isAgentRun: first?.workflowType?.name === workflowType,
    pasts: [],
    contexts: [],
    turns: new Map(),
    edits: [],
    changes: [],
    started: [],
    messages: [],
    read: [],
    parents: [],
  };
  for (const [index, execution] of executions.entries()) takeExecution(facts, execution, index === 0);
  return facts;
}

function takeExecution(facts: HistoryFacts, execution: History, isFirst: boolean): void {
  const events = execution.events ?? [];
  const started = startedOf(execution);
  const past = carriedIn(facts.isAgentRun, started);
  if (past !== undefined) {
    facts.pasts.push(past);
    if (isFirst) facts.carried = past;
    facts.config ??= past.config;
  }
  const sinceMs = eventTimeMs(events[0]);
  const input = decoded(started?.input?.payloads?.[0]) as { caller?: unknown; metadata?: unknown } | undefined;
  const ofRun = facts.isAgentRun && typeof input === 'object' && input !== null ? contextOf(input) : unknownContext;
  facts.contexts.push({ sinceMs, context: facts.isAgentRun ? ofRun : unknownContext });
  const scheduled = new Map<string, Event>();
  for (const event of events) {
    if (event.activityTaskScheduledEventAttributes != null) scheduled.set(String(event.eventId), event);
    takeEvent(facts, event, scheduled, sinceMs);
  }
}

const unknownContext: EvidenceContext = { unknown: ['caller', 'metadata'] };

function takeEvent(facts: HistoryFacts, event: Event, scheduled: Map<string, Event>, sinceMs: number): void {
  const signaled = event.workflowExecutionSignaledEventAttributes;
  const request = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest?.input;
  if (signaled?.signalName === messageNames.setPolicy) takeMessage(facts, signaled.input?.payloads?.[0]);
  if (request?.name === messageNames.setPolicy) takeMessage(facts, request.args?.payloads?.[0]);
  if (event.activityTaskScheduledEventAttributes != null) takeScheduled(facts, event, sinceMs);
  const { scheduledEventId, result } = event.activityTaskCompletedEventAttributes ?? {};
  const begun = scheduled.get(String(scheduledEventId))?.activityTaskScheduledEventAttributes;
  if (begun != null) takeResult(facts, begun.activityType?.name, begun.input?.payloads?.[0], result?.payloads?.[0]);
  const failed = event.activityTaskFailedEventAttributes;
  const failedActivity = scheduled.get(String(failed?.scheduledEventId))?.activityTaskScheduledEventAttributes;
  const { type, details } = failed?.failure?.applicationFailureInfo ?? {};
  if (failedActivity == null || type !== definitionChangedType) return;
  const first = failedActivity.input?.payloads?.[0];
  const permit = permitOf(first, facts.isAgentRun || isMarkedPermit(first));
  const [by, change] = (details?.payloads ?? []).map(decoded) as [unknown, ChangedTool | undefined];
  if (permit === undefined || by !== refusedBySecondGate || change?.definition === undefined) return;
  facts.changes.push({ atMs: eventTimeMs(event), permit, change });
}

function takeScheduled(facts: HistoryFacts, event: Event, sinceMs: number): void {
  const { activityType, input } = event.activityTaskScheduledEventAttributes ?? {};
  const activity = activityType?.name ?? '';
  const payloads = input?.payloads ?? [];
  if (activity === activityNames.loadGate || activity === activityNames.verifyCarried) {
    const place = activity === activityNames.loadGate ? 1 : 0;
    const { context } = (decoded(payloads[place]) ?? {}) as { context?: EvidenceContext };
    const known = facts.contexts.findIndex((each) => each.sinceMs === sinceMs);
    if (typeof context === 'object' && context !== null) facts.contexts[known] = { sinceMs, context };
    return;
  }
  if (activity.startsWith('countersign.')) return;
  const isFirst = facts.isAgentRun || isMarkedPermit(payloads[0]);
  const permit = permitOf(payloads[0], isFirst);
  if (permit === undefined) return;
  const values = (isFirst ? payloads.slice(1) : payloads).map((each) => decoded(each) as Json | undefined);
  facts.started.push({ activity, permit, values });
}

function takeResult(facts: HistoryFacts, activity: string | null | undefined, input?: Payload, output?: Payload): void {
  const result = decoded(output);
  if (typeof result !== 'object' || result === null) return;
  const given = decoded(input);
  if (activity === activityNames.loadAgent || activity === activityNames.loadGate) {
    facts.config ??= result as RunConfig | GateConfig;
  } else if (activity === activityNames.callModel && facts.isAgentRun) {
    const { turn } = given as { turn: number };
    facts.turns.set(turn, (result as { calls: ParsedArguments[] }).calls);
  } else if (activity === activityNames.checkEdit && 'args' in result) {
    const { tool } = given as { tool: string };
    facts.edits.push({ tool, parsed: result as ParsedArguments });
  } else if (activity === activityNames.readPolicy && 'policy' in result) {
    const { policy: document } = given as { policy: JsonObject };
    facts.read.push({ document, policy: result.policy as Policy });
  } else if (activity === activityNames.readParents && 'policies' in result) {
    facts.parents.push(result.policies as Policy[]);
  }
}

function takeMessage(facts: HistoryFacts, payload: Payload | null | undefined): void {
  const read = readSetPolicy(decoded(payload));
  if ('message' in read) facts.messages.push(read.message);
}

function contextOf({ caller, metadata }: { caller?: unknown; metadata?: unknown }): EvidenceContext {
  return {
    ...(caller !== undefined && { caller: caller as NonNullable<EvidenceContext['caller']> }),
    ...(metadata !== undefined && { metadata: metadata as JsonObject }),
  };
}

/** A permit is the first argument of a tool's activity, and in the metadata of a guarded activity's first argument. */
function permitOf(payload: Payload | null | undefined, isArgument: boolean): Permit | undefined {
  const permit = isArgument ? decoded(payload) : permitIn(payload?.metadata);
  const { callId, digest } = (permit ?? {}) as Partial<Permit>;
  return typeof callId === 'string' && typeof digest === 'string' ? (permit as Permit) : undefined;
}

/** The state that the execution before this one wrote, if it is of that execution. */
function carriedIn(isAgentRun: boolean, started: ReturnType<typeof startedOf>): CarriedPast | undefined {
  const before = started?.continuedExecutionRunId ?? '';
  const values = before === '' ? [] : (started?.input?.payloads ?? []).map(decoded);
  const found = findCarried(values, { isAgentRun, before }) as
    { gate: CarriedPast['gate']; config?: GateConfig; state?: { config: RunConfig; agent?: string } } | undefined;
  const config = found?.state?.config ?? found?.config;
  return found === undefined || config === undefined
    ? undefined
    : { gate: found.gate, config, agent: found.state?.agent };
}

function startedOf(execution: History | undefined) {
  return execution?.events?.[0]?.workflowExecutionStartedEventAttributes ?? undefined;
}

/** Undefined for a payload that cannot be read. */
function decoded(payload: Payload | null | undefined): unknown {
  if (payload == null) return undefined;
  try {
    return plainPayloadConverter.fromPayload(payload);
  } catch {
    return undefined;
  }
}
