import { checkOptions } from '../agents/check-options.ts';
import type { Channel } from './channel.ts';
import { answerTo, type ReasonOptions } from './answer-reason.ts';

/**
 * A channel that denies everything at once, for unattended runs. The model gets the reason.
 * Throws a `DefinitionError` for an unknown option.
 *
 * @example See {@link conditional}, which can deny what it does not approve.
 */
export function autoDeny(options: ReasonOptions = {}): Channel {
  checkOptions('autoDeny', options, { reason: true });
  const { reason = 'Denied automatically: nobody is here to approve it.' } = options;
  return { resolve: (request) => answerTo(request, false, reason) };
}
