/** Finds what the gate writes. Its journal is part of payloads that history keeps anyway. */
import type { temporal } from '@temporalio/proto';
import { activityNames, journalMemoName, memoName, workflowType } from '../../contract.ts';
import { isHash } from '../../core/ledger/merkle.ts';
import { isObject } from '../../core/base/json.ts';
import { permitIn } from '../../core/base/permit-metadata.ts';
import type { JournalEntry, JournalHead } from '../../core/ledger/journal-entry.ts';
import { readValue } from '../server/read-payload.ts';

type Payload = temporal.api.common.v1.IPayload;
type Event = temporal.api.history.v1.IHistoryEvent;

export function journalIn(event: Event): JournalEntry[] {
  return writtenIn(event, true, readValue).flatMap(entriesIn);
}

/**
 * Returns the gate's records in one event, which only their place identifies: a value of a model, a tool or a starter
 * is never read as the journal, whatever it claims to be.
 */
export function writtenIn(event: Event, isAgentRun: boolean, read: (payload: Payload) => unknown): unknown[] {
  const scheduled = event.activityTaskScheduledEventAttributes;
  const activity = scheduled?.activityType?.name ?? '';
  const [first, second] = scheduled?.input?.payloads ?? [];
  const memo = event.workflowPropertiesModifiedEventAttributes?.upsertedMemo?.fields;
  const memos = [memo?.[memoName], memo?.[journalMemoName]];
  const valuesOf = (payloads: (Payload | null | undefined)[]): unknown[] =>
    payloads.flatMap((payload) => (payload == null ? [] : [read(payload)]));
  if (!isAgentRun) {
    // Most payloads are the author's. The gate writes arguments of Countersign's activities, memos, and metadata.
    const isOurs = activity.startsWith('countersign.') && !unwritten.has(activity);
    return [permitIn(first?.metadata), ...valuesOf([isOurs ? first : undefined, ...memos])];
  }
  const nested = event.startChildWorkflowExecutionInitiatedEventAttributes;
  return valuesOf([
    unwritten.has(activity) ? undefined : first,
    activity === activityNames.callModel ? second : undefined,
    ...memos,
    event.workflowExecutionContinuedAsNewEventAttributes?.input?.payloads?.[1],
    nested?.workflowType?.name === workflowType ? nested.input?.payloads?.[1] : undefined,
    event.workflowExecutionCompletedEventAttributes?.result?.payloads?.[0],
    event.workflowExecutionFailedEventAttributes?.failure?.applicationFailureInfo?.details?.payloads?.[0],
  ]);
}

/** The activities whose first argument is not the gate's, but a starter's input, an event id, or a person's message. */
const unwritten = new Set<string>([
  activityNames.loadAgent,
  activityNames.loadGate,
  activityNames.arbitrate,
  activityNames.checkEdit,
  activityNames.readPolicy,
  activityNames.readParents,
  activityNames.verifyCarried,
  activityNames.checkApprovers,
  activityNames.preview,
  activityNames.reconcile,
]);

export function entriesIn(value: unknown): JournalEntry[] {
  const { journal, gate } = isObject(value) ? value : {};
  const list = Array.isArray(journal) ? journal : isObject(gate) ? gate['journal'] : undefined;
  return Array.isArray(list) ? list.filter(isEntry) : [];
}

/** Returns the head over the most entries among the values that the gate wrote. */
export function headIn(values: readonly unknown[]): JournalHead | undefined {
  let largest: JournalHead | undefined;
  for (const value of values) {
    const { journalHead } = isObject(value) ? value : {};
    const { size, root } = isObject(journalHead) ? journalHead : {};
    if (!Number.isSafeInteger(size) || !isHash(root) || (size as number) < (largest?.size ?? 0)) continue;
    largest = { size: size as number, root };
  }
  return largest;
}

function isEntry(value: unknown): value is JournalEntry {
  const { seq, kind } = (value ?? {}) as Partial<JournalEntry>;
  return typeof seq === 'number' && typeof kind === 'string';
}
