import type { Channel, ChannelFunction } from './channel.ts';
import { checkOptions } from '../agents/check-options.ts';
import { checkAnswer } from './check-answer.ts';
import { type ReasonOptions, answerReason } from './answer-reason.ts';
import { whatWasShown } from './what-was-shown.ts';

/**
 * A channel that asks a function on the worker, `(request, signal, context)`, async or not. Its answer may be a bare
 * boolean. `reason` applies to answers without one. An error of the function denies (docs/channels.md).
 * Throws a `DefinitionError` for an unknown option.
 *
 * @example
 * ```ts
 * import { callback } from 'countersign/channels';
 *
 * const small = callback(({ arguments: args }) => Number(args.amount) < 100, {
 *   reason: (_request, approved) => (approved ? 'A small amount' : 'Too much for a function'),
 * });
 * console.log(Object.keys(small)); // [ 'resolve' ]
 * ```
 */
export function callback(answer: ChannelFunction, options: ReasonOptions = {}): Channel {
  checkOptions('callback', options, { reason: true });
  const { reason } = options;
  return {
    resolve: async (request, signal, context) => {
      const given = checkAnswer(await answer(request, signal, context));
      return {
        ...whatWasShown(request),
        ...(reason !== undefined && { reason: answerReason(reason, request, given.approved) }),
        ...given,
      };
    },
  };
}
