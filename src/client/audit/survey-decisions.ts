import type { JournalEntry } from '../../core/ledger/journal-entry.ts';
import { readRunInput, readRunResult } from '../../events/read-payloads.ts';
import { policiesOf } from '../../events/recorded-policies.ts';
import type { CountedRun } from '../../audit/decision-statistics.ts';
import { isProblemError } from '../../core/base/problem.ts';
import { jsonDigest } from '../../core/base/digest.ts';
import type { Json } from '../../core/base/tool-call.ts';
import { totalUsage } from '../../core/base/model-answer.ts';
import { compilePolicy } from '../../core/policy/compiled-policy.ts';
import type { Policy } from '../../core/policy/policy.ts';
import type { GateConfig } from '../../core/policy/gate-config.ts';
import type { RunConfig } from '../../core/policy/run-config.ts';
import type { RuleLines } from '../../core/policy/rule-place.ts';
import { type Session, inParallel, untilAborted } from '../server/session.ts';
import { entriesOf, wasEnded } from '../history/fetch-journal.ts';
import { personKeyIn } from '../../core/people/directory.ts';
import { fetchRun, type ReadExecution } from '../history/history-chain.ts';
import { gatedRunsQuery } from '../server/require-gated.ts';
import { type ExecutionId, executionIdOf, listedExecutions } from '../server/memo-rows.ts';

/** The scope of a survey. */
export interface SurveyOptions {
  /** The instant before which ended runs are left out, in milliseconds since 1970. */
  sinceMs: number;
  /** The maximum number of runs. Default 200. */
  mostRuns?: number;
  /** The longest time that the survey may take, in milliseconds. Default 20,000. */
  timeoutMs?: number;
  /** A signal that ends the survey early; it then returns what was read. */
  signal?: AbortSignal;
}

/** The decisions of one run, and the operator's policy for it. */
export interface SurveyedRun extends CountedRun {
  workflowId: string;
  /** The time of the start, in ISO 8601. */
  startedAt: string;
  entries: readonly JournalEntry[];
  /** The operator's policy that the run recorded at its start; null for none. Absent if it has recorded nothing. */
  ceiling?: { digest: string; policy: Policy; lines?: RuleLines } | null;
}

/** The result of `surveyDecisions`. */
export interface Survey {
  /** The runs, the last started first. */
  runs: SurveyedRun[];
  /** The number of runs that were found and not read: history is gone or unreadable, or the time was over. */
  unread: number;
  /** True if there are more than `mostRuns` runs. */
  more: boolean;
}

const readsAtOnce = 4;
/** The most executions that the server lists at once, unless it is configured otherwise. */
const largestPage = 1_000;

/** Reads the decisions of runs that are open or ended since `sinceMs`, within limits of number and time. */
export async function surveyDecisions(session: Session, options: SurveyOptions): Promise<Survey> {
  const { sinceMs, mostRuns = 200, timeoutMs = 20_000 } = options;
  const overdue = AbortSignal.timeout(timeoutMs);
  const signal = options.signal === undefined ? overdue : AbortSignal.any([overdue, options.signal]);
  const { found, more } = await newestRuns(session, sinceMs, mostRuns);
  const read = await inParallel(found, readsAtOnce, async (execution) =>
    signal.aborted ? undefined : surveyedRun(session, execution, signal),
  );
  const runs = read.filter((run) => run !== undefined);
  runs.sort((one, other) => (one.startedAt < other.startedAt ? 1 : -1));
  return { runs, unread: found.length - runs.length, more };
}

/** Finds the newest runs that are open or ended since `sinceMs`. `more`: there are others. */
async function newestRuns(
  session: Session,
  sinceMs: number,
  mostRuns: number,
): Promise<{ found: ExecutionId[]; more: boolean }> {
  const found: ExecutionId[] = [];
  const query = [
    gatedRunsQuery(session),
    'ExecutionStatus != "ContinuedAsNew"',
    `(ExecutionStatus = "Running" OR CloseTime >= "${new Date(sinceMs).toISOString()}")`,
  ].join(' AND ');
  for await (const page of listedExecutions(session, { query, pageSize: Math.min(mostRuns + 1, largestPage) })) {
    if (found.length + page.length > mostRuns) {
      return { found: [...found, ...page.slice(0, mostRuns - found.length).map(executionIdOf)], more: true };
    }
    found.push(...page.map(executionIdOf));
  }
  return { found, more: false };
}

/** Reads the decisions of one run; undefined if they cannot be read in time. Throws if the server is unreachable. */
async function surveyedRun(
  session: Session,
  { workflowId, runId }: ExecutionId,
  signal: AbortSignal,
): Promise<SurveyedRun | undefined> {
  try {
    return await untilAborted(session, signal, async () => {
      const { executions } = await fetchRun(session, workflowId, runId);
      return { workflowId, ...factsOf(executions) };
    });
  } catch (error) {
    if (!signal.aborted && isProblemError(error) && error.code === 'server_unreachable') throw error;
    return undefined;
  }
}

/** Returns what a survey counts of a run. Throws for a recorded policy that no worker can have written. */
function factsOf(executions: readonly ReadExecution[]): Omit<SurveyedRun, 'workflowId'> {
  const { first: config } = policiesOf(executions);
  const ceiling = config === undefined ? undefined : recordedCeiling(config);
  return {
    startedAt: executions[0]?.events[0]?.at ?? '',
    entries: entriesOf(executions),
    ended: executions.slice(-1).some(wasEnded),
    ...(typeof config?.agent === 'string' && { agent: config.agent, ...usageOf(executions) }),
    ...(ceiling != null && { policy: ceiling.digest, directory: ceiling.policy.directory }),
    ...(ceiling !== undefined && { ceiling }),
  };
}

/** Returns the usage that the result of a run reports, and whether another run called it. */
function usageOf(executions: readonly ReadExecution[]): Pick<SurveyedRun, 'used' | 'isNested'> {
  const begin = executions[0]?.events[0]?.what;
  const lineage = begin?.kind === 'started' ? readRunInput(begin.input)?.lineage : undefined;
  const end = executions.at(-1)?.events.at(-1)?.what;
  const { usage, nestedUsage, cost } = end?.kind === 'completed' ? readRunResult(end.result) : {};
  return {
    isNested: lineage !== undefined && lineage.length > 0,
    ...(usage && { used: { usage: totalUsage(usage, nestedUsage), ...(cost && { cost }) } }),
  };
}

function recordedCeiling({ ceiling, ceilingLines: lines }: RunConfig | GateConfig): SurveyedRun['ceiling'] {
  if (ceiling === undefined) return null;
  // This throws for a policy that no worker can have written. Then the run counts as unreadable.
  compilePolicy(ceiling, 'ceiling');
  personKeyIn(ceiling.directory);
  return { digest: jsonDigest(ceiling as unknown as Json), policy: ceiling, ...(lines !== undefined && { lines }) };
}
