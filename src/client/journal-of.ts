import type { temporal } from '@temporalio/proto';
import { activityNames, journalMemoName, memoName, workflowType } from '../contract.ts';
import type { Projection } from '../core/ledger/journal.ts';
import { orderedEntries, projectJournal } from '../core/ledger/journal.ts';
import type { JournalEntry } from '../core/ledger/journal-entry.ts';
import { permitIn } from '../core/base/permit-metadata.ts';
import { plainPayloadConverter } from '../codec/plain-payload-converter.ts';

type Payload = temporal.api.common.v1.IPayload;
type Event = temporal.api.history.v1.IHistoryEvent;
type History = temporal.api.history.v1.IHistory;

/** Reads the journal of a run, and its projection, from the histories of its executions, oldest first. */
export function projectHistories(executions: readonly History[]): Projection & { entries: JournalEntry[] } {
  const entries = orderedEntries(entriesOf(executions));
  return { entries, ...projectJournal(entries, wasEnded(executions)) };
}

/** True if an execution was terminated or timed out: it could not write how its open requests end. */
function wasEnded(executions: readonly History[]): boolean {
  return executions.some(({ events }) =>
    events?.some(
      (event) =>
        event.workflowExecutionTerminatedEventAttributes != null ||
        event.workflowExecutionTimedOutEventAttributes != null,
    ),
  );
}

/** The entries that the executions carry, with repeats. */
export function entriesOf(executions: readonly History[]): JournalEntry[] {
  const events = executions.flatMap(({ events: each }) => each ?? []);
  const agent = isAgentRun(executions);
  return events.flatMap((event) => journalOfEvent(event, agent));
}

/** The journal entries that one event carries. `agent`: false for a workflow of one's own. */
export function journalOfEvent(event: Event, agent: boolean): JournalEntry[] {
  return (agent ? writtenByRun(event) : writtenByGate(event)).flatMap(entriesIn);
}

/** The journal entries that one event of an agent run carries. */
export function journalIn(event: Event): JournalEntry[] {
  return writtenByRun(event).flatMap(entriesIn);
}

/** True if these are the executions of an agent run, and not of a custom workflow with a gate. */
export function isAgentRun(executions: readonly History[]): boolean {
  const [first] = executions[0]?.events ?? [];
  return first?.workflowExecutionStartedEventAttributes?.workflowType?.name === workflowType;
}

/** What the gate of an agent run wrote into the payloads of one event. */
export function writtenByRun(event: Event): unknown[] {
  return carriersOf(event).map(decoded);
}

/**
 * In a custom workflow most payloads are the author's own. The gate writes into the memo, into activities of ours, and
 * into permits, which are in the metadata of payloads, where no argument is.
 */
export function writtenByGate(event: Event): unknown[] {
  const scheduled = event.activityTaskScheduledEventAttributes;
  const activity = scheduled?.activityType?.name ?? '';
  const first = scheduled?.input?.payloads?.[0];
  const isOurs = activity.startsWith('countersign.') && !unwritten.has(activity);
  const carriers = [isOurs || isMarkedPermit(first) ? first : undefined, ...memosOf(event)].filter(isPayload);
  return [permitIn(first?.metadata), ...carriers.map(decoded)];
}

/** In histories of the first versions, a permit was an argument of its own, and its payload's metadata said so. */
export function isMarkedPermit(payload: Payload | null | undefined): boolean {
  const mark = payload?.metadata?.['countersign'];
  return mark != null && new TextDecoder().decode(mark) === 'permit';
}

function isPayload(payload: Payload | null | undefined): payload is Payload {
  return payload != null;
}

/**
 * The payloads that the gate itself writes, by their place. What a model, a tool or a starter can put into history
 * (arguments, results, inputs) is never read as the journal, whatever it claims to be.
 */
function carriersOf(event: Event): Payload[] {
  const scheduled = event.activityTaskScheduledEventAttributes;
  const activity = scheduled?.activityType?.name ?? '';
  const nested = event.startChildWorkflowExecutionInitiatedEventAttributes;
  return [
    unwritten.has(activity) ? undefined : scheduled?.input?.payloads?.[0],
    activity === activityNames.callModel ? scheduled?.input?.payloads?.[1] : undefined,
    ...memosOf(event),
    event.workflowExecutionContinuedAsNewEventAttributes?.input?.payloads?.[1],
    nested?.workflowType?.name === workflowType ? nested.input?.payloads?.[1] : undefined,
    event.workflowExecutionCompletedEventAttributes?.result?.payloads?.[0],
    event.workflowExecutionFailedEventAttributes?.failure?.applicationFailureInfo?.details?.payloads?.[0],
  ].filter(isPayload);
}

function memosOf(event: Event): (Payload | undefined)[] {
  const memos = event.workflowPropertiesModifiedEventAttributes?.upsertedMemo?.fields;
  return [memos?.[memoName], memos?.[journalMemoName]];
}

/** Our activities whose first argument is not the gate's: the starter's input, event ids, what people sent. */
const unwritten = new Set<string>([
  activityNames.loadAgent,
  activityNames.loadGate,
  activityNames.arbitrate,
  activityNames.checkEdit,
  activityNames.readPolicy,
  activityNames.readParents,
  activityNames.verifyCarried,
  activityNames.preview,
]);

/** The journal entries in a value that the gate wrote. */
export function entriesIn(value: unknown): JournalEntry[] {
  const journal = listIn(value) ?? listIn((value as { gate?: unknown } | undefined)?.gate) ?? [];
  return journal.filter(isEntry);
}

function listIn(value: unknown): unknown[] | undefined {
  const journal = typeof value === 'object' && value !== null ? (value as { journal?: unknown }).journal : undefined;
  return Array.isArray(journal) ? journal : undefined;
}

/** A payload that cannot be read carries no entries of ours. */
export function decoded(payload: Payload): unknown {
  try {
    return plainPayloadConverter.fromPayload(payload);
  } catch {
    return undefined;
  }
}

function isEntry(value: unknown): value is JournalEntry {
  const { seq, kind } = (value ?? {}) as Partial<JournalEntry>;
  return typeof seq === 'number' && typeof kind === 'string';
}
