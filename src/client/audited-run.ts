import type { temporal } from '@temporalio/proto';
import { decideName, messageNames, workflowType } from '../contract.ts';
import type { ActivityLine, EvidenceLine, MessagePlace } from '../core/audit/audit-line.ts';
import type { CommittedRun } from '../core/audit/commit-entry.ts';
import { evidenceParts } from '../core/audit/evidence-parts.ts';
import { canonicalJsonProblem } from '../core/base/canonical-json.ts';
import { jsonDigest } from '../core/base/digest.ts';
import { isObject } from '../core/base/is-object.ts';
import type { JournalEntry } from '../core/ledger/journal-entry.ts';
import { readUserMessage } from '../core/messages/control.ts';
import type { Json } from '../core/base/tool-call.ts';
import { nestedRunId } from '../core/policy/nesting.ts';
import { activitiesOf } from './audited-activities.ts';
import type { Session } from './connect.ts';
import { decodeHistory } from './decode-history.ts';
import { eventTime } from './event-time.ts';
import { evidenceOf } from './evidence-of.ts';
import { fetchHistoryChain, type HistoryExecution } from './history-chain.ts';
import { decoded, entriesIn, isAgentRun, writtenByGate, writtenByRun } from './journal-of.ts';
import { type RecordedTree, recordedTree } from './recorded-tree.ts';

type Event = temporal.api.history.v1.IHistoryEvent;

/** The place of an event in the history of a run. */
export interface EventPlace {
  runId: string;
  eventId: number;
}

/** Everything that the histories of a run say of it for an audit. */
export interface AuditedRun extends CommittedRun {
  workflowType: string;
  startedAt: string | null;
  /** Temporal's name of the status, such as `COMPLETED`. */
  status: string;
  closedAt?: string;
  agent?: string;
  caller?: Json;
  executions: readonly HistoryExecution[];
  /** Each entry once, in the order of `seq`, with the first event that holds it. */
  entries: { entry: JournalEntry; place: EventPlace }[];
  tree: RecordedTree;
  /** By request id and decision id. */
  messages: { requestId: string; decisionId?: string; place: MessagePlace }[];
  /** What the user of a session said, by the digest of its content; a retry has the same `messageId`. */
  said: { digest: string; messageId?: string; place: MessagePlace }[];
  activities: Omit<ActivityLine, 'line' | 'run'>[];
  /** What a verifier needs to rule again. */
  evidence: Pick<EvidenceLine, 'part' | 'key' | 'value'>[];
  /** The number of payloads that cannot be decoded. */
  unread: number;
}

/** Reads a run for an audit. `runId`: of its last execution; default: the newest under this workflow id. */
export async function fetchAuditedRun(session: Session, workflowId: string, runId?: string): Promise<AuditedRun> {
  const { executions } = await fetchHistoryChain(session, workflowId, runId);
  const unread = await decodeHistory(
    session,
    executions.flatMap(({ events }) => events),
  );
  return auditedRun(session.namespace, executions, unread);
}

/** Reads a run from the decoded histories of its executions, oldest first. */
export function auditedRun(namespace: string, executions: readonly HistoryExecution[], unread = 0): AuditedRun {
  const [first] = executions as [HistoryExecution];
  const started = first.events[0]?.workflowExecutionStartedEventAttributes;
  const input = started?.input?.payloads?.[0];
  const given = input == null || !isAgentRun(executions) ? undefined : decoded(input);
  const { agent, caller } = isObject(given) ? given : {};
  const { workflowId } = first;
  return {
    namespace,
    workflowId,
    firstRunId: started?.firstExecutionRunId || first.runId,
    workflowType: started?.workflowType?.name ?? workflowType,
    startedAt: eventTime(first.events[0]) ?? null,
    ...endOf(executions.at(-1)!.events.at(-1)),
    ...(typeof agent === 'string' && { agent }),
    ...(caller != null && { caller: caller as Json }),
    executions,
    entries: placedEntries(executions),
    tree: recordedTree(executions),
    messages: executions.flatMap(({ runId, events }) => events.flatMap((event) => messagesIn(event, runId))),
    said: executions.flatMap(({ runId, events }) => events.flatMap((event) => saidIn(event, runId))),
    activities: executions.flatMap(({ runId, events }) => activitiesOf(events, runId, nestedRunId(workflowId, ''))),
    evidence: evidenceParts(evidenceOf(executions).evidence),
    unread,
  };
}

function placedEntries(executions: readonly HistoryExecution[]): AuditedRun['entries'] {
  const writtenIn = isAgentRun(executions) ? writtenByRun : writtenByGate;
  const found = new Map<number, AuditedRun['entries'][number]>();
  for (const { runId, events } of executions) {
    for (const event of events) {
      for (const entry of writtenIn(event).flatMap(entriesIn)) {
        const place = found.get(entry.seq)?.place ?? { runId, eventId: Number(event.eventId) };
        // As in `orderedEntries`, the last one counts.
        found.set(entry.seq, { entry, place });
      }
    }
  }
  return [...found.values()].sort((one, other) => one.entry.seq - other.entry.seq);
}

function endOf(last: Event | undefined): { status: string; closedAt?: string } {
  const status = Object.entries(ends).find(([name]) => last?.[name as keyof typeof ends] != null)?.[1];
  const closedAt = eventTime(last);
  return status === undefined ? { status: 'RUNNING' } : { status, ...(closedAt !== undefined && { closedAt }) };
}

const ends = {
  workflowExecutionCompletedEventAttributes: 'COMPLETED',
  workflowExecutionFailedEventAttributes: 'FAILED',
  workflowExecutionCanceledEventAttributes: 'CANCELLED',
  workflowExecutionTerminatedEventAttributes: 'TERMINATED',
  workflowExecutionTimedOutEventAttributes: 'TIMED_OUT',
  workflowExecutionContinuedAsNewEventAttributes: 'CONTINUED_AS_NEW',
} as const satisfies Partial<Record<keyof Event, string>>;

/** The decisions that one event brought. */
function messagesIn(event: Event, runId: string): AuditedRun['messages'] {
  const found = sentIn(event, runId, decideName);
  if (found === undefined) return [];
  const { value, place } = found;
  return [value].flat().flatMap((decision) => {
    const { requestId, decisionId } = isObject(decision) ? decision : {};
    if (typeof requestId !== 'string') return [];
    return [{ requestId, ...(typeof decisionId === 'string' && { decisionId }), place }];
  });
}

function saidIn(event: Event, runId: string): AuditedRun['said'] {
  const found = sentIn(event, runId, messageNames.message);
  const read = readUserMessage(found?.value);
  if (found === undefined || 'problem' in read || canonicalJsonProblem(read.message.content) !== undefined) return [];
  const { content, messageId } = read.message;
  return [{ digest: jsonDigest(content), ...(messageId !== undefined && { messageId }), place: found.place }];
}

/** The message of this name that one event brought, with its sender as the sender's client names itself. */
function sentIn(event: Event, runId: string, name: string): { value: unknown; place: MessagePlace } | undefined {
  const signal = event.workflowExecutionSignaledEventAttributes;
  const update = event.workflowExecutionUpdateAcceptedEventAttributes?.acceptedRequest;
  const isSignal = signal?.signalName === name;
  const isUpdate = update?.input?.name === name;
  if (!isSignal && !isUpdate) return undefined;
  const sender = isSignal ? signal.identity : update?.meta?.identity;
  const payload = isSignal ? signal.input?.payloads?.[0] : update?.input?.args?.payloads?.[0];
  if (payload == null) return undefined;
  const place: MessagePlace = {
    via: isSignal ? 'signal' : 'update',
    runId,
    eventId: Number(event.eventId),
    at: eventTime(event) ?? '',
    ...(sender ? { sender } : {}),
  };
  return { value: decoded(payload), place };
}
