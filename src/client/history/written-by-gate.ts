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
 * Returns the values in an event that the gate wrote. Only the place of a value shows its writer: a value of a model,
 * a tool or a starter is never read as the journal, whatever it claims to be.
 */
export function writtenIn(event: Event, isAgentRun: boolean, read: (payload: Payload) => unknown): unknown[] {
  const scheduled = event.activityTaskScheduledEventAttributes;
  const activity = scheduled?.activityType?.name ?? '';
  const [first, second] = scheduled?.input?.payloads ?? [];
  const isFirstOfGate = !unwritten.has(activity);
  const memo = event.workflowPropertiesModifiedEventAttributes?.upsertedMemo?.fields;
  const memos = [memo?.[memoName], memo?.[journalMemoName]];
  const valuesOf = (payloads: (Payload | null | undefined)[]): unknown[] =>
    payloads.flatMap((payload) => (payload == null ? [] : [read(payload)]));
  if (!isAgentRun) {
    // In a custom workflow, the gate writes only arguments of Countersign's activities, memos, and metadata.
    const isOwnActivity = activity.startsWith('countersign.');
    return [permitIn(first?.metadata), ...valuesOf([isOwnActivity && isFirstOfGate ? first : undefined, ...memos])];
  }
  const nested = event.startChildWorkflowExecutionInitiatedEventAttributes;
  const isNestedRun = nested?.workflowType?.name === workflowType;
  return valuesOf([
    isFirstOfGate ? first : undefined,
    activity === activityNames.callModel ? second : undefined,
    ...memos,
    event.workflowExecutionContinuedAsNewEventAttributes?.input?.payloads?.[1],
    isNestedRun ? nested.input?.payloads?.[1] : undefined,
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
