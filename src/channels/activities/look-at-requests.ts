import { activityInfo, log } from '@temporalio/activity';
import type { WorkflowExecutionDescription } from '@temporalio/client';
import { type ApprovalDetails, channelsWorkflowId, queryNames } from '../../contract.ts';
import type { Severity } from '../../core/base/tool-call.ts';
import type { AttributeNames } from '../../core/base/attribute-names.ts';
import { type ChannelSet, ofCallers } from '../channel-set.ts';
import type { Channel } from '../channel.ts';
import { asksCaller } from '../caller-notice.ts';
import { quietForMs } from '../quiet-hours.ts';
import { callServer, type Session } from '../../client/server/session.ts';
import { queryRun } from '../../client/server/ask-worker.ts';
import { isProblemError } from '../../core/base/problem.ts';

export interface LookInput {
  workflowId: string;
  requestIds: string[];
}

export interface LookedChannel {
  name: string;
  notifies: boolean;
  resolves: boolean;
  settles: boolean;
  /** True if the channel answers without a person. It then notifies people only if its answer settles nothing. */
  isAutomatic: boolean;
  batch: boolean;
  retries: boolean;
  /** How long a notification waits for other requests of the run, and for the end of quiet hours, in milliseconds. */
  delayMs: number;
}

export interface LookedRequest {
  requestId: string;
  state: 'open' | 'settled';
  /** The deadline in milliseconds since 1970; null: none. */
  deadlineMs?: number | null;
  /** How many messages the user has written since the request opened. Absent: none. */
  userMessages?: number;
  /** What the last message to the channels needs if the run is gone by then. Absent for a settled request. */
  facts?: RequestFacts;
  /** The names of the request's channels for reviewers. If all notify only callers, the names of all. */
  names: string[];
  /** The channels that this worker has. `NAME:caller` is a second entry, for the notices to the caller. */
  channels: LookedChannel[];
  /** The name of the search attribute for the inbox's tags. Absent if the cluster does not have it. */
  tagsName?: string;
}

/** What can still be shown of a request after its run is gone: names and times, but no content of the call. */
export interface RequestFacts extends Pick<
  ApprovalDetails,
  'toolName' | 'agentName' | 'riskLevel' | 'rule' | 'requestedAt' | 'deadline' | 'digest'
> {
  severity: Severity;
  /** The names of the first 20 arguments. */
  argumentNames: string[];
}

export type LookAtRequests = (input: LookInput) => Promise<LookedRequest[]>;

/**
 * The activity `countersign.lookAtRequests`: reads the state of requests from the run, and the capabilities of their
 * channels from the worker. The workflow relies on these and not on its input, because anyone can signal or start it.
 */
export function createLookAtRequests(
  set: ChannelSet | undefined,
  requestsOf: RequestsOfRun,
  ensureLooking: (taskQueue: string) => Promise<void>,
  { tags }: Pick<AttributeNames, 'tags'>,
): LookAtRequests {
  return async ({ workflowId, requestIds }) => {
    const found = (await requestsOf(workflowId, requestIds)) ?? [];
    if (found.some(({ settled, channels = [] }) => settled === undefined && channels.length > 0)) {
      // Only log an error: without that workflow, channels are notified later if the run ends abruptly.
      await ensureLooking(activityInfo().taskQueue).catch((error: unknown) => {
        log.warn('The workflow that looks for ended runs could not be started', { error: String(error) });
      });
    }
    return found.map((details) => lookedRequest(set, details, tags));
  };
}

/** Collects what the workflow of a run's channels needs to know of a request. */
function lookedRequest(set: ChannelSet | undefined, details: ApprovalDetails, tags: string | null): LookedRequest {
  const { requestId, deadline, settled, channels = [], userMessages } = details;
  if (settled !== undefined) return { requestId, state: 'settled', names: [], channels: [] };
  const { severity } = details.assessment;
  const { toolName, agentName, riskLevel, rule, requestedAt, digest } = details;
  const facts = { toolName, agentName, riskLevel, rule, requestedAt, deadline, digest };
  const forReviewers = channels.filter((name) => !isForCallers(set?.channels.get(name)));
  const names = forReviewers.length > 0 ? forReviewers : channels; // of all, if each notifies only callers
  const deadlineMs = deadline === null ? null : Date.parse(deadline);
  const known = channels.flatMap((name) => factsOfChannel(set, name, details, { severity, endsAtMs: deadlineMs }));
  return {
    requestId,
    state: 'open',
    deadlineMs,
    ...(userMessages !== undefined && { userMessages: userMessages.count }),
    facts: { ...facts, severity, argumentNames: argumentNamesOf(details) },
    names,
    channels: known.filter(({ name }) => name.endsWith(ofCallers) || names.includes(name)),
    ...(tags !== null && { tagsName: tags }),
  };
}

const mostNames = 20;
const longestName = 100;

function argumentNamesOf({ arguments: args, notShown = [], argumentNames = [] }: ApprovalDetails): string[] {
  const names = new Set([...Object.keys(args), ...notShown, ...argumentNames]);
  return [...names].filter(({ length }) => length <= longestName).slice(0, mostNames);
}

/** Returns what a channel can do for a request, with another entry if it notifies the caller; none if it is unknown. */
function factsOfChannel(
  set: ChannelSet | undefined,
  name: string,
  request: ApprovalDetails,
  urgency: { severity: Severity; endsAtMs: number | null },
): LookedChannel[] {
  const channel = set?.channels.get(name);
  if (set === undefined || channel === undefined) return [];
  const batch = channel.batch === true;
  const hours = set.quietHoursOf(name);
  const quietMs = hours === undefined ? 0 : quietForMs(hours, urgency, Date.now());
  const toCaller = {
    name: name + ofCallers,
    notifies: true,
    resolves: false,
    settles: true,
    isAutomatic: false,
    batch: false,
    retries: false,
    delayMs: quietMs,
  };
  const answersAlone = orFalse(() => channel.isAutomatic?.(request) === true);
  const own = {
    name,
    notifies: channel.notify !== undefined,
    resolves: channel.resolve !== undefined,
    settles: channel.settled !== undefined,
    isAutomatic: answersAlone,
    batch,
    retries: channel.retries === true,
    delayMs: Math.max(quietMs, batch ? set.batchMs : 0),
  };
  return !answersAlone && notifiesCaller(channel, request) ? [own, toCaller] : [own];
}

function isForCallers(channel: Channel | undefined): boolean {
  return channel?.caller !== undefined && channel.notify === undefined && channel.resolve === undefined;
}

/** True if the channel can reach the caller, who is no reviewer of the request: a reviewer gets its message anyway. */
function notifiesCaller({ caller }: Channel, request: ApprovalDetails): boolean {
  if (caller === undefined || request.callerUserId === null || asksCaller(request)) return false;
  return orFalse(() => caller.knows?.(request) !== false);
}

/** Returns the result of `test`, and false if it throws. */
function orFalse(test: () => boolean): boolean {
  try {
    return test();
  } catch {
    return false;
  }
}

/**
 * Reads requests from their run, and leaves out ids that the run does not have. Returns undefined if there is no such
 * run. Throws if the run does not answer; then the activity is retried.
 */
export type RequestsOfRun = (
  workflowId: string,
  requestIds: readonly string[],
) => Promise<ApprovalDetails[] | undefined>;

/**
 * Returns a function that reads requests from a run. It reads only from executions of one of `workflowTypes` on the
 * activity's task queue, because any other workflow could answer the query with invented content.
 */
export function createRequestsOfRun(session: () => Session, workflowTypes: readonly string[]): RequestsOfRun {
  return async (workflowId, requestIds) => {
    const run = await describeRun(session(), workflowId);
    if (run === undefined || run.taskQueue !== activityInfo().taskQueue) return undefined;
    if (!workflowTypes.includes(run.type)) {
      // Throw, so that the activity is retried: during a roll-out, another worker of the queue may trust the type.
      throw new Error(`this worker does not trust workflow type '${run.type}': name it in 'workflowTypes'`);
    }
    const found = await queryRequests(session(), run, requestIds);
    if (run.status.name === 'RUNNING') return found;
    // A closed run can no longer settle its requests, so report the open ones as cancelled. The others keep `settled`.
    const settledAt = new Date().toISOString();
    const settled = { outcome: 'cancelled', runs: false, reason: 'the run has ended', settledAt } as const;
    return found.map((details) => ({ settled, ...details }));
  };
}

/**
 * True if the workflow of this run's channels calls the activity. That workflow must be on this worker's task queue,
 * because anyone may start one with the same id on another queue.
 */
export async function isCalledByChannelsOf(session: Session, workflowId: string): Promise<boolean> {
  const { workflowExecution, taskQueue } = activityInfo();
  if (workflowExecution?.workflowId !== channelsWorkflowId(workflowId)) return false;
  const caller = await describeRun(session, workflowExecution.workflowId, workflowExecution.runId);
  return caller?.taskQueue === taskQueue;
}

/** Describes an execution; undefined if there is none. */
async function describeRun(
  session: Session,
  workflowId: string,
  runId?: string,
): Promise<WorkflowExecutionDescription | undefined> {
  try {
    const { workflow } = session.client;
    return await callServer(session, () => workflow.getHandle(workflowId, runId).describe(), { workflowId });
  } catch (error) {
    if (isProblemError(error) && error.code === 'run_not_found') return undefined;
    throw error;
  }
}

type Answer = (ApprovalDetails | null)[];

/** Queries a run for requests by id. Repeats the query for those that did not fit into the answer. */
async function queryRequests(
  session: Session,
  { workflowId, runId, status }: WorkflowExecutionDescription,
  requestIds: readonly string[],
): Promise<ApprovalDetails[]> {
  const found: ApprovalDetails[] = [];
  try {
    for (let asked = 0; asked < requestIds.length;) {
      const rest = requestIds.slice(asked);
      const args = [{ requestIds: rest }];
      // Query exactly the described execution: a newer one with this workflow id may be untrusted.
      const answer = await queryRun<unknown>(session, workflowId, queryNames.approvals, args, undefined, runId);
      if (!isAnswerFor(rest, workflowId, answer)) {
        throw new Error(`the answer of run '${workflowId}' is not about the requests that it was asked about`);
      }
      found.push(...answer.filter((details) => details !== null));
      asked += answer.length;
    }
    return found;
  } catch (error) {
    // A run that ended before its first task has no requests. The same error of an open run is thrown.
    if (isProblemError(error) && error.code === 'run_closed' && status.name !== 'RUNNING') return [];
    throw error;
  }
}

/** True if the answer has one element for each of the first ids: the request of this run with that id, or null. */
function isAnswerFor(requestIds: readonly string[], workflowId: string, answer: unknown): answer is Answer {
  const isOf = (details: ApprovalDetails | null, index: number): boolean =>
    details === null || (details?.requestId === requestIds[index] && details?.workflowId === workflowId);
  return Array.isArray(answer) && answer.length > 0 && answer.every(isOf);
}
