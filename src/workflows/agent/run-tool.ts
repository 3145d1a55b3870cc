import {
  type EventGroupMarker,
  ActivityCancellationType,
  ActivityFailure,
  ApplicationFailure,
  TimeoutFailure,
  proxyActivities,
} from '@temporalio/workflow';
import type { RunCost } from '../../core/policy/run-cost.ts';
import type { ChangedDefinition, Reconcile, ReconciledCall } from '../../activities/call-tool.ts';
import type { CheckedArguments, CheckEdit, CheckEditInput } from '../../activities/check-edit.ts';
import { activityNames, type Permit, type Usage } from '../../contract.ts';
import type { Ran } from '../../core/ledger/approval.ts';
import { resultNotGivenStart, sentences } from '../../core/ledger/sentences.ts';
import {
  isRepeatable,
  leftInMidCallTypes,
  payloadNotKeptType,
  payloadUnreadType,
  refusedBySecondGate,
  resultWithheldType,
  secondGateTypes,
  toolFailedType,
  type Json,
  type JsonObject,
  type ToolDefinition,
} from '../../core/base/tool-call.ts';
import { isUndecodable } from '../../core/base/undecodable.ts';
import { changedDefinitionOf } from '../gate/admit-call.ts';
import { revokedIn } from '../gate/approver-checks.ts';

/** How a tool's activity ended: the answer to the model, and what the ledger keeps. */
export interface ToolEnd {
  content: string;
  isError: boolean;
  ran: Ran;
  /** True: `content` is what the tool itself returned. */
  isResult?: boolean;
  /** True if the tool was not started because this worker cannot read its arguments. It can be started later. */
  unread?: boolean;
  /** True if the outcome was unknown and `reconcile` says that the tool did not run. It may be started again. */
  isUndone?: boolean;
  /** What reviewers see of the call. Present if the tool does not know the outcome either, so people must decide. */
  unsettled?: Partial<CheckedArguments>;
  /** The present tool. Set if the second gate did not start the call, because the tool or its preview has changed. */
  changed?: ChangedDefinition;
  /** True: the tool was not started, because the approvers of the call are revoked. */
  isRevoked?: boolean;
  /** Why the tool's `checkResult` withheld the result. */
  withheld?: string;
  /** For a nested run that has ended: its tokens, and those of the runs below it. */
  usage?: Usage;
  /** For a nested run that has ended: its cost, as the nested run reports it. */
  cost?: RunCost;
}

const attemptsIfRepeatable = 3;

/**
 * Runs a tool as its activity. Never throws: every end is an answer to the model (I7). Only idempotent and read-only
 * tools are retried; other tools have one attempt. `awaitsEnd`: awaits the activity's end after a cancellation.
 */
export async function runTool(
  tool: ToolDefinition,
  permit: Permit,
  args: JsonObject,
  eventGroups: EventGroupMarker[],
  { awaitsEnd = false }: { awaitsEnd?: boolean } = {},
): Promise<ToolEnd> {
  const activities = proxyActivities<Record<string, (permit: Permit, args: JsonObject) => Promise<Json>>>({
    // The second gate runs in the same activity, and may take the preview again if an approval binds it.
    startToCloseTimeout: tool.timeoutMs + (tool.bind === undefined ? 0 : (tool.previewTimeoutMs ?? 0)),
    heartbeatTimeout: tool.heartbeatTimeoutMs ?? undefined,
    retry: { maximumAttempts: isRepeatable(tool) ? attemptsIfRepeatable : 1 },
    summary: `${permit.outcome}: call ${permit.callId}`,
    eventGroups,
    ...(awaitsEnd && { cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED }),
  });
  try {
    const result: unknown = await activities[tool.name]!(permit, args);
    if (isUndecodable(result)) return unknown;
    const content = typeof result === 'string' ? result : (JSON.stringify(result) ?? '');
    // A sentence in place of a result is no result, which equal calls of later turns could get.
    return { content, isError: false, ran: 'yes', isResult: !content.startsWith(resultNotGivenStart) };
  } catch (error) {
    return endOf(error, tool.name);
  }
}

const unknown: ToolEnd = { content: sentences.unknownOutcome, isError: true, ran: 'unknown' };

/** Asks a tool what became of a call whose outcome is unknown (I7). Never throws: the outcome may stay unknown. */
export async function reconcileCall(
  { name: tool }: ToolDefinition,
  { workflowId, firstExecutionRunId, callId, agent, caller, definition }: Permit,
  args: JsonObject,
): Promise<ToolEnd> {
  const { [activityNames.reconcile]: reconcile } = proxyActivities<{ [activityNames.reconcile]: Reconcile }>({
    startToCloseTimeout: '1m',
    retry: { maximumAttempts: 5 },
    summary: `What became of call ${callId}`,
  });
  const call = { workflowId, firstExecutionRunId, callId, agent, caller };
  try {
    const answer: ReconciledCall | null = await reconcile({ ...call, tool, definition, args });
    if (answer?.ran === 'no') return { ...unknown, ran: 'no', isUndone: true };
    // An operator can complete the activity with any other value, which also leaves the outcome unknown.
    if (answer?.ran !== 'yes') return unknown;
    const { result } = answer;
    if (result === undefined) {
      return { content: sentences.resultNotGiven('its worker was lost'), isError: false, ran: 'yes' };
    }
    return { content: typeof result === 'string' ? result : JSON.stringify(result), isError: false, ran: 'yes' };
  } catch (error) {
    // If `checkResult` withholds the result, the tool did run. Every other failure leaves the outcome unknown.
    const end = endOf(error, tool);
    return end.withheld === undefined ? unknown : end;
  }
}

/** Asks a worker what reviewers should see of a call that may have run. Empty if no worker can say; never throws. */
export async function lookAtUnsettled(
  { callId, agent, caller, engine }: Permit,
  edit: Pick<CheckEditInput, 'tool' | 'args' | 'redact'>,
): Promise<Partial<CheckedArguments>> {
  const { [activityNames.checkEdit]: check } = proxyActivities<{ [activityNames.checkEdit]: CheckEdit }>({
    startToCloseTimeout: '1m',
    retry: { maximumAttempts: 5 },
    summary: `What reviewers see of call ${callId}`,
  });
  try {
    const seen = await check({ ...edit, agent, caller, engine });
    return 'args' in seen ? seen : {};
  } catch {
    return {};
  }
}

/** Returns how a tool's activity failed: whether the tool ran, and the sentence for the model. */
function endOf(error: unknown, tool: string): ToolEnd {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof TimeoutFailure && cause.timeoutType === 'SCHEDULE_TO_START') {
    return { content: sentences.failed('the tool was not started in time'), isError: true, ran: 'no' };
  }
  if (cause instanceof ApplicationFailure && cause.type === payloadUnreadType) {
    const content = sentences.failed(`the tool was not started: its arguments cannot be read (${cause.message})`);
    return { content, isError: true, ran: 'no', unread: true };
  }
  if (cause instanceof ApplicationFailure && cause.type === payloadNotKeptType) {
    return { content: sentences.resultNotGiven(cause.message), isError: false, ran: 'yes' };
  }
  if (cause instanceof ApplicationFailure && cause.type === resultWithheldType) {
    const { message } = cause;
    return { content: sentences.resultWithheld(message), isError: false, ran: 'yes', withheld: message };
  }
  // After a time-out, a worker's shutdown or a cancellation in mid-call, the effect may have happened (I7).
  if (!(cause instanceof ApplicationFailure) || leftInMidCallTypes.includes(cause.type ?? '')) return unknown;
  const changed = changedDefinitionOf(cause, tool);
  const ran = ranOf(cause);
  return {
    content: sentences.failed(cause.message),
    isError: true,
    ran,
    changed,
    isRevoked: revokedIn(error) !== undefined,
  };
}

/** Whether the tool ran. A failure of unknown type is by an operator who failed the activity: the tool may have run. */
function ranOf({ type = '', details }: ApplicationFailure): Ran {
  // Check the mark of the second gate as well: other failures of a worker have the same types, such as `undecodable`.
  const isOfSecondGate = details?.[0] === refusedBySecondGate;
  if (isOfSecondGate && secondGateTypes.some((each) => each === type)) return 'no';
  // A worker without this tool fails with this type.
  if (type === 'NotFoundError') return 'no';
  return type === toolFailedType ? 'yes' : 'unknown';
}
