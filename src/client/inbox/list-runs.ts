import { optionalTsToDate } from '@temporalio/common/lib/time.js';
import type { temporal } from '@temporalio/proto';
import { workflowType } from '../../contract.ts';
import type { Session } from '../server/connect.ts';
import { inputOf } from '../history/history-chain.ts';
import { inParallel } from '../server/call-server.ts';
import { listedExecutions, indexedIds } from '../server/memo-rows.ts';
import { gatedRunsQuery } from '../server/require-gated.ts';
import { isObject } from '../../core/base/json.ts';
import { nfc } from '../../core/base/text.ts';

/** The states of a run in lists. `completed`: also closed, or at a limit; `failed`: also terminated or timed out. */
export const listedStatuses = ['running', 'waiting', 'completed', 'failed', 'cancelled'] as const;
/** One of them. */
export type ListedStatus = (typeof listedStatuses)[number];

/** Which runs to list. Default: all. */
export interface RunFilter {
  status?: ListedStatus;
  /** The agent with which the run was started. */
  agent?: string;
  /** The maximum number of runs. Default: no limit. */
  limit?: number;
}

/** One run of the list. */
export interface ListedRun {
  workflowId: string;
  /** `agentRun`, or the type of a custom workflow. */
  workflowType: string;
  status: ListedStatus;
  /** The agent with which the run was started; absent for a custom workflow, and if it cannot be read. */
  agent?: string;
  /** The number of open requests. */
  open: number;
  /** ISO 8601: when its present execution started. */
  startedAt: string;
  /** ISO 8601; absent while the run is open. */
  closedAt?: string;
}

type Row = temporal.api.workflow.v1.IWorkflowExecutionInfo;

const pageSize = 100;
/** How many first events of runs are read at the same time. */
const readsAtOnce = 8;

const byStatus: Readonly<Record<ListedStatus, (ids: string) => string>> = {
  running: (ids) => `ExecutionStatus = "Running" AND ${ids} IS NULL`,
  waiting: (ids) => `ExecutionStatus = "Running" AND ${ids} IS NOT NULL`,
  completed: () => 'ExecutionStatus = "Completed"',
  failed: () => 'ExecutionStatus IN ("Failed", "Terminated", "TimedOut")',
  cancelled: () => 'ExecutionStatus = "Canceled"',
};

/**
 * Lists runs, and custom workflows with requests, the newest first: from visibility, so with a lag of up to seconds.
 * Visibility does not have the agent, which is read from the first event of each run.
 */
export async function* listRuns(session: Session, filter: RunFilter = {}): AsyncGenerator<ListedRun, void, undefined> {
  const { status, limit = Infinity } = filter;
  const agent = nfc(filter.agent);
  const { ids } = session.attributes;
  const query = [
    gatedRunsQuery(session),
    status === undefined ? 'ExecutionStatus != "ContinuedAsNew"' : byStatus[status](ids),
  ].join(' AND ');
  let left = limit;
  if (left <= 0) return;
  for await (const page of listedExecutions(session, { query, pageSize })) {
    for (const run of await inParallel(page, readsAtOnce, (row) => listed(session, row))) {
      if (left <= 0) return;
      if (agent !== undefined && run.agent !== agent) continue;
      left -= 1;
      yield run;
    }
    if (left <= 0) return;
  }
}

async function listed(session: Session, row: Row): Promise<ListedRun> {
  const workflowId = row.execution?.workflowId ?? '';
  const isRun = row.type?.name === workflowType;
  const agent = isRun ? await agentOf(session, { workflowId, runId: row.execution?.runId ?? '' }) : undefined;
  const open = indexedIds(session, row).length;
  const closedAt = optionalTsToDate(row.closeTime)?.toISOString();
  return {
    workflowId,
    workflowType: row.type?.name ?? '',
    status: statusOf(row, open),
    ...(agent !== undefined && { agent }),
    open,
    startedAt: optionalTsToDate(row.startTime)?.toISOString() ?? '',
    ...(closedAt !== undefined && { closedAt }),
  };
}

/** By the numbers of `WORKFLOW_EXECUTION_STATUS_…` in Temporal's API. */
function statusOf({ status }: Row, open: number): ListedStatus {
  const number = Number(status);
  if (number === 1) return open > 0 ? 'waiting' : 'running';
  if (number === 2) return 'completed';
  return number === 4 ? 'cancelled' : 'failed';
}

/** The agents of known executions: a run's input never changes. */
const knownAgents = new WeakMap<Session, Map<string, string>>();
const mostKnown = 20_000;
const longestKnown = 200;

/** Undefined if it cannot be read, or was removed meanwhile. Lists are read often, so each run is read once. */
async function agentOf(
  session: Session,
  execution: { workflowId: string; runId: string },
): Promise<string | undefined> {
  const known = knownAgents.get(session) ?? new Map<string, string>();
  knownAgents.set(session, known);
  const agent = known.get(execution.runId) ?? (await readAgent(session, execution));
  if (agent === undefined || agent.length > longestKnown) return agent;
  known.set(execution.runId, agent);
  if (known.size > mostKnown) known.delete(known.keys().next().value!);
  return agent;
}

async function readAgent(
  session: Session,
  execution: { workflowId: string; runId: string },
): Promise<string | undefined> {
  try {
    const input = await inputOf(session, execution);
    const { agent } = isObject(input) ? input : {};
    return typeof agent === 'string' ? nfc(agent) : undefined;
  } catch {
    return undefined;
  }
}
