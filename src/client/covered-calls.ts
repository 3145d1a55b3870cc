import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ApprovalDetails, RequestedScope } from '../contract.ts';
import { ProblemError, isProblemError } from '../core/base/problem.ts';
import { scopeCovers } from '../card/narrowest-scope.ts';
import { parseDecision } from '../core/messages/decision.ts';
import type { CountersignClient } from './countersign-client.ts';
import { inParallel, type Session } from './server/session.ts';
import { isObject } from '../core/base/json.ts';
import type { JsonObject } from '../core/base/tool-call.ts';
import { policiesOf } from '../events/recorded-policies.ts';
import { HiddenByPolicies } from '../events/hidden-by-policies.ts';
import { projectRun } from './history/fetch-journal.ts';
import { EvidenceCalls } from './audit/evidence-calls.ts';
import { fetchRun, type ReadExecution } from './history/history-chain.ts';

export interface CoveredCall {
  workflowId: string;
  callId: string;
  toolName: string;
  /** The time of the ruling on the call, in ISO 8601. */
  at: string;
  outcome: string;
}

export interface CoveredCalls {
  /** False if the scope does not cover the waiting call: an "always" with it is narrowed to that call. */
  covers: boolean;
  /** The past calls that the scope covers, the newest first. */
  matched: CoveredCall[];
  /** The number of past calls of the tool that were examined. */
  looked: number;
}

const runsRead = 20;
const runsListed = 100;
const runsAtOnce = 4;
const mostMatched = 100;

/**
 * Finds the past calls of a tool, in this run and the newest runs of the agent, that an "always" with this scope would
 * have answered. Calls with hidden arguments count only for a scope without conditions, so that trials reveal no hidden
 * value. Throws `invalid_decision`, and `not_permitted_by_ceiling` if the request admits no "always".
 */
export async function coveredCalls(
  client: CountersignClient,
  request: ApprovalDetails,
  scope: RequestedScope,
): Promise<CoveredCalls> {
  const { requestId, toolName: tool, arguments: args, always: terms, agentName } = request;
  const parsed = parseDecision({ requestId, approved: true, always: scope });
  if ('problem' in parsed) throw new ProblemError(parsed.problem);
  if (terms === undefined) {
    const message =
      'This request admits no "always": it is settled, its rules say so, or not all of its arguments are shown.';
    throw new ProblemError({ code: 'not_permitted_by_ceiling', message });
  }
  const asked = { tool, args, terms };
  const ids = [request.workflowId, ...(await otherRuns(client, agentName, request.workflowId))];
  const read = await inParallel(ids, runsAtOnce, (workflowId) => readCalls(client, workflowId, tool));
  const calls = read.flat();
  const isCovered = ({ args: past }: PastCall): boolean =>
    past === undefined ? scope.kind === 'tool' && terms.widest === 'tool' : scopeCovers(scope, asked, past);
  const covered: PastCall[] = [];
  for (const call of calls) {
    if (isCovered(call)) covered.push(call);
    // Splitting a long command takes milliseconds, so let a gateway answer other requests in between.
    await nextTurn();
  }
  const matched = covered
    .toSorted((one, other) => (one.at < other.at ? 1 : -1))
    .map(({ workflowId, callId, toolName, at, outcome }) => ({ workflowId, callId, toolName, at, outcome }));
  return { covers: scopeCovers(scope, asked, args), matched: matched.slice(0, mostMatched), looked: calls.length };
}

/** Returns the ids of the newest runs of an agent other than `own`: at most 20, among the newest 100 runs. */
async function otherRuns(client: CountersignClient, agent: string, own: string): Promise<string[]> {
  const found: string[] = [];
  for await (const run of client.runs({ limit: runsListed })) {
    if (run.workflowId !== own && run.agent === agent) found.push(run.workflowId);
    if (found.length === runsRead) break;
  }
  return found;
}

/** Reads the past calls of a tool in one run; none if the run cannot be read, or was removed meanwhile. */
async function readCalls(client: CountersignClient, workflowId: string, tool: string): Promise<PastCall[]> {
  try {
    return await pastCalls(client.session, workflowId, tool);
  } catch (error) {
    if (isProblemError(error) && error.code !== 'server_unreachable') return [];
    throw error;
  }
}

/** A call that an agent run has settled. */
export interface PastCall {
  workflowId: string;
  callId: string;
  toolName: string;
  /** The arguments. Absent if some of them are hidden from reviewers. */
  args?: JsonObject;
  /** The time of the ruling on the call, in ISO 8601. */
  at: string;
  outcome: string;
}

/** Reads the settled calls of a tool in an agent run, oldest first, from its history. Needs no worker. */
export async function pastCalls(session: Session, workflowId: string, tool: string): Promise<PastCall[]> {
  const { executions } = await fetchRun(session, workflowId);
  const { first, pasts } = policiesOf(executions);
  if (first === undefined) return [];
  const calls = new EvidenceCalls(executions, pasts);
  const hidden = hiddenIn(executions);
  const hidesAll = !hidden.isKnown || hidden.hidesArguments;
  const { entries, outcomes } = projectRun(executions);
  // The first entry about a call is its ruling. A map keeps the last value of a key, so put this one last.
  const newestFirst = entries.toReversed();
  const ruledAt = new Map(newestFirst.map(({ callId, at }) => [callId, at]));
  return outcomes.flatMap(({ callId, toolName, outcome }) => {
    const call = calls.asked(callId);
    const at = ruledAt.get(callId);
    if (toolName !== tool || call?.args === undefined || at === undefined) return [];
    const isHidden = hidesAll || hidesSome(call, hidden);
    return [{ workflowId, callId, toolName, ...(!isHidden && { args: call.args }), at, outcome }];
  });
}

function hiddenIn(executions: readonly ReadExecution[]): HiddenByPolicies {
  const hidden = new HiddenByPolicies();
  for (const event of executions.flatMap(({ events }) => events)) hidden.learn(event);
  return hidden;
}

/** True if some arguments are hidden, or if no activity has searched them for the values that policies hide. */
function hidesSome(call: object, { settings }: HiddenByPolicies): boolean {
  const { redaction } = call as { redaction?: unknown };
  if (!isObject(redaction)) return settings !== undefined;
  return !Array.isArray(redaction['values']) || redaction['values'].length > 0;
}
