import { WorkflowNotFoundError } from '@temporalio/common';
import type { CountersignClient } from '../../src/client/countersign-client.ts';
import type { HistoryExecution } from '../../src/client/history/history-chain.ts';
import { journalIn } from '../../src/client/history/written-by-gate.ts';
import { projectHistories } from '../support/read-histories.ts';
import type { ApprovalDetails, Message, RunResult, RunStatus } from '../../src/contract.ts';
import type { RanLine } from './chaos-agent.ts';
import { readRanLines } from './chaos-agent.ts';
import type { Played } from './play-schedule.ts';
import { auditOf } from './audit-of.ts';
import type { RunBook } from './run-book.ts';
import type { ChaosSchedule, PlannedRun } from './schedule.ts';
import { allRuns } from './all-runs.ts';

/**
 * Reads what happened to every run after the play: histories, answers to queries, and what the tools wrote. A nested
 * run that never started gets no record.
 */
export async function gatherBooks(
  client: CountersignClient,
  { runs }: ChaosSchedule,
  played: Played,
  folder: string,
): Promise<RunBook[]> {
  const lines = readRanLines(folder);
  const books = new Map<string, RunBook>();
  for (const plan of allRuns(runs)) {
    const workflowId = played.workflowIds.get(plan.name);
    const book = workflowId === undefined ? undefined : await gatherBook(client, played, { plan, workflowId, lines });
    if (book !== undefined) books.set(plan.name, book);
  }
  for (const [name, book] of books) {
    const slash = name.lastIndexOf('/');
    const above = books.get(name.slice(0, Math.max(0, slash)));
    if (above === undefined) continue;
    book.above = above;
    above.nested[name.slice(slash + 1)] = book.status;
  }
  return [...books.values()];
}

async function gatherBook(
  client: CountersignClient,
  { sent, controls, changes }: Played,
  { plan, workflowId, lines }: { plan: PlannedRun; workflowId: string; lines: RanLine[] },
): Promise<RunBook | undefined> {
  const newest = client.session.client.workflow.getHandle(workflowId);
  const found = await newest.describe().catch((error: unknown) => {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  });
  if (found === undefined) return undefined;
  const status = found.status.name;
  const { executions } = await client.historyChain(workflowId);
  const projection = projectHistories(executions);
  const requestIds = projection.requests.map(({ requestId }) => requestId);
  const own = await ownWords(client, executions, requestIds);
  const failure = whyFailed(executions);
  return {
    plan,
    nested: {},
    workflowId,
    status,
    ...(failure === undefined ? {} : { failure }),
    executions: executions.length,
    audit: await auditOf(client, workflowId),
    entries: executions.flatMap(({ events }) => events.flatMap(journalIn)),
    projection,
    ...own,
    ...(status === 'COMPLETED' ? { result: ((await newest.result()) as RunResult).outcomes } : {}),
    lines: lines.filter((line) => line.workflowId === workflowId),
    sent: sent.filter(({ run }) => run === plan.name),
    controls: controls.filter(({ run }) => run === plan.name),
    changes: changes.filter(({ run }) => run === plan.name),
  };
}

type OwnWords = Pick<RunBook, 'ledger' | 'details' | 'told' | 'unread'>;

const nothing: OwnWords = { ledger: { asks: 0, open: 0, outcomes: [], refused: 0 }, details: {}, told: [] };

/**
 * The run's answers to queries, which a worker computes by replaying its history. No answer means that the run cannot
 * be replayed.
 */
async function ownWords(
  { session }: CountersignClient,
  executions: HistoryExecution[],
  requestIds: string[],
): Promise<OwnWords> {
  // A terminated run may not have had time to read the state carried into its last execution; query the last execution
  // that had.
  const begun = executions.findLast(hasBegun);
  const handle = session.client.workflow.getHandle(executions[0]!.workflowId, begun?.runId);
  try {
    const { outcomes, refused, counts } = await patiently(() => handle.query<RunStatus>('run'));
    const transcript = await patiently(() => handle.query<Message[]>('transcript'));
    const details: RunBook['details'] = {};
    for (const requestId of requestIds) {
      details[requestId] = await patiently(() =>
        handle.query<ApprovalDetails | null, [object]>('approvals', { requestId }),
      );
    }
    return {
      ledger: { asks: counts.asks, open: counts.open, outcomes, refused: refused.total },
      details,
      told: transcript.flatMap((message) => (message.role === 'tool' ? [message.content] : [])),
    };
  } catch (error) {
    const { message, cause } = error as Error;
    return { ...nothing, unread: cause instanceof Error ? `${message}: ${cause.message}` : message };
  }
}

/**
 * True if the execution completed a workflow task. If it continues another one, the task must come after it read the
 * carried state.
 */
function hasBegun({ events }: HistoryExecution): boolean {
  const isContinued = Boolean(events[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId);
  const from = isContinued ? events.findIndex((event) => event.activityTaskCompletedEventAttributes != null) : 0;
  return from >= 0 && events.slice(from).some((event) => event.workflowTaskCompletedEventAttributes != null);
}

/** A busy worker may answer too late: only the third failure counts. */
async function patiently<T>(query: () => Promise<T>): Promise<T> {
  return query().catch(query).catch(query);
}

/** The run's failure, or else the failure of its last workflow task. */
function whyFailed(executions: HistoryExecution[]): string | undefined {
  const events = executions.at(-1)!.events;
  const { workflowExecutionFailedEventAttributes: run, workflowTaskFailedEventAttributes: task } = events.at(-1)!;
  return run?.failure?.message ?? task?.failure?.message ?? undefined;
}
