/** Standing delegations give one person's later requests to another, until a date (docs/policy-reference.md). */
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { activityNames, standingDelegationType } from '../../contract.ts';
import { jsonDigest } from '../../core/base/digest.ts';
import { isObject } from '../../core/base/json.ts';
import { ProblemError, isProblemError } from '../../core/base/problem.ts';
import { isUndecodable } from '../../core/base/undecodable.ts';
import { instantMs } from '../../core/messages/control.ts';
import { isRequestId } from '../../core/messages/decision.ts';
import { personKey } from '../../core/people/directory.ts';
import { startMs } from '../../policy-file/shape.ts';
import { argumentOf } from '../history/history-chain.ts';
import type { SendOptions } from '../send/control-run.ts';
import { callServer, type Session } from '../server/session.ts';
import { executionIdOf, listedExecutions } from '../server/memo-rows.ts';
import { readPayload } from '../server/read-payload.ts';
import type { DelegatedAll, DelegationOfAll, SendDelegation } from './delegate-all.ts';
import { delegateAll, invalidMessage, soundDelegation } from './delegate-all.ts';

/** The input of workflow `standingDelegation`. */
export interface StandingInput extends DelegationOfAll {
  /** The first instant at which it is no longer in force: ISO 8601 with `Z`. */
  untilAt: string;
}

/** A request that stays with its reviewer, and the reason. */
export interface LeftRequest {
  requestId: string;
  workflowId: string;
  message: string;
}

/** A standing delegation in force. */
export interface StandingDelegation extends StandingInput {
  /** The id of its workflow. Each person has at most one. */
  workflowId: string;
  /** The time of its start, in ISO 8601. */
  startedAt: string;
  /** The number of requests that it has delegated. */
  delegated: number;
  /** At most 100 open requests that it could not delegate, such as those that need a signature. */
  left: LeftRequest[];
}

/** The argument of `delegateAll`. */
export interface DelegationUntil extends DelegationOfAll {
  /** The end of a delegation of later requests: an ISO 8601 instant, or a day in UTC, included. A year at most. */
  until?: string;
}

/** Options of `delegateAll`. */
export interface DelegateAllOptions extends SendOptions {
  /** A function that sends one delegation and throws its refusal. Default: as `client.delegate`. */
  send?: SendDelegation;
}

/** The result of `delegateAll`. */
export interface DelegatedUntil extends DelegatedAll {
  /** The delegation of later requests. Absent without `until`. */
  standing?: StandingDelegation;
}

/** The delegations of later requests that `delegateAll` with `until` has started. */
export interface StandingDelegations {
  /** Lists the delegations in force; with `by`, only that of this person. Needs no worker. */
  list(by?: string): Promise<StandingDelegation[]>;
  /** Ends a person's delegation now. Delegated requests stay delegated. Throws `run_not_found` if there is none. */
  stop(by: string, reason?: string): Promise<void>;
}

/** Returns the id of a person's workflow, which is the same for all spellings of the name. */
export function standingDelegationId(by: string): string {
  return `countersign-standing-delegation:${jsonDigest(personKey(by))}`;
}

const longestMs = 366 * 24 * 3_600_000;
const dayMs = 24 * 3_600_000;

export function standingDelegations(session: Session): StandingDelegations {
  return {
    list: (by) => listStanding(session, by),
    stop: (by, reason) => stopStanding(session, by, reason),
  };
}

/** Delegates the open requests. With `until`, also starts a workflow for later ones; if one runs, nothing is sent. */
export async function delegateAllUntil(
  session: Session,
  taskQueue: string,
  { until, ...given }: DelegationUntil,
  send: SendDelegation,
): Promise<DelegatedUntil> {
  const delegation = soundDelegation(given);
  if (until === undefined) return delegateAll(session, delegation, send);
  const input: StandingInput = { ...delegation, untilAt: untilAtOf(until, Date.now()) };
  if ((await listStanding(session, input.by)).length > 0) throw alreadyStanding(input);
  const all = await delegateAll(session, delegation, send);
  return { ...all, standing: await startStanding(session, taskQueue, input) };
}

/** Starts the workflow. Throws `already_started` if the person has one by now. */
async function startStanding(session: Session, taskQueue: string, input: StandingInput): Promise<StandingDelegation> {
  const workflowId = standingDelegationId(input.by);
  const start = {
    workflowId,
    taskQueue,
    args: [input],
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    workflowIdConflictPolicy: 'FAIL',
  } as const;
  const startOnce = async (): Promise<void> => {
    try {
      await session.client.workflow.start(standingDelegationType, start);
    } catch (error) {
      throw error instanceof WorkflowExecutionAlreadyStartedError ? alreadyStanding(input, error) : error;
    }
  };
  await callServer(session, startOnce, { workflowId });
  return { ...input, workflowId, startedAt: new Date().toISOString(), delegated: 0, left: [] };
}

function alreadyStanding({ by }: StandingInput, cause?: unknown): ProblemError {
  const message = `New requests for '${by}' are delegated already: \`countersign delegate --list\` shows the delegate, and \`--stop\` ends it.`;
  return new ProblemError({ code: 'already_started', message }, { cause });
}

/** Returns when a delegation ends: at the given instant, or after the given day. Throws `invalid_message`. */
export function untilAtOf(until: string, nowMs: number): string {
  const firstMs = typeof until === 'string' ? startMs(until) : undefined;
  if (firstMs === undefined) {
    throw invalidMessage(`'until' must be a day, such as 2030-01-31, or an instant with its offset`);
  }
  const untilMs = firstMs + (until.includes('T') ? 0 : dayMs);
  if (untilMs <= nowMs) throw invalidMessage(`'until' must be in the future`);
  if (untilMs - nowMs > longestMs) throw invalidMessage(`'until' must be within a year`);
  return new Date(untilMs).toISOString();
}

/** Reads the input of the workflow, which everyone who can start workflows can write. Throws a `ProblemError`. */
export function readStanding(input: unknown, startedMs: number): StandingInput {
  const { untilAt, ...delegation } = isObject(input) ? input : {};
  const untilMs = instantMs(untilAt);
  if (untilMs === undefined) throw invalidMessage(`'untilAt' must be an instant with its offset`);
  if (untilMs - startedMs > longestMs) throw invalidMessage(`'untilAt' must be within a year`);
  return { ...soundDelegation(delegation as unknown as DelegationOfAll), untilAt: untilAt as string };
}

/** Lists the delegations in force. That of one person needs no search, because its workflow id is known. */
async function listStanding(session: Session, by: string | undefined): Promise<StandingDelegation[]> {
  if (by !== undefined) return [await standingOf(session, standingDelegationId(by))].flatMap((each) => each ?? []);
  const query = `WorkflowType = '${standingDelegationType}' AND ExecutionStatus = 'Running'`;
  const found: StandingDelegation[] = [];
  for await (const page of listedExecutions(session, { query })) {
    for (const { workflowId } of page.map(executionIdOf)) {
      found.push(...[await standingOf(session, workflowId)].flatMap((each) => each ?? []));
    }
  }
  return found;
}

/** Reads the delegation of a workflow that is in force; undefined if the workflow has ended or does not delegate. */
async function standingOf(session: Session, workflowId: string): Promise<StandingDelegation | undefined> {
  const { connection, namespace } = session;
  const describe = () => connection.workflowService.describeWorkflowExecution({ namespace, execution: { workflowId } });
  try {
    const { workflowExecutionInfo: info, pendingActivities } = await callServer(session, describe, { workflowId });
    if (info?.type?.name !== standingDelegationType || info.closeTime != null) return undefined;
    const runId = info.execution?.runId ?? undefined;
    const argument = await callServer(session, () => argumentOf(session, { workflowId, runId }), { workflowId });
    if (isUndecodable(argument)) return undefined;
    const startedMs = Number(info.startTime?.seconds ?? 0) * 1_000;
    const input = readStanding(argument, startedMs);
    // Anyone may start one whose input names another person. It delegates nothing: its activity checks this, too.
    if (standingDelegationId(input.by) !== workflowId) return undefined;
    const pending = pendingActivities.find(({ activityType }) => activityType?.name === activityNames.delegateOpen);
    const details = pending?.heartbeatDetails?.payloads?.[0];
    const { delegated, left } = readProgress(details == null ? undefined : await readPayload(session, details));
    return { ...input, workflowId, startedAt: new Date(startedMs).toISOString(), delegated, left };
  } catch (error) {
    if (isProblemError(error) && error.code !== 'server_unreachable') return undefined;
    throw error;
  }
}

/** Terminates the workflow of a person's delegation. Throws `run_not_found` if none is in force. */
async function stopStanding(session: Session, by: string, reason = 'stopped'): Promise<void> {
  const workflowId = standingDelegationId(by);
  const handle = session.client.workflow.getHandle(workflowId);
  try {
    await callServer(session, () => handle.terminate(reason), { workflowId });
  } catch (error) {
    if (!isProblemError(error) || (error.code !== 'run_not_found' && error.code !== 'run_closed')) throw error;
    const message = `No delegation of new requests for '${by.slice(0, 200)}': \`countersign delegate --list\` lists the present ones.`;
    throw new ProblemError({ code: 'run_not_found', message }, { cause: error });
  }
}

/** The state of the activity, which the details of its heartbeats carry from one attempt to the next. */
export interface StandingProgress {
  delegated: number;
  /** The keys of open requests that were tried, oldest first. Each is tried once, so its reviewer can take it back. */
  tried: string[];
  left: LeftRequest[];
}

export const mostTried = 2_000;
export const mostLeft = 100;
/** The most characters of a message in `left`. */
export const longestLeft = 500;

/** Reads the progress from details that anyone who runs workers may write. What is malformed counts as absent. */
export function readProgress(details: unknown): StandingProgress {
  const { delegated, tried, left } = isObject(details) ? (details as Partial<StandingProgress>) : {};
  return {
    delegated: typeof delegated === 'number' ? delegated : 0,
    tried: Array.isArray(tried) ? tried.filter(isRequestId).slice(-mostTried) : [],
    left: Array.isArray(left) ? left.filter(isLeft).slice(-mostLeft) : [],
  };
}

function isLeft(value: unknown): value is LeftRequest {
  return isObject(value) && ['requestId', 'workflowId', 'message'].every((name) => typeof value[name] === 'string');
}
