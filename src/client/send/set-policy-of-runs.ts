import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { temporal } from '@temporalio/proto';
import type { Receipt, RunPolicies, SetPolicyMessage } from '../../contract.ts';
import { channelsWorkflowType, queryNames, workflowType } from '../../contract.ts';
import { grpcStatus, grpcStatusOf, serverWords } from '../../connection/server-error.ts';
import { readSetPolicy } from '../../core/messages/control.ts';
import { type ProblemCode, ProblemError, isProblemError } from '../../core/base/problem.ts';
import type { JsonObject } from '../../core/base/tool-call.ts';
import type { Policy } from '../../core/policy/policy.ts';
import { type PolicyChange, laterChange } from '../../core/policy/run-side.ts';
import type { Session } from '../server/session.ts';
import { executionIdOf, listedExecutions } from '../server/memo-rows.ts';
import { queryRun } from '../server/ask-worker.ts';
import { gatedRunsQuery, requireGated } from '../server/require-gated.ts';
import { type SendOptions, setPolicyOf } from './control-run.ts';

/** Options of `client.setPolicyOfRuns`. */
export interface SetPolicyOfRunsOptions extends SendOptions {
  /** A visibility query for open workflows with a gate. Default: agent runs, and custom workflows with requests. */
  query?: string;
  /** If true, only reports what the change would do. Default false. */
  dryRun?: boolean;
  /** A signal after which no further run gets the change; the remaining ones are yielded as `unsent`. */
  signal?: AbortSignal;
  /** The delay before the next search, for runs that have started meanwhile, in milliseconds. Default 2,000. */
  lookAgainMs?: number;
}

/**
 * The result of a change of policy in one run:
 * - `applied`: the run has the change.
 * - `unchanged`: the run had it before, and nothing was sent.
 * - `refused`: the run, or the client, refused it; `code` and `message` give the reason.
 * - `closed`: the run has ended.
 * - `recorded`: the run's history has it, and no worker has applied it yet.
 * - `unanswered`: the server or a worker did not answer, so it is unknown whether the run has it.
 * - `ungated`: the workflow has no gate, and nothing was sent.
 * - `unsent`: the caller stopped before it was sent.
 * - `would_apply`: a dry run, in which the run would get it.
 */
export type PolicyOutcome =
  'applied' | 'unchanged' | 'refused' | 'closed' | 'recorded' | 'unanswered' | 'ungated' | 'unsent' | 'would_apply';

/** A run, and the result of the change of its policy. */
export interface PolicyResult {
  workflowId: string;
  workflowType: string;
  outcome: PolicyOutcome;
  /** One sentence for people. */
  message: string;
  /** The code of the reason, if `outcome` is `refused`, `closed` or `unanswered`. */
  code?: ProblemCode;
  /** The open requests that the change settled. */
  settled?: Receipt['settled'];
}

type Row = temporal.api.workflow.v1.IWorkflowExecutionInfo;
type Change = Omit<SetPolicyMessage, 'signature'>;
type Outcome = Omit<PolicyResult, 'workflowId' | 'workflowType'>;

const runsAtOnce = 8;
/** The most searches while new runs keep starting. A run that they miss has the policy of its worker. */
const mostLooks = 10;
/** The default of `lookAgainMs`. Visibility lags by up to some seconds. */
const lookAgainByDefaultMs = 2_000;

/**
 * Changes the policy of every open run that a query finds, eight at a time, until a search finds no new run. Before it
 * sends anything, throws `policy_invalid` and `invalid_message` for a change or a query that every run would refuse,
 * and `server_unreachable`.
 */
export async function* setPolicyOfRuns(
  session: Session,
  message: Change,
  options: SetPolicyOfRunsOptions = {},
): AsyncGenerator<PolicyResult, void, undefined> {
  const { dryRun = false, signal, lookAgainMs = lookAgainByDefaultMs } = options;
  const change = await readChange(message);
  const seenExecutions = new Set<string>();
  const reportedRuns = new Set<string>();
  let isUnreachable = false;
  const isStopped = (): boolean => signal?.aborted === true || isUnreachable;
  const changeRun = async (row: Row): Promise<PolicyResult> => {
    const outcome = isStopped() ? unsent : await changePolicyOf(session, row, { message, change, options });
    isUnreachable ||= outcome.code === 'server_unreachable';
    return { workflowId: executionIdOf(row).workflowId, workflowType: row.type?.name ?? '', ...outcome };
  };
  for (let look = 1; look <= mostLooks && !isStopped(); look += 1) {
    const open = await openRuns(session, options.query);
    const found = open.filter(({ execution }) => !seenExecutions.has(execution?.runId ?? ''));
    if (found.length === 0) return;
    for (const { execution } of found) seenExecutions.add(execution?.runId ?? '');
    for await (const result of asTheyEnd(found, changeRun)) {
      const { workflowId, outcome } = result;
      // A later search finds a run that has continued as new again. It has the change already.
      if (look > 1 && outcome === 'unchanged' && reportedRuns.has(workflowId)) continue;
      reportedRuns.add(workflowId);
      yield result;
    }
    if (dryRun || isStopped()) return;
    await sleep(lookAgainMs, undefined, { signal }).catch(() => undefined);
  }
}

const unsent: Outcome = { outcome: 'unsent', message: 'Nothing was sent: the change was stopped before.' };

/** Reads the change as a run records it. Throws `policy_invalid`. */
async function readChange(message: Change): Promise<PolicyChange> {
  const read = readSetPolicy(message);
  if ('problem' in read) throw new ProblemError(read.problem);
  const { policy: document, mode, channels } = read.message;
  return { policy: document === undefined ? undefined : await policyIn(document), mode, channels };
}

/** Reads a policy as the worker of a run does, without the limits of the ceiling. Throws `policy_invalid`. */
async function policyIn(document: JsonObject): Promise<Policy> {
  const { parseRunPolicy } = await import('../../policy-file/parse-run-policy.ts');
  const parsed = parseRunPolicy(document, { maxTimeoutMs: null });
  if ('policy' in parsed) return parsed.policy;
  const { path, message: problem } = parsed.problems[0]!;
  const message = `the new policy: ${path === '' ? problem : `${path}: ${problem}`}`;
  throw new ProblemError({ code: 'policy_invalid', message });
}

/** Finds the open runs of a query; default: all with a gate. Throws `invalid_message` for a query that is refused. */
async function openRuns(session: Session, query: string | undefined): Promise<Row[]> {
  const which = query === undefined ? gatedRunsQuery(session) : `(${query})`;
  const found: Row[] = [];
  try {
    const open = `${which} AND ExecutionStatus = "Running" AND WorkflowType != "${channelsWorkflowType}"`;
    for await (const page of listedExecutions(session, { query: open, timeoutMs: 30_000 })) found.push(...page);
  } catch (error) {
    if (query === undefined || grpcStatusOf(error) !== grpcStatus.INVALID_ARGUMENT) throw error;
    const problem = `The server refuses the query: ${serverWords(error)}`;
    throw new ProblemError({ code: 'invalid_message', message: problem }, { cause: error });
  }
  return found;
}

/** Calls `act` for eight elements at a time, and yields results as they come. `act` must not reject. */
async function* asTheyEnd<One, Result>(
  all: readonly One[],
  act: (one: One) => Promise<Result>,
): AsyncGenerator<Result, void, undefined> {
  const running = new Map<number, Promise<{ index: number; result: Result }>>();
  let started = 0;
  while (started < all.length || running.size > 0) {
    for (; running.size < runsAtOnce && started < all.length; started += 1) {
      const index = started;
      const ended = act(all[index]!).then((result) => ({ index, result }));
      running.set(index, ended);
    }
    const { index, result } = await Promise.race(running.values());
    running.delete(index);
    yield result;
  }
}

interface Sending {
  message: Change;
  change: PolicyChange;
  options: SetPolicyOfRunsOptions;
}

/** Changes the policy of one run unless it has that policy already. Never throws: a failure is an outcome. */
async function changePolicyOf(session: Session, row: Row, { message, change, options }: Sending): Promise<Outcome> {
  const { workflowId } = executionIdOf(row);
  try {
    const before = await policiesOf(session, row, options);
    if (before === 'ungated') return { outcome: 'ungated', message: 'It has no gate: nothing was sent.' };
    if (before !== undefined && isInForce(change, before.change)) {
      return { outcome: 'unchanged', message: `the policy is ${before.digest.slice(0, 16)}… already` };
    }
    if (options.dryRun === true) return { outcome: 'would_apply', message: 'It would get the change.' };
    const { recorded = false, settled, message: sentence } = await setPolicyOf(session, workflowId, message, options);
    const outcome = recorded ? 'recorded' : 'applied';
    return { outcome, message: sentence, ...(settled !== undefined && { settled }) };
  } catch (error) {
    const { code, message: sentence } = isProblemError(error)
      ? error
      : { code: 'internal' as const, message: String(error) };
    return { outcome: outcomeOf(code), code, message: sentence };
  }
}

/** Converts the code of a failure. A run that is not found has ended, because it was open when it was listed. */
function outcomeOf(code: ProblemCode): PolicyOutcome {
  if (code === 'run_closed' || code === 'run_not_found') return 'closed';
  return code === 'server_unreachable' || code === 'no_worker' ? 'unanswered' : 'refused';
}

/**
 * Asks a run for its policies. Undefined if the run has a gate and does not report them; then it gets the change.
 * `ungated` if the workflow neither answers nor is listed with a gate; then it gets nothing, although it would accept
 * it.
 */
async function policiesOf(
  session: Session,
  row: Row,
  { timeoutMs }: SendOptions,
): Promise<RunPolicies | undefined | 'ungated'> {
  const { workflowId } = executionIdOf(row);
  let unanswered: ProblemError | undefined;
  try {
    const answer = await queryRun<RunPolicies | null>(session, workflowId, queryNames.policy, [], timeoutMs);
    if (answer === null) return undefined;
    if (typeof answer.digest === 'string') return answer;
  } catch (error) {
    if (!isProblemError(error) || error.code === 'server_unreachable' || error.code === 'run_closed') throw error;
    unanswered = error;
  }
  try {
    await requireGated(session, workflowId);
    return undefined;
  } catch (error) {
    const isUngated = isProblemError(error) && error.code === 'run_not_found' && row.type?.name !== workflowType;
    if (!isUngated) throw error;
    // A workflow that did not answer may have a gate that no list shows yet.
    if (unanswered !== undefined && unanswered.code !== 'run_not_found') throw unanswered;
    return 'ungated';
  }
}

/** True if a run has the change already, so that applying it to the present change `now` makes no difference. */
function isInForce(change: PolicyChange, now: PolicyChange | undefined): boolean {
  const plain = (value: PolicyChange): unknown => JSON.parse(JSON.stringify(value));
  return now !== undefined && isDeepStrictEqual(plain(laterChange(change, now)), plain(now));
}
