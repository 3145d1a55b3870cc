/**
 * Keeps events that no workflow task has taken yet away from a run. A query that was sent before them comes to a worker
 * with all of history. The SDK lets the workflow handle them before the query, with the clock of the task before, and
 * sends the commands with the next task. A replay hands over these events with the clock and the other events of that
 * task, and may make other commands. So the query fails, the SDK drops the run from its cache, and the next task
 * replays all of history (docs/decisions/0058).
 */
import type { ActivateInput, ConcludeActivationInput } from '@temporalio/workflow';
import { sentences } from '../../core/ledger/sentences.ts';
import { activations } from './activation.ts';
import { workerNowMs } from './clock.ts';

type Activation = ActivateInput['activation'];
type Job = NonNullable<Activation['jobs']>[number];
type Command = ConcludeActivationInput['commands'][number];

/** The SDK's id of a query that comes without a workflow task. */
const queryAlone = 'legacy_query';

/** The fewest events between the starts of two tasks: one task completes, the next is scheduled and starts. */
const leastBetween = 3;
/** How long a worker that is not overloaded takes at most to begin with a task, in milliseconds. */
const longestStartMs = 500;
/** For how long after its start the server may still withdraw a task that seems to bring nothing, in milliseconds. */
const withdrawableMs = 5_000;

/**
 * Notes whether a workflow task brought the events of this activation, or a query may have. A task starts later than
 * the one before it, and only just now. A start that is long ago, right after a replay, may be that of a failed
 * attempt, unless history has grown by exactly one task. Throws if a query brought the events of the last activation,
 * so that the task is given again with all of history: then history has grown by less than a task leaves, or, after the
 * start of a failed attempt, by more.
 */
export function noteProgress({ timestamp, historyLength, isReplaying, jobs }: Activation): void {
  const state = activations();
  const { last } = state;
  const startedMs = msOf(timestamp);
  const length = historyLength ?? 0;
  const isReplayed = isReplaying === true;
  const brought = jobs?.filter(isOfEvent).length ?? 0;
  const between = length - (state.takenLength ?? -Infinity);
  // One task may lead to several activations, as when an activity is cancelled.
  if (between > 0 && between < leastBetween + state.written + brought) throw new Error(sentences.takenEarly);
  if (brought > 0) {
    state.takenLength = isReplayed ? undefined : length;
    state.written = 0;
  }
  state.isOfUpdates = jobs?.every(({ doUpdate }) => doUpdate != null) ?? false;
  if (length !== last.historyLength) {
    const isExactlyOneTask = (): boolean => isOneTask(length, jobs ?? []);
    if (state.isQueried && !isExactlyOneTask()) throw new Error(sentences.takenEarly);
    const isLate = last.isReplayed && workerNowMs() - startedMs > longestStartMs;
    state.isAhead = !isReplayed && (startedMs === last.startedMs || (isLate && !isExactlyOneTask()));
    state.isFirst = last.isReplayed && !isReplayed && brought > 0;
    state.isQueried = false;
  }
  state.last = { historyLength: length, startedMs, isReplayed };
}

/**
 * True if history has grown by exactly what one task leaves: the end of the task before, the events of its commands and
 * of these jobs, and the two by which a task is scheduled and starts. A failed attempt, or a task that only refused
 * updates, leaves three more. This tells a busy worker that begins late from a query that brings newer events.
 */
function isOneTask(length: number, jobs: readonly Job[]): boolean {
  const { kept } = activations();
  return length === jobs.reduce((sum, job) => sum + eventsOfJob(job), kept.historyLength + kept.written + 3);
}

/** How many events bring a job, NaN if it is not certain: of a Nexus operation, one event may bring two jobs. */
function eventsOfJob(job: Job): number {
  if (job.doUpdate != null || job.notifyHasPatch != null) return 0;
  if (job.resolveActivity != null) return eventsOfEnd(job.resolveActivity);
  const { resolveChildWorkflowExecutionStart, resolveChildWorkflowExecution, resolveSignalExternalWorkflow } = job;
  const childJob = resolveChildWorkflowExecutionStart ?? resolveChildWorkflowExecution;
  const otherRunJob = resolveSignalExternalWorkflow ?? job.resolveRequestCancelExternalWorkflow;
  return (job.fireTimer ?? job.signalWorkflow ?? job.cancelWorkflow ?? childJob ?? otherRunJob) != null ? 1 : NaN;
}

/** The server writes an activity's start with its end. If it never started, its failure names no start. */
function eventsOfEnd({ result, isLocal }: NonNullable<Job['resolveActivity']>): number {
  if (isLocal === true) return NaN;
  if (result?.completed != null) return 2;
  const startedId = (result?.failed ?? result?.cancelled)?.failure?.activityFailureInfo?.startedEventId;
  if (startedId == null) return NaN;
  return Number(startedId) > activations().kept.historyLength ? 2 : 1;
}

/**
 * Counts commands that leave an event each before the next task is scheduled. A cancelled one counts for nothing: if it
 * was made in the same activation, neither leaves an event. No task follows the end of a run.
 */
export function noteCommands(commands: readonly Command[]): void {
  const state = activations();
  const left = commands.filter(leavesEvent).length - commands.filter(cancels).length;
  state.written += commands.some(endsRun) ? Infinity : Math.max(0, left);
  if (commands.some(({ respondToQuery }) => respondToQuery != null)) return;
  const { historyLength, startedMs } = state.last;
  const written = eventsOf(commands);
  // The server may withdraw a task that only refused updates.
  if (state.isOfUpdates && written === 0) return;
  if (state.kept.startedMs !== startedMs) state.kept = { historyLength, startedMs, written: 0, made: new Set() };
  state.kept.written += written;
}

/** How many events the commands of one activation leave. NaN for commands whose events are not known. */
function eventsOf(commands: readonly Command[]): number {
  const { accepted, abandoned, kept } = activations();
  let count = 0;
  for (const command of commands) {
    const { updateResponse } = command;
    const made = madeBy(command);
    if (made !== undefined) kept.made.add(made);
    if (made !== undefined && isAbandonedOnCancel(command)) abandoned.add(made);
    if (updateResponse != null) {
      const updateId = updateResponse.protocolInstanceId ?? '';
      const wasAccepted = accepted.delete(updateId);
      if (updateResponse.accepted != null) accepted.add(updateId);
      // A refusal leaves an event only if it is how an accepted update ends.
      if (updateResponse.rejected != null && !wasAccepted) continue;
    }
    const cancelled = cancelledBy(command);
    // A timer, activity or child that the same task made leaves no event either.
    if (cancelled !== undefined) count += kept.made.has(cancelled) ? -1 : abandoned.has(cancelled) ? 0 : 1;
    else if (leavesEvent(command) || reachesOtherRun(command) || endsRun(command) || updateResponse != null) count += 1;
    // A patch leaves a marker and a search attribute.
    else count += command.setPatchMarker != null ? 2 : NaN;
  }
  return count;
}

function madeBy({ startTimer, scheduleActivity, startChildWorkflowExecution }: Command): string | undefined {
  if (startTimer != null) return `timer ${startTimer.seq}`;
  if (scheduleActivity != null) return `activity ${scheduleActivity.seq}`;
  return startChildWorkflowExecution == null ? undefined : `child ${startChildWorkflowExecution.seq}`;
}

function cancelledBy(command: Command): string | undefined {
  const { cancelTimer, requestCancelActivity, cancelChildWorkflowExecution } = command;
  if (cancelTimer != null) return `timer ${cancelTimer.seq}`;
  if (requestCancelActivity != null) return `activity ${requestCancelActivity.seq}`;
  return cancelChildWorkflowExecution == null ? undefined : `child ${cancelChildWorkflowExecution.childWorkflowSeq}`;
}

/** Cancelling an activity or child of type `ABANDON` (by the core's numbers) leaves no event. */
function isAbandonedOnCancel({ scheduleActivity, startChildWorkflowExecution }: Command): boolean {
  const ofActivity: number | null | undefined = scheduleActivity?.cancellationType;
  const ofChild: number = startChildWorkflowExecution?.cancellationType ?? 0;
  return ofActivity === 2 || (startChildWorkflowExecution != null && ofChild === 0);
}

function leavesEvent(command: Command): boolean {
  const { scheduleActivity, startTimer, modifyWorkflowProperties, upsertWorkflowSearchAttributes } = command;
  return (scheduleActivity ?? startTimer ?? modifyWorkflowProperties ?? upsertWorkflowSearchAttributes) != null;
}

function cancels({ requestCancelActivity, cancelTimer }: Command): boolean {
  return (requestCancelActivity ?? cancelTimer) != null;
}

function reachesOtherRun({ startChildWorkflowExecution, ...other }: Command): boolean {
  const { signalExternalWorkflowExecution, requestCancelExternalWorkflowExecution } = other;
  return (
    (startChildWorkflowExecution ?? signalExternalWorkflowExecution ?? requestCancelExternalWorkflowExecution) != null
  );
}

function endsRun(command: Command): boolean {
  const { completeWorkflowExecution, failWorkflowExecution, cancelWorkflowExecution } = command;
  const ended = completeWorkflowExecution ?? failWorkflowExecution ?? cancelWorkflowExecution;
  return (ended ?? command.continueAsNewWorkflowExecution) != null;
}

/** False for a job that no history event brings: an update comes before its event, and a local activity has none. */
function isOfEvent({ doUpdate, notifyHasPatch, updateRandomSeed, resolveActivity }: Job): boolean {
  return doUpdate == null && notifyHasPatch == null && updateRandomSeed == null && resolveActivity?.isLocal !== true;
}

/**
 * Throws for a query of a run that has handled events which no task has taken, or that the server may still withdraw.
 * Whatever its argument: a sender who may only query could keep an open run ahead of its tasks.
 */
export function refuseAhead(activation: Activation): void {
  const query = activation.jobs?.find((job) => job.queryWorkflow?.queryId === queryAlone)?.queryWorkflow;
  if (query == null) return;
  const state = activations();
  state.isQueried = state.isFirst;
  // The attempt may be lost, and the next one finds a longer history, with which the run would continue as new.
  const mayDiffer = state.isFirst && state.nearlyOutgrown === state.number;
  if (!state.isAhead && !mayDiffer && !mayBeWithdrawn(activation)) return;
  // Fails the activation, not only the query: nothing less drops the run from the cache.
  const error = new Error(sentences.notTakenYet);
  // The SDK logs the error, and its stack would say nothing.
  error.stack = error.message;
  throw error;
}

/**
 * True if history seems to end with a task that has started and brought nothing. If that was the task of an update
 * which is refused, the server gives the ids of its two events to the next events, and a worker that got the two with a
 * query would skip these. The SDK does not say whether the task completed, so for `withdrawableMs` after its start the
 * answer is true either way.
 */
function mayBeWithdrawn({ timestamp, historyLength }: Activation): boolean {
  const { kept } = activations();
  const startedMs = msOf(timestamp);
  if (startedMs === kept.startedMs || Math.abs(workerNowMs() - startedMs) > withdrawableMs) return false;
  const beyond = (historyLength ?? 0) - (kept.historyLength + 1 + kept.written);
  return beyond === 1 || beyond === 2;
}

function msOf(timestamp: Activation['timestamp']): number {
  return Number(timestamp?.seconds ?? 0) * 1_000 + (timestamp?.nanos ?? 0) / 1e6;
}
