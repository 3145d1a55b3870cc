import { workflowType } from '../contract.ts';
import type { ActivityLine, EvidenceLine, MessagePlace } from '../core/audit/audit-line.ts';
import type { CommittedRun } from '../core/audit/commit-entry.ts';
import { evidenceParts } from '../core/audit/evidence-parts.ts';
import { canonicalJsonProblem } from '../core/base/canonical-json.ts';
import { jsonDigest } from '../core/base/digest.ts';
import { isObject } from '../core/base/is-object.ts';
import type { Fact, HistoryEvent, SentMessage } from '../core/events/history-event.ts';
import type { JournalEntry } from '../core/ledger/journal-entry.ts';
import { readUserMessage } from '../core/messages/control.ts';
import type { Json } from '../core/base/tool-call.ts';
import { nestedRunId } from '../core/policy/nesting.ts';
import { activitiesOf } from './audited-activities.ts';
import type { Session } from './connect.ts';
import { evidenceOf } from './evidence-of.ts';
import { fetchRun, type ReadExecution, type ReadRun } from './history-chain.ts';
import { historyFacts } from './history-facts.ts';
import { type RecordedTree, recordedTree } from './recorded-tree.ts';

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
  executions: readonly ReadExecution[];
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
  return auditedRun(session.namespace, workflowId, await fetchRun(session, workflowId, runId));
}

export function auditedRun(
  namespace: string,
  workflowId: string,
  { executions, unread }: Pick<ReadRun, 'executions' | 'unread'>,
): AuditedRun {
  const [begun] = executions[0]?.events ?? [];
  const started = begun?.what?.kind === 'started' ? begun.what : undefined;
  const { agent, caller } = isObject(started?.input) ? started.input : {};
  const facts = historyFacts(executions);
  const sent = executions.flatMap(sentIn);
  return {
    namespace,
    workflowId,
    firstRunId: started?.firstRunId || (executions[0]?.runId ?? ''),
    workflowType: started?.workflowType || workflowType,
    startedAt: begun?.at ?? null,
    ...endOf(executions.at(-1)?.events.at(-1)),
    ...(typeof agent === 'string' && { agent }),
    ...(caller != null && { caller: caller as Json }),
    executions,
    entries: placedEntries(executions),
    tree: recordedTree(executions, facts.policies),
    messages: sent.flatMap(decisionsIn),
    said: sent.flatMap(saidIn),
    activities: executions.flatMap((execution) => activitiesOf(execution, nestedRunId(workflowId, ''))),
    evidence: evidenceParts(evidenceOf(executions, facts).evidence),
    unread,
  };
}

function placedEntries(executions: readonly ReadExecution[]): AuditedRun['entries'] {
  const found = new Map<number, AuditedRun['entries'][number]>();
  for (const { runId, events } of executions) {
    for (const { eventId, journal } of events) {
      for (const entry of journal) {
        const place = found.get(entry.seq)?.place ?? { runId, eventId };
        // As in `orderedEntries`, the last one counts.
        found.set(entry.seq, { entry, place });
      }
    }
  }
  return [...found.values()].sort((one, other) => one.entry.seq - other.entry.seq);
}

function endOf(last: HistoryEvent | undefined): { status: string; closedAt?: string } {
  const status = statusAfter(last?.what);
  return last === undefined || status === 'RUNNING' ? { status } : { status, closedAt: last.at };
}

function statusAfter(what: Fact | undefined): string {
  switch (what?.kind) {
    case 'completed':
    case 'failed':
    case 'cancelled':
    case 'terminated':
    case 'timed_out':
      return what.kind.toUpperCase();
    case 'continued':
      return 'CONTINUED_AS_NEW';
    case 'started':
    case 'scheduled':
    case 'attempted':
    case 'ended':
    case 'message':
    case 'task_completed':
    case 'reset':
    case undefined:
      return 'RUNNING';
  }
}

/** A message, and its place with its sender as the sender's client names itself. */
interface Sent {
  message: SentMessage;
  place: MessagePlace;
}

function sentIn({ runId, events }: ReadExecution): Sent[] {
  return events.flatMap(({ eventId, at, what }) => {
    if (what?.kind !== 'message') return [];
    const { via, sender } = what;
    return [{ message: what, place: { via, runId, eventId, at, ...(sender !== undefined && { sender }) } }];
  });
}

/** The decisions that one message brought. */
function decisionsIn({ message: { name, value }, place }: Sent): AuditedRun['messages'] {
  if (name !== 'decide') return [];
  return [value].flat().flatMap((decision) => {
    const { requestId, decisionId } = isObject(decision) ? decision : {};
    if (typeof requestId !== 'string') return [];
    return [{ requestId, ...(typeof decisionId === 'string' && { decisionId }), place }];
  });
}

function saidIn({ message: { name, value }, place }: Sent): AuditedRun['said'] {
  const read = name === 'message' ? readUserMessage(value) : undefined;
  if (read === undefined || 'problem' in read || canonicalJsonProblem(read.message.content) !== undefined) return [];
  const { content, messageId } = read.message;
  return [{ digest: jsonDigest(content), ...(messageId !== undefined && { messageId }), place }];
}
