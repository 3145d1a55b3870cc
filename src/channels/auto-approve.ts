import { checkOptions } from '../agents/check-options.ts';
import type { Channel } from './channel.ts';
import { answerTo, type ReasonOptions } from './answer-reason.ts';

/**
 * A channel that approves everything at once. For tests, trials and sandboxes only. A rule that names reviewers refuses
 * it, unless it names `channel:NAME`.
 * Throws a `DefinitionError` for an unknown option.
 *
 * @example See {@link conditional}, which approves some calls only.
 */
export function autoApprove(options: ReasonOptions = {}): Channel {
  checkOptions('autoApprove', options, { reason: true });
  const { reason } = options;
  return { resolve: (request) => answerTo(request, true, reason) };
}
