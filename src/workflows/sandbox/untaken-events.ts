/**
 * Refuses queries that would make a run handle events too early. A query comes to a worker with all of history, also
 * with events that no workflow task has delivered yet. The SDK lets the workflow handle these before the query, at the
 * time of the previous task. A replay hands them over later, at the time of the next task and with its other events,
 * and may make other commands. So the query fails: the SDK then drops the run from its cache, and the next task replays
 * all of history (docs/decisions/0058).
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
/** The longest time, in milliseconds, in which a worker that is not overloaded begins a task. */
const longestStartMs = 500;
/** For how many milliseconds after its start the server may still withdraw a task that seems to bring nothing. */
const withdrawableMs = 5_000;

/**
 * Notes whether a workflow task brought the events of this activation, or possibly a query. A task did if its start is
 * later than that of the previous task, and recent. A start long ago, right after a replay, may be that of a failed
 * attempt, unless history has grown by exactly one task. Throws if a query brought the events of the previous
 * activation: history has then grown by fewer events than a task leaves or, after a failed attempt, by more. The server
 * then sends the task again with all of history.
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
 * True if history has grown by exactly the events of one task: the end of the previous task, its commands, these jobs,
 * and the two events by which a task is scheduled and starts. A failed attempt, or a task that only refused updates,
 * would leave three more. This tells a busy worker that begins a task late from a query that brings newer events.
 */
function isOneTask(length: number, jobs: readonly Job[]): boolean {
  const { kept } = activations();
  return length === jobs.reduce((sum, job) => sum + eventsOfJob(job), kept.historyLength + kept.written + 3);
}

/** The number of events that bring a job. NaN if it is uncertain: one event of a Nexus operation may bring two jobs. */
function eventsOfJob(job: Job): number {
  if (job.doUpdate != null || job.notifyHasPatch != null) return 0;
  if (job.resolveActivity != null) return eventsOfEnd(job.resolveActivity);
  const { resolveChildWorkflowExecutionStart, resolveChildWorkflowExecution, resolveSignalExternalWorkflow } = job;
  const childJob = resolveChildWorkflowExecutionStart ?? resolveChildWorkflowExecution;
  const otherRunJob = resolveSignalExternalWorkflow ?? job.resolveRequestCancelExternalWorkflow;
  return (job.fireTimer ?? job.signalWorkflow ?? job.cancelWorkflow ?? childJob ?? otherRunJob) != null ? 1 : NaN;
}

/** How many events an activity's end adds: 2 if its start is written with it, 1 if the start is older, else NaN. */
function eventsOfEnd({ result, isLocal }: NonNullable<Job['resolveActivity']>): number {
  if (isLocal === true) return NaN;
  if (result?.completed != null) return 2;
  const startedId = (result?.failed ?? result?.cancelled)?.failure?.activityFailureInfo?.startedEventId;
  if (startedId == null) return NaN;
  return Number(startedId) > activations().kept.historyLength ? 2 : 1;
}

/**
 * Counts in `written` the commands that leave one event each. A cancellation subtracts one, because what one activation
 * creates and cancels leaves no event. The end of a run counts as infinite: no task follows it.
 */
export function noteCommands(commands: readonly Command[]): void {
  const state = activations();
  const left = commands.filter(leavesEvent).length - commands.filter(cancels).length;
  state.written += commands.some(endsRun) ? Infinity : Math.max(0, left);
  if (commands.some(({ respondToQuery }) => respondToQuery != null)) return;
  const { historyLength, startedMs } = state.last;
  const written = eventsOf(commands);
  // A task that only refused updates does not count as kept: the server may withdraw it.
  if (state.isOfUpdates && written === 0) return;
  if (state.kept.startedMs !== startedMs) state.kept = { historyLength, startedMs, written: 0, made: new Set() };
  state.kept.written += written;
}

/** The number of events that the commands of one activation leave; NaN if the events of a command are unknown. */
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
      // The refusal of an update leaves an event only if the update was accepted before.
      if (updateResponse.rejected != null && !wasAccepted) continue;
    }
    const cancelled = cancelledBy(command);
    // If the same task created what is cancelled, neither the creation nor the cancellation leaves an event.
    if (cancelled !== undefined) count += kept.made.has(cancelled) ? -1 : abandoned.has(cancelled) ? 0 : 1;
    else if (leavesEvent(command) || reachesOtherRun(command) || endsRun(command) || updateResponse != null) count += 1;
    // A patch leaves two events: a marker and a search attribute.
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

/** True for cancellation type `ABANDON`, by the numbers of the SDK's core: such a cancellation leaves no event. */
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
 * Throws for a query if the run has handled events that no workflow task has delivered, or that the server may still
 * withdraw. No query is exempt: otherwise a client that may only query could keep an open run ahead of its tasks.
 */
export function refuseAhead(activation: Activation): void {
  const query = activation.jobs?.find((job) => job.queryWorkflow?.queryId === queryAlone)?.queryWorkflow;
  if (query == null) return;
  const state = activations();
  state.isQueried = state.isFirst;
  // If this attempt is lost, the next one finds a longer history, at which the run would continue as new.
  const mayDiffer = state.isFirst && state.nearlyOutgrown === state.number;
  if (!state.isAhead && !mayDiffer && !mayBeWithdrawn(activation)) return;
  // This fails the activation, not only the query: nothing less makes the SDK drop the run from its cache.
  const error = new Error(sentences.notTakenYet);
  // The SDK logs the stack of the error, which would not help an operator.
  error.stack = error.message;
  throw error;
}

/**
 * True if history seems to end with a task that started and brought nothing, as the task of an update does. If the
 * update is refused, the server withdraws the task and gives the ids of its two events to the next events. A worker
 * that got the two with a query would then skip those next events. The SDK does not say whether the task completed, so
 * the result is true for `withdrawableMs` after its start.
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
