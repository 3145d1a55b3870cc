/**
 * Keeps the events that no workflow task has taken yet away from a run. A query that was sent before them is handed to
 * a worker with all of history. The SDK lets the workflow handle them before the query, with the clock of the task
 * before, keeps the run in its cache, and sends the commands with the next task. A replay hands over these events with
 * the clock and with the other events of that task, and may make other commands. So the query fails, which makes the
 * SDK drop the run from its cache; the next task replays all of history (docs/decisions/0058).
 */
import type { ActivateInput } from '@temporalio/workflow';
import { sentences } from '../../core/ledger/sentences.ts';
import { activations } from './activation.ts';
import { workerNowMs } from './clock.ts';

type Activation = ActivateInput['activation'];
type Job = NonNullable<Activation['jobs']>[number];

/** The SDK's id of a query that comes without a workflow task. */
const queryAlone = 'legacy_query';

/** The fewest events between the starts of two tasks: one task completes, the next is scheduled and starts. */
const leastBetween = 3;
/** How long a worker that is not overloaded takes at most to begin with a task, in milliseconds. */
const longestStartMs = 2_000;

/**
 * Notes whether a workflow task took the events of this activation: a task starts later than the one before it, and just
 * now. If it started long ago, right after a replay, the start may be that of an attempt that failed. Throws if no task
 * took the events of the last activation: too little of history lies between. Then the task fails, and is given again
 * with all of history.
 */
export function noteProgress({ timestamp, historyLength, isReplaying, jobs }: Activation): void {
  const state = activations();
  const { last } = state;
  const startedMs = Number(timestamp?.seconds ?? 0) * 1_000 + (timestamp?.nanos ?? 0) / 1e6;
  const length = historyLength ?? 0;
  const isReplayed = isReplaying === true;
  const brought = jobs?.filter(isOfEvent).length ?? 0;
  const between = length - (state.takenLength ?? -Infinity);
  // One task may lead to several activations, as when an activity is cancelled.
  if (between > 0 && between < leastBetween + brought) throw new Error(sentences.takenEarly);
  if (brought > 0) state.takenLength = isReplayed ? undefined : length;
  if (length !== last.historyLength) {
    const isLate = last.isReplayed && workerNowMs() - startedMs > longestStartMs;
    state.isAhead = !isReplayed && (isLate || startedMs === last.startedMs);
  }
  state.last = { historyLength: length, startedMs, isReplayed };
}

/** False for a job that no history event brings: an update comes before its event, and a local activity has none. */
function isOfEvent({ doUpdate, notifyHasPatch, updateRandomSeed, resolveActivity }: Job): boolean {
  return doUpdate == null && notifyHasPatch == null && updateRandomSeed == null && resolveActivity?.isLocal !== true;
}

/**
 * Throws for a query of a run that has handled events which no task has taken. Nothing that a sender says makes an
 * exception: who may only query could keep an open run ahead of its tasks.
 */
export function refuseAhead(jobs: NonNullable<Activation['jobs']>): void {
  const query = jobs.find((job) => job.queryWorkflow?.queryId === queryAlone)?.queryWorkflow;
  if (!activations().isAhead || query == null) return;
  // Fails the activation, not only the query: nothing less drops the run from the cache.
  const error = new Error(sentences.notTakenYet);
  // The SDK logs it, and where it was thrown says nothing.
  error.stack = error.message;
  throw error;
}
