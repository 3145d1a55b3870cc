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
/** For this many milliseconds after its start, the server may withdraw a task that seems to bring nothing. */
const withdrawableMs = 5_000;

/**
 * Notes in `isAhead` if perhaps a query, and not a workflow task, brought the events of this activation. Throws if a
 * query brought the events of the previous activation. The server then sends the task again with all of history.
 */
export function noteProgress({ timestamp, historyLength, isReplaying, jobs }: Activation): void {
  const state = activations();
  const length = historyLength ?? 0;
  const isReplayed = isReplaying === true;
  const brought = jobs?.filter(isOfEvent).length ?? 0;
  const grownBy = length - (state.takenLength ?? -Infinity);
  // `grownBy` is 0 in the further activations of one task, as when an activity is cancelled.
  const isLessThanOneTask = grownBy > 0 && grownBy < leastBetween + state.written + brought;
  if (isLessThanOneTask) throw new Error(sentences.takenEarly);
  if (brought > 0) {
    state.takenLength = isReplayed ? undefined : length;
    state.written = 0;
  }
  state.isOfUpdates = jobs?.every(({ doUpdate }) => doUpdate != null) ?? false;
  const startedMs = msOf(timestamp);
  if (length !== state.last.historyLength) noteGrowth({ length, startedMs, isReplayed, brought }, jobs ?? []);
  state.last = { historyLength: length, startedMs, isReplayed };
}

/**
 * Notes whether a query may have brought the events by which history has grown. A task brought them if it started after
 * the previous task, and recently. If it started long ago, right after a replay, this may be the start of a failed
 * attempt, unless history has grown by exactly one task. Throws if it has not, and a query followed the activation
 * before this one (`isQueried`).
 */
function noteGrowth(
  now: { length: number; startedMs: number; isReplayed: boolean; brought: number },
  jobs: readonly Job[],
): void {
  const state = activations();
  const { last } = state;
  const isExactlyOneTask = (): boolean => isOneTask(now.length, jobs);
  if (state.isQueried && !isExactlyOneTask()) throw new Error(sentences.takenEarly);
  const isLate = last.isReplayed && workerNowMs() - now.startedMs > longestStartMs;
  state.isAhead = !now.isReplayed && (now.startedMs === last.startedMs || (isLate && !isExactlyOneTask()));
  state.isFirst = last.isReplayed && !now.isReplayed && now.brought > 0;
  state.isQueried = false;
}

/**
 * True if history has grown by exactly the events of one task: the end of the previous task, its commands, these jobs,
 * and the two events by which a task is scheduled and starts. A failed attempt, or a task that only refused updates,
 * leaves three more events.
 */
function isOneTask(length: number, jobs: readonly Job[]): boolean {
  const { kept } = activations();
  return length === jobs.reduce((sum, job) => sum + eventsOfJob(job), kept.historyLength + kept.written + 3);
}

/** Returns how many events bring a job: none for an update or a patch. NaN if uncertain, as for a Nexus operation. */
function eventsOfJob(job: Job): number {
  if (job.doUpdate != null || job.notifyHasPatch != null) return 0;
  if (job.resolveActivity != null) return eventsOfEnd(job.resolveActivity);
  const { resolveChildWorkflowExecutionStart, resolveChildWorkflowExecution, resolveSignalExternalWorkflow } = job;
  const childJob = resolveChildWorkflowExecutionStart ?? resolveChildWorkflowExecution;
  const otherRunJob = resolveSignalExternalWorkflow ?? job.resolveRequestCancelExternalWorkflow;
  return (job.fireTimer ?? job.signalWorkflow ?? job.cancelWorkflow ?? childJob ?? otherRunJob) != null ? 1 : NaN;
}

/** Returns how many events an activity's end adds: 2 if its start is recorded with it, 1 if the start is older. */
function eventsOfEnd({ result, isLocal }: NonNullable<Job['resolveActivity']>): number {
  if (isLocal === true) return NaN;
  if (result?.completed != null) return 2;
  const startedId = (result?.failed ?? result?.cancelled)?.failure?.activityFailureInfo?.startedEventId;
  if (startedId == null) return NaN;
  return Number(startedId) > activations().kept.historyLength ? 2 : 1;
}

/**
 * Adds the number of events that these commands leave to two counts: `written`, which may be too small, and that of
 * `kept`, which is exact or NaN. After the end of a run `written` is infinite, because no task follows.
 */
export function noteCommands(commands: readonly Command[]): void {
  const state = activations();
  // Subtract cancellations: what one activation creates and cancels leaves no event.
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

/** Returns how many events the commands of one activation leave; NaN if the events of a command are unknown. */
function eventsOf(commands: readonly Command[]): number {
  return commands.reduce((sum, command) => sum + eventsOfCommand(command), 0);
}

/** Returns how many events a command leaves, and notes what it creates. Negative if it undoes an earlier command. */
function eventsOfCommand(command: Command): number {
  const { abandoned, kept } = activations();
  const made = madeBy(command);
  if (made !== undefined) kept.made.add(made);
  if (made !== undefined && isAbandonedOnCancel(command)) abandoned.add(made);
  const cancelled = cancelledBy(command);
  if (cancelled !== undefined) {
    // If the same task created what is cancelled, neither the creation nor the cancellation leaves an event.
    if (kept.made.has(cancelled)) return -1;
    return abandoned.has(cancelled) ? 0 : 1;
  }
  if (command.updateResponse != null) return eventsOfUpdate(command.updateResponse);
  if (leavesEvent(command) || reachesOtherRun(command) || endsRun(command)) return 1;
  // A patch leaves two events: a marker and a search attribute.
  return command.setPatchMarker != null ? 2 : NaN;
}

/** Notes accepted updates. Returns 0 for the refusal of an update that was not accepted before, otherwise 1. */
function eventsOfUpdate(response: NonNullable<Command['updateResponse']>): number {
  const { accepted } = activations();
  const updateId = response.protocolInstanceId ?? '';
  const wasAccepted = accepted.delete(updateId);
  if (response.accepted != null) accepted.add(updateId);
  return response.rejected != null && !wasAccepted ? 0 : 1;
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

/** True for cancellation type `ABANDON`, by its number in the SDK's core: such a cancellation leaves no event. */
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

/** Throws for a query while the run may be ahead of its tasks, or while the server may withdraw the last one. */
export function refuseAhead(activation: Activation): void {
  const query = activation.jobs?.find((job) => job.queryWorkflow?.queryId === queryAlone)?.queryWorkflow;
  if (query == null) return;
  const state = activations();
  state.isQueried = state.isFirst;
  // If this attempt of the task is lost, the next attempt finds a longer history, in which the run continues as new.
  const mayDiffer = state.isFirst && state.nearlyOutgrown === state.number;
  if (!state.isAhead && !mayDiffer && !mayBeWithdrawn(activation)) return;
  // Fail the whole activation, because only that makes the SDK drop the run from its cache.
  const error = new Error(sentences.notTakenYet);
  // The SDK logs the stack, which would not help an operator: log only the sentence.
  error.stack = error.message;
  throw error;
}

/**
 * True if history seems to end with a task that brought nothing, as the task of an update, and that started less than
 * `withdrawableMs` ago. If the update is refused, the server withdraws the task, and the next events get the ids of its
 * two events. A worker that got these two with a query would then skip the next events.
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
