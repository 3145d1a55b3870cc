/** The sentences that the model gets instead of a tool's result, or before it. */
import type { ReviewerVote, Settlement } from './approval.ts';
import { byChannel } from '../people/entitlement.ts';
import { formatDuration } from '../base/duration.ts';
import { escapeJson, shortened } from '../base/text.ts';
import type { JsonObject } from '../base/tool-call.ts';

/** The beginning of the sentence that replaces a result which cannot be given. */
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
  /** `why`: the sentence about the person, the rule or the limit that does not let it start again. */
  notStartedAgain: (why: string): string => `${sentences.unknownOutcome} It is not started again. ${why}`,
  /** The sentence does not say `Error`, because a model would then repeat the call. */
  resultNotGiven: (problem: string): string => `${resultNotGivenStart} (${problem}); do not repeat it`,
  /** This sentence does not say `Error` either, because a model would then repeat the call. */
  resultWithheld: (reason: string): string => `the tool ran; what it gave is withheld (${reason}); do not repeat it`,
  failed: (message: string): string => `Error: ${message}`,
} as const;

/** The reason of a request that was withdrawn because its rule says `when_user_writes: withdraw`. */
export const userHasWritten = 'the user has written since';

/** The sentence for the model about a request settled without running the tool. `timeoutMs`: how long it waited. */
export function settledSentence(settlement: Settlement, timeoutMs: number | null, toolName: string): string {
  const { outcome, reason, response, by } = settlement;
  // A time-out is never reported as a person's denial, nor a denial as a time-out (I15).
  if (outcome === 'expired') return `Denied: no decision within ${formatDuration(timeoutMs ?? 0)}`;
  if (outcome === 'cancelled') return sentences.cancelled(reason);
  if (outcome === 'responded') return typeof response === 'string' ? response : JSON.stringify(response ?? null);
  if (outcome === 'superseded' && by === 'policy') return sentences.deniedByPolicy(toolName, reason);
  return sentences.deniedByReviewer(reason);
}

const longestText = 2_000;

/** The sentence before the result of a call that a reviewer edited: what was asked, and what ran (I9). */
export function editedSentence(asked: JsonObject, ran: JsonObject): string {
  const names = [...new Set([...Object.keys(asked), ...Object.keys(ran)])];
  const changes = names.flatMap((name) => {
    const [before, after] = [valueText(asked, name), valueText(ran, name)];
    return before === after ? [] : [`${name}: ${before} became ${after}`];
  });
  return `A reviewer changed the arguments before the tool ran: ${changes.join('; ').slice(0, longestText) || 'nothing'}.`;
}

/** The most characters of all reasons in one sentence, before they are quoted. */
const longestReasons = 2_000;

/**
 * Quotes the reasons of approvals before a tool's result, in the order of the votes; undefined if there are none. A
 * reason is JSON without invisible characters, so it can neither end its line nor pass for the result.
 */
export function approvedSentence(votes: readonly Pick<ReviewerVote, 'reviewerId' | 'reason'>[]): string | undefined {
  const written = votes.flatMap(({ reviewerId = '', reason = '' }) => {
    const words = reason.trim();
    return words === '' ? [] : [{ reviewerId, words }];
  });
  if (written.length === 0) return undefined;
  const longestReason = Math.floor(longestReasons / written.length);
  return written
    .map(({ reviewerId, words }) => {
      const isChannel = reviewerId.startsWith(byChannel);
      const who = isChannel ? `Channel ${escapeJson(reviewerId.slice(byChannel.length))}` : 'A reviewer';
      return `${who} approved this call and wrote: ${escapeJson(shortened(words, longestReason))}.`;
    })
    .join(' ');
}

function valueText(args: JsonObject, name: string): string {
  const value = Object.hasOwn(args, name) ? args[name] : undefined;
  return value === undefined ? 'nothing' : JSON.stringify(value);
}
