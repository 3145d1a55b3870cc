/** The sentences that the model gets instead of a tool's result, or before it. */
import type { ReviewerVote, Settlement } from './approval.ts';
import { formatDuration } from '../base/duration.ts';
import { escapeJson, shortened } from '../base/text.ts';
import type { JsonObject } from '../base/tool-call.ts';

/** How the sentence begins that stands for a result. */
export const resultNotGivenStart = 'the tool ran; its result cannot be given';

export const sentences = {
  deniedByPolicy: (tool: string, reason?: string): string => `Denied: ${reason ?? `Policy denies '${tool}'`}`,
  deniedByReviewer: (reason?: string): string =>
    `Denied: ${reason === undefined || reason.trim() === '' ? 'User denied' : reason}`,
  deniedForGood: (attempts: number): string =>
    `Denied: This action was permanently denied after ${attempts} attempts. Do not retry this tool.`,
  tooManyIrreversible: (most: number): string =>
    `Denied: This run may make at most ${most} calls that cannot be undone.`,
  tooManyCalls: (most: number, asks: boolean): string =>
    `Denied: This run may make at most ${most} tool calls${asks ? ', unless a reviewer lets it go on. Make this call again if the run goes on.' : '.'}`,
  cancelled: (reason?: string): string => `Cancelled: ${reason ?? 'the run was cancelled'}`,
  tooManyPending: 'Denied: Too many pending approval requests.',
  tooMuchAtOnce: 'Denied: This turn has too many calls, or too long ones, to be checked at once. Make this call again.',
  notRuledAgain: 'the policies changed, and too many long calls waited to be ruled on again',
  notTakenUp: 'The run is continuing as new and does not know its past yet: ask again.',
  notTakenYet: 'Events of this run wait for its next workflow task, which comes at once: ask again.',
  takenEarly: 'A query was handed events before their workflow task: the task is given again, with all of history.',
  endedUntaken: (workflowId: string): string =>
    `Run '${workflowId}' was ended before a worker took its last events, so it answers no query: its journal says what it decided.`,
  oldWorker: 'the worker that checked the edit is older than the run and does not know placeholders: repeat it',
  unknownOutcome: 'Unknown: the tool was started but its outcome is not known. Do not assume that it did nothing.',
  /** No error: a model that took it for one would repeat the call. */
  resultNotGiven: (problem: string): string => `${resultNotGivenStart} (${problem}); do not repeat it`,
  /** No error, for the same reason. */
  resultWithheld: (reason: string): string => `the tool ran; what it gave is withheld (${reason}); do not repeat it`,
  failed: (message: string): string => `Error: ${message}`,
} as const;

/** Why a request is withdrawn whose rule says `when_user_writes: withdraw`. */
export const userHasWritten = 'the user has written since';

/** Returns the sentence for the model about a request that was settled without running the tool. */
export function settledSentence(settlement: Settlement, timeoutMs: number | null, toolName: string): string {
  const { outcome, reason, response, by } = settlement;
  // A time-out is never reported as a person's denial, nor a denial as a time-out (I15).
  if (outcome === 'expired') return `Denied: no decision within ${formatDuration(timeoutMs ?? 0)}`;
  if (outcome === 'cancelled') return sentences.cancelled(reason);
  if (outcome === 'responded') return typeof response === 'string' ? response : JSON.stringify(response ?? null);
  if (outcome === 'superseded' && by === 'policy') return sentences.deniedByPolicy(toolName, reason);
  return sentences.deniedByReviewer(reason);
}

const shownChange = 2_000;

/** Precedes a tool's result if a reviewer changed its arguments: what was asked, and what ran (I9). */
export function editedSentence(asked: JsonObject, ran: JsonObject): string {
  const names = [...new Set([...Object.keys(asked), ...Object.keys(ran)])];
  const changes = names.flatMap((name) => {
    const [before, after] = [shown(asked, name), shown(ran, name)];
    return before === after ? [] : [`${name}: ${before} became ${after}`];
  });
  return `A reviewer changed the arguments before the tool ran: ${changes.join('; ').slice(0, shownChange) || 'nothing'}.`;
}

/** Characters of all words beside one approval, before they are quoted. */
const longestWords = 2_000;
const byChannel = 'channel:';

/**
 * Precedes a tool's result: what those who approved the call wrote, in the order of their votes. The words are JSON texts
 * without invisible characters, so none can end its line or pass for the result. Undefined: they wrote nothing.
 */
export function approvedSentence(votes: readonly Pick<ReviewerVote, 'reviewerId' | 'reason'>[]): string | undefined {
  const written = votes.flatMap(({ reviewerId = '', reason = '' }) => {
    const words = reason.trim();
    return words === '' ? [] : [{ reviewerId, words }];
  });
  if (written.length === 0) return undefined;
  const share = Math.floor(longestWords / written.length);
  return written
    .map(({ reviewerId, words }) => {
      const isChannel = reviewerId.startsWith(byChannel);
      const who = isChannel ? `Channel ${escapeJson(reviewerId.slice(byChannel.length))}` : 'A reviewer';
      return `${who} approved this call and wrote: ${escapeJson(shortened(words, share))}.`;
    })
    .join(' ');
}

function shown(args: JsonObject, name: string): string {
  const value = Object.hasOwn(args, name) ? args[name] : undefined;
  return value === undefined ? 'nothing' : JSON.stringify(value);
}
