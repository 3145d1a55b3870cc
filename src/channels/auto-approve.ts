import type { Channel } from './channel.ts';
import { answerTo, type ReasonOptions } from './reason.ts';

/**
 * A channel that approves everything at once. For tests, trials and sandboxes only. A rule that names reviewers refuses
 * it, unless it names `channel:NAME`.
 *
 * @example See {@link conditional}, which approves some calls only.
 */
export function autoApprove({ reason = 'Approved automatically.' }: ReasonOptions = {}): Channel {
  return { resolve: (request) => answerTo(request, true, reason) };
}
