import { optionalTsToDate } from '@temporalio/common/lib/time.js';
import type { temporal } from '@temporalio/proto';
import { workflowType } from '../../contract.ts';
import { type Session, callServer, inParallel } from '../server/session.ts';
import { HiddenByPolicies } from '../../events/hidden-by-policies.ts';
import { TextRedactor } from '../../events/text-redactor.ts';
import { decodeHistory, readHistories, readPage } from '../history/history-chain.ts';
import { valueReader } from '../server/read-payload.ts';
import { describeRun, executionIdOf, listedExecutions, indexedIds } from '../server/memo-rows.ts';
import { gatedRunsQuery } from '../server/require-gated.ts';
import { isObject } from '../../core/base/json.ts';
import { isProblemError, ProblemError } from '../../core/base/problem.ts';
import { nfc, shortened } from '../../core/base/text.ts';
import { redactText } from '../../core/redact/find-sensitive.ts';

/** The states of a run in lists. `completed`: also closed, or at a limit. `failed`: also terminated or timed out. */
export const listedStatuses = ['running', 'waiting', 'completed', 'failed', 'cancelled'] as const;
/** One of `listedStatuses`. */
export type ListedStatus = (typeof listedStatuses)[number];

/** Which runs to list. Default: all. */
export interface RunFilter {
  status?: ListedStatus;
  /** The agent with which the run was started. */
  agent?: string;
  /** The maximum number of runs. Default: no limit. */
  limit?: number;
  /** If true, `task` shows only what the policies at the run's start let reviewers see. Default false. */
  redacted?: boolean;
}

/** One run of the list. */
export interface ListedRun {
  workflowId: string;
  /** The type of the workflow: `agentRun`, or that of a custom workflow. */
  workflowType: string;
  status: ListedStatus;
  /** The agent with which the run was started; absent for a custom workflow, and if it cannot be read. */
  agent?: string;
  /** The id of the run's user. Absent if the client that started it named none. */
  callerUserId?: string;
  /**
   * The first words of the task, with placeholders for secrets and personal data. Absent as `agent` is. If `redacted`,
   * also absent until the run has recorded its policies, and if they hide arguments.
   */
  task?: string;
  /** For a nested run: the workflow ids of the runs above it, the root's first. Absent for any other run. */
  lineage?: string[];
  /** The number of open requests. */
  open: number;
  /** The time at which its present execution started, in ISO 8601. */
  startedAt: string;
  /** The time at which it ended, in ISO 8601. Absent while the run is open. */
  closedAt?: string;
}

type Row = temporal.api.workflow.v1.IWorkflowExecutionInfo;

const pageSize = 100;
const readsAtOnce = 8;

const byStatus: Readonly<Record<ListedStatus, (ids: string) => string>> = {
  running: (ids) => `ExecutionStatus = "Running" AND ${ids} IS NULL`,
  waiting: (ids) => `ExecutionStatus = "Running" AND ${ids} IS NOT NULL`,
  completed: () => 'ExecutionStatus = "Completed"',
  failed: () => 'ExecutionStatus IN ("Failed", "Terminated", "TimedOut")',
  cancelled: () => 'ExecutionStatus = "Canceled"',
};

/** Lists runs from visibility, which lags by seconds, newest first. Filters by agent, which a run's first event has. */
export async function* listRuns(session: Session, filter: RunFilter = {}): AsyncGenerator<ListedRun, void, undefined> {
  const { status, limit = Infinity, redacted = false } = filter;
  const agent = nfc(filter.agent);
  const { ids } = session.attributes;
  const query = [
    gatedRunsQuery(session),
    status === undefined ? 'ExecutionStatus != "ContinuedAsNew"' : byStatus[status](ids),
  ].join(' AND ');
  let left = limit;
  if (left <= 0) return;
  for await (const page of listedExecutions(session, { query, pageSize })) {
    for (const run of await inParallel(page, readsAtOnce, (row) => listed(session, row, redacted))) {
      if (left <= 0) return;
      if (agent !== undefined && run.agent !== agent) continue;
      left -= 1;
      yield run;
    }
    if (left <= 0) return;
  }
}

/** Makes a row of the list. For an agent run, adds what its first events show. */
async function listed(session: Session, row: Row, redacted: boolean): Promise<ListedRun> {
  const execution = executionIdOf(row);
  const isRun = row.type?.name === workflowType;
  const start = isRun ? await startOf(session, execution, redacted) : undefined;
  const open = indexedIds(session, row).length;
  const closedAt = optionalTsToDate(row.closeTime)?.toISOString();
  return {
    workflowId: execution.workflowId,
    workflowType: row.type?.name ?? '',
    status: statusOf(row, open),
    ...start,
    open,
    startedAt: optionalTsToDate(row.startTime)?.toISOString() ?? '',
    ...(closedAt !== undefined && { closedAt }),
  };
}

/** Converts the number of a `WORKFLOW_EXECUTION_STATUS_…` of Temporal's API. */
function statusOf({ status }: Row, open: number): ListedStatus {
  const number = Number(status);
  if (number === 1) return open > 0 ? 'waiting' : 'running';
  if (number === 2) return 'completed';
  return number === 4 ? 'cancelled' : 'failed';
}

/** The members of `ListedRun` that the first events of a run determine. */
export type RunStart = Pick<ListedRun, 'agent' | 'callerUserId' | 'task' | 'lineage'>;

/** The known starts of executions. They never change: a run's input and first policies stay the same. */
const knownStarts = new WeakMap<Session, Map<string, RunStart>>();
const mostKnown = 20_000;
const longestKnown = 200;
/** The most characters that are searched for secrets, and the most that are shown. */
const [longestRead, longestTask] = [4_000, 120];
/** The most characters of a lineage: an id has at most 1,000, and runs are nested a few levels deep. */
const longestLineage = 20_000;
/** The number of events that include the first policies: a new run loads them in its first activity. */
const firstEvents = 8;

/** Reads the start of a run, once for each execution; empty if it cannot be read. `redacted`: as in `RunFilter`. */
export async function startOf(
  session: Session,
  execution: { workflowId: string; runId?: string },
  redacted: boolean,
): Promise<RunStart> {
  const known = knownStarts.get(session) ?? new Map<string, RunStart>();
  knownStarts.set(session, known);
  const key = execution.runId === undefined ? undefined : `${execution.runId} ${redacted}`;
  const knownStart = key === undefined ? undefined : known.get(key);
  if (knownStart !== undefined) return knownStart;
  const { start, isFinal } = (await readStart(session, execution, redacted)) ?? {};
  if (start === undefined) return {};
  // Do not keep a start that may still change, or one whose name is so long that many would fill the memory.
  if (key === undefined || isFinal === false || (start.agent?.length ?? 0) > longestKnown) return start;
  known.set(key, start);
  if (known.size > mostKnown) known.delete(known.keys().next().value!);
  return start;
}

/** Reads the start from history, if it can be read. `isFinal` is false while the run has not recorded its policies. */
async function readStart(
  session: Session,
  execution: { workflowId: string; runId?: string },
  redacted: boolean,
): Promise<{ start: RunStart; isFinal: boolean } | undefined> {
  try {
    const { events } = await readPage(session, execution, { size: redacted ? firstEvents : 1 });
    await decodeHistory(session, events);
    const facts = readHistories([{ runId: '', events }], valueReader(session))[0]!.events;
    const started = facts[0]?.what;
    const runInput = started?.kind === 'started' && started.isAgentRun ? started.input : undefined;
    const { agent, caller, input, parent } = isObject(runInput) ? runInput : {};
    const { userId } = isObject(caller) ? caller : {};
    const lineage = lineageOf(parent);
    const policies = new HiddenByPolicies();
    if (redacted) for (const fact of facts) policies.learn(fact);
    const task = redacted ? shownTask(input, policies) : taskOf(input);
    const start = {
      ...(typeof agent === 'string' && { agent: nfc(agent) }),
      ...(typeof userId === 'string' && { callerUserId: userId.slice(0, longestKnown) }),
      ...(task !== '' && { task }),
      ...(lineage.length > 0 && { lineage }),
    };
    return { start, isFinal: !redacted || policies.isKnown };
  } catch {
    return undefined;
  }
}

/** Returns the runs above a nested run; empty if they are so many or so long that no run would list them. */
function lineageOf(parent: unknown): string[] {
  const lineage = isObject(parent) ? parent['lineage'] : undefined;
  const ids = Array.isArray(lineage) ? lineage.filter((each) => typeof each === 'string') : [];
  return ids.join('').length > longestLineage ? [] : ids;
}

/** Returns the task without what policies hide; empty if they are unknown or hide arguments. */
function shownTask(input: unknown, policies: HiddenByPolicies): string {
  const texts = new TextRedactor(policies);
  return texts.hidesAll ? '' : taskOf(input, (text) => texts.text(text));
}

/** Returns the first words of the first user message, after `redact` and without secrets; empty without a message. */
function taskOf(input: unknown, redact = (text: string): string => text): string {
  const messages: unknown[] = Array.isArray(input) ? input : [{ role: 'user', content: input }];
  const first = messages.find((each) => isObject(each) && each['role'] === 'user');
  const content = isObject(first) ? first['content'] : undefined;
  if (typeof content !== 'string') return '';
  const words = redactText(redact(content.slice(0, longestRead)))
    .replaceAll(/\s+/g, ' ')
    .trim();
  return shortened(words, longestTask);
}

/** The most ids that a prefix finds. From two on, they are an error, which names ten. */
const mostNamed = 100;

/**
 * Finds the run with this id, or the only one whose id begins with it (4 characters or more). In the id of a nested
 * run, only the part before the first `/` may be shortened. Throws `run_not_found` for none and for several.
 */
export async function runNamed(session: Session, named: string): Promise<string> {
  try {
    await callServer(session, () => describeRun(session, named), { workflowId: named });
    return named;
  } catch (error) {
    if (!isProblemError(error) || error.code !== 'run_not_found' || !namePattern.test(named)) throw error;
    const ids = await idsNamed(session, named);
    if (ids.length === 1) return ids[0]!;
    if (ids.length === 0) throw error;
    const list = ids.slice(0, 10).join(', ');
    const message = `'${named}' is the start of several runs: ${list}${ids.length > 10 ? ', …' : ''}.`;
    throw new ProblemError({ code: 'run_not_found', message }, { cause: error });
  }
}

/** The texts that may be in a query: the server does not find quoted ids with `"` or `\`. */
const namePattern = /^[\w.:-]{4,200}(?:\/[\w.:/-]{1,200})?$/;

/** Finds up to 100 ids that begin as `named` does. In the id of a nested run, only the root's part may be shortened. */
async function idsNamed(session: Session, named: string): Promise<string[]> {
  const [start, rest] = headAndRest(named);
  const query = `${gatedRunsQuery(session)} AND WorkflowId STARTS_WITH "${start}"`;
  const ids = new Set<string>();
  for await (const page of listedExecutions(session, { query, pageSize })) {
    for (const { workflowId } of page.map(executionIdOf)) {
      if (headAndRest(workflowId)[1] === rest) ids.add(workflowId);
      if (ids.size === mostNamed) return [...ids];
    }
  }
  return [...ids];
}

/** Splits an id at its first `/`: the id of a nested run is its parent's, a `/` and the id of the call. */
function headAndRest(id: string): [head: string, rest: string] {
  const at = id.indexOf('/');
  return at < 0 ? [id, ''] : [id.slice(0, at), id.slice(at)];
}
