import { isDeepStrictEqual } from 'node:util';
import { ApplicationFailure, activityInfo } from '@temporalio/activity';
import proto, { type temporal } from '@temporalio/proto';
import { type Execution, activityExecution, continuedEvent, firstEvent } from './recorded-events.ts';

type Started = temporal.api.history.v1.IWorkflowExecutionStartedEventAttributes;
type ContinuedAsNew = temporal.api.history.v1.IWorkflowExecutionContinuedAsNewEventAttributes;
type Payloads = temporal.api.common.v1.IPayloads;

export type VerifyCarried = () => Promise<void>;

/** How this execution started, and how the execution before it started and ended, as the server recorded it. */
export interface RecordedPast {
  runId: string;
  started: Started;
  /** The execution before this one; undefined if retention has removed it. */
  before?: { started: Started; continued: ContinuedAsNew | undefined };
}

/** After this many attempts, in about a minute, an execution that the server does not show counts as removed. */
const attemptsToFind = 10;

const { ContinueAsNewInitiator } = proto.temporal.api.enums.v1;

/**
 * The activity `countersign.verifyCarried`: verifies with the server that continue-as-new started this execution, with
 * exactly the arguments that the execution before it wrote (docs/decisions/0022). If not, it fails permanently (I1).
 */
export const verifyCarried: VerifyCarried = async () => {
  const past = await recordedPast(activityExecution());
  const problem = pastProblem(past);
  if (problem === undefined) return;
  const nonRetryable = isComplete(past) || activityInfo().attempt >= attemptsToFind;
  throw ApplicationFailure.create({ message: problem, type: 'forbidden', nonRetryable });
};

/** False if the server may not show all events yet, as after a restart or while a shard moves. */
function isComplete({ started, before }: RecordedPast): boolean {
  return started.workflowType != null && (before !== undefined || !started.continuedExecutionRunId);
}

/** Reads from the server what `pastProblem` compares. Has no `before` if the server does not show that execution. */
async function recordedPast(execution: Execution): Promise<RecordedPast> {
  const started = (await firstEvent(execution))?.workflowExecutionStartedEventAttributes ?? {};
  const { runId } = execution;
  const before = { ...execution, runId: started.continuedExecutionRunId ?? '' };
  if (before.runId === '') return { runId, started };
  const [first, last] = [await firstEvent(before), await continuedEvent(before)];
  if (first === undefined || last === undefined) return { runId, started };
  return {
    runId,
    started,
    before: {
      started: first.workflowExecutionStartedEventAttributes ?? {},
      continued: last?.workflowExecutionContinuedAsNewEventAttributes ?? undefined,
    },
  };
}

/** Returns why the arguments of this execution cannot be trusted, in one sentence; undefined if they can. */
export function pastProblem({ runId, started, before }: RecordedPast): string | undefined {
  if (started.initiator === ContinueAsNewInitiator.CONTINUE_AS_NEW_INITIATOR_RETRY) {
    return 'This execution is a retry: it cannot take up what an execution before it carried. Start the workflow again, under a new id';
  }
  if (started.initiator === ContinueAsNewInitiator.CONTINUE_AS_NEW_INITIATOR_CRON_SCHEDULE) {
    return 'This execution was started by a cron schedule: it cannot take up what an execution before it carried. Use a Temporal schedule, which starts each workflow under an id of its own';
  }
  if (
    started.initiator !== ContinueAsNewInitiator.CONTINUE_AS_NEW_INITIATOR_WORKFLOW ||
    (started.continuedExecutionRunId ?? '') === ''
  ) {
    return 'This execution was not started by continue-as-new: it carries nothing';
  }
  if (started.originalExecutionRunId !== runId) {
    return 'This execution was reset to before its carried state was verified. Reset to a later workflow task, or reset an earlier execution of the workflow';
  }
  if (before === undefined) {
    return 'The execution before this one is no longer in the history of the namespace, so its carried state cannot be verified';
  }
  const { started: begun, continued } = before;
  if (continued?.newExecutionRunId !== runId) {
    return 'The execution before this one did not continue as this one';
  }
  if (begun.workflowType?.name !== started.workflowType?.name) {
    return `The execution before this one is a '${begun.workflowType?.name}': only a workflow of the same type may carry state into this one`;
  }
  if (begun.taskQueue?.name !== started.taskQueue?.name) {
    return `The execution before this one ran on task queue '${begun.taskQueue?.name}': only one on the same task queue may carry state into this one`;
  }
  if (!isDeepStrictEqual(bytesOf(continued.input), bytesOf(started.input))) {
    return 'The arguments of this execution are not those that the execution before it wrote';
  }
  return undefined;
}

/** Converts payloads to plain values, to compare them by content and not by buffers and order of metadata. */
function bytesOf(payloads: Payloads | null | undefined): unknown {
  const hex = (bytes: Uint8Array | null | undefined): string => Buffer.from(bytes ?? []).toString('hex');
  return (payloads?.payloads ?? []).map(({ metadata, data }) => ({
    metadata: Object.fromEntries(Object.entries(metadata ?? {}).map(([name, bytes]) => [name, hex(bytes)])),
    data: hex(data),
  }));
}
