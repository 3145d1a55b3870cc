import { workflowType } from '../../contract.ts';
import type { ActivityLine, EvidenceLine, MessagePlace, RecordedHead } from '../../audit/audit-line.ts';
import type { CommittedRun } from '../../core/ledger/commit-entry.ts';
import { evidenceParts } from '../../audit/evidence.ts';
import { isHash, isTree, type TreeState } from '../../core/ledger/merkle.ts';
import { canonicalJsonProblem } from '../../core/base/canonical-json.ts';
import { isObject } from '../../core/base/json.ts';
import type { Activity, HistoryEvent, RunEnd, RecordedMessage } from '../../events/history-event.ts';
import { policiesOf, type RecordedPolicies } from '../../events/recorded-policies.ts';
import { readUserMessage, userMessageDigest } from '../../core/messages/control.ts';
import type { Json } from '../../core/base/tool-call.ts';
import { nestedRunId } from '../../core/policy/nesting.ts';
import type { Session } from '../server/session.ts';
import { evidenceOf } from './evidence-of.ts';
import { placedEntries, type PlacedEntry } from '../history/fetch-journal.ts';
import { fetchRun, type ReadExecution, type ReadRun } from '../history/history-chain.ts';

/** The facts in a run's histories that an audit needs. */
export interface AuditedRun extends CommittedRun {
  workflowType: string;
  startedAt: string | null;
  /** Temporal's name of the run's status, such as `COMPLETED`. */
  status: string;
  closedAt?: string;
  agent?: string;
  caller?: Json;
  executions: readonly ReadExecution[];
  entries: PlacedEntry[];
  tree: RecordedTree;
  /** The decisions that people sent to the run, with the place of each message. */
  messages: { requestId: string; decisionId?: string; place: MessagePlace }[];
  /** The messages of the run's user, by the digest of their content; a retry has the same `messageId`. */
  userMessages: { digest: string; messageId?: string; place: MessagePlace }[];
  activities: Omit<ActivityLine, 'line' | 'run'>[];
  /** The data with which a verifier can rule again. */
  evidence: Pick<EvidenceLine, 'part' | 'key' | 'value'>[];
  /** The number of payloads that cannot be decoded. */
  unread: number;
}

/** What the executions of a run record about its hash tree. */
export interface RecordedTree {
  /** The secret from which salts are derived. Absent if the run ended before it recorded one. */
  secret?: string;
  /** The digest of the policies in force at the start of the run, or of its oldest execution that is kept. */
  policyDigest?: string;
  /** The newest head that the run wrote. */
  head?: RecordedHead;
  /** The tree over the entries of removed executions, which the oldest remaining execution took over. */
  before?: TreeState;
}

/** Reads a run for an audit. `runId`: its last execution; default: the newest one with this workflow id. */
export async function fetchAuditedRun(session: Session, workflowId: string, runId?: string): Promise<AuditedRun> {
  return auditedRun(session.namespace, workflowId, await fetchRun(session, workflowId, runId));
}

/** Collects the facts for an audit from the executions of a run, oldest first. */
export function auditedRun(
  namespace: string,
  workflowId: string,
  { executions, unread }: Pick<ReadRun, 'executions' | 'unread'>,
): AuditedRun {
  const [begun] = executions[0]?.events ?? [];
  const started = begun?.what?.kind === 'started' ? begun.what : undefined;
  const { agent, caller } = isObject(started?.input) ? started.input : {};
  const policies = policiesOf(executions);
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
    tree: recordedTree(executions, policies),
    messages: sent.flatMap(decisionsIn),
    userMessages: sent.flatMap(userMessagesIn),
    activities: executions.flatMap((execution) => activitiesOf(execution, nestedRunId(workflowId, ''))),
    evidence: evidenceParts(evidenceOf(executions, policies).evidence),
    unread,
  };
}

function endOf(last: HistoryEvent | undefined): { status: string; closedAt?: string } {
  const kind = last?.what?.kind ?? '';
  return kind in statuses ? { status: statuses[kind as RunEnd['kind']], closedAt: last!.at } : { status: 'RUNNING' };
}

/** Temporal's names of the states in which an execution can end. */
const statuses: Readonly<Record<RunEnd['kind'], string>> = {
  completed: 'COMPLETED',
  failed: 'FAILED',
  cancelled: 'CANCELLED',
  terminated: 'TERMINATED',
  timed_out: 'TIMED_OUT',
  continued: 'CONTINUED_AS_NEW',
};

interface Sent {
  message: RecordedMessage;
  place: MessagePlace;
}

function sentIn({ runId, events }: ReadExecution): Sent[] {
  return events.flatMap(({ eventId, at, what }) => {
    if (what?.kind !== 'message') return [];
    const { via, sender } = what;
    return [{ message: what, place: { via, runId, eventId, at, ...(sender !== undefined && { sender }) } }];
  });
}

/** Returns the decisions in a message, which has one decision or a list; none for any other message. */
function decisionsIn({ message: { name, value }, place }: Sent): AuditedRun['messages'] {
  if (name !== 'decide') return [];
  return [value].flat().flatMap((decision) => {
    const { requestId, decisionId } = isObject(decision) ? decision : {};
    if (typeof requestId !== 'string') return [];
    return [{ requestId, ...(typeof decisionId === 'string' && { decisionId }), place }];
  });
}

function userMessagesIn({ message: { name, value }, place }: Sent): AuditedRun['userMessages'] {
  const read = name === 'message' ? readUserMessage(value) : undefined;
  if (read === undefined || 'problem' in read) return [];
  const { content = '', messageId } = read.message;
  if (canonicalJsonProblem(content) !== undefined) return [];
  return [{ digest: userMessageDigest(read.message), ...(messageId !== undefined && { messageId }), place }];
}

/**
 * Collects what a run recorded about its tree: its first config (`first`) has the secret and the policies' digest, the
 * state that its oldest kept execution took over (`carried`) has the tree before, and the largest head is the newest.
 * Leaves out values of another form, because any client of the namespace can write a history.
 */
export function recordedTree(
  executions: readonly ReadExecution[],
  { first, carried }: Pick<RecordedPolicies, 'first' | 'carried'>,
): RecordedTree {
  let head: RecordedHead | undefined;
  for (const { runId, events } of executions) {
    for (const { eventId, head: written } of events) {
      if (written !== undefined && written.size >= (head?.size ?? 0)) head = { ...written, runId, eventId };
    }
  }
  const { auditSalt, policyDigest } = first ?? {};
  const before = carried?.gate.tree;
  return {
    ...(isHash(auditSalt) && { secret: auditSalt }),
    ...(isHash(policyDigest) && { policyDigest }),
    head,
    ...(isTree(before) && { before }),
  };
}

type Ran = Omit<ActivityLine, 'line' | 'run'>;

/** Returns the activities with a permit, and the nested runs, whose workflow ids begin with `nestedPrefix`. */
function activitiesOf({ runId, events }: ReadExecution, nestedPrefix: string): Ran[] {
  const activities = new Map<number, Ran>();
  for (const { eventId, at, what } of events) {
    if (what?.kind !== 'scheduled' && what?.kind !== 'attempted' && what?.kind !== 'ended') continue;
    const { scheduledEventId } = what.activity;
    const called = calledBy(what.activity, nestedPrefix);
    if (called === undefined) continue;
    const scheduled: Ran = { ...called, runId, scheduledEventId, scheduledAt: at, state: 'open' };
    const ran = activities.get(scheduledEventId) ?? scheduled;
    activities.set(scheduledEventId, ran);
    if (what.kind === 'ended') Object.assign(ran, { closedEventId: eventId, closedAt: at, state: what.state });
    if (what.kind !== 'attempted') continue;
    const { attempt, worker } = what;
    Object.assign(ran, { startedAt: at, ...(attempt !== undefined && { attempt }), ...(worker && { worker }) });
  }
  return [...activities.values()];
}

function calledBy(activity: Activity, nestedPrefix: string): Pick<Ran, 'callId' | 'activity'> | undefined {
  if (activity.kind === 'tool') return { callId: activity.permit.callId, activity: activity.name };
  if (activity.kind !== 'nested' || !activity.workflowId.startsWith(nestedPrefix)) return undefined;
  return { callId: activity.workflowId.slice(nestedPrefix.length), activity: activity.workflowId };
}
