import { DefinitionError, checkOptions } from '../agents/check-options.ts';
import { aborted } from '../text/aborted.ts';
import { severities, type Severity } from '../core/base/tool-call.ts';
import { severityRank } from '../core/assess/assessment.ts';
import type { Channel, ChannelFunction, ChannelRequest, TestContext } from './channel.ts';
import { answerTo, type ReasonOptions } from './answer-reason.ts';
import { toChannel } from './to-channel.ts';

/** Options of `conditional`. */
export interface ConditionalOptions extends ReasonOptions {
  /** Calls of a lower severity are approved: `medium` means safe and low ones. */
  below: Severity;
  /** The channel of all other calls. */
  otherwise: Channel | ChannelFunction;
}

/**
 * A channel that approves calls below a severity at once and tells nobody, and leaves all others to another channel; those
 * too that its approval does not settle, because a rule needs certain people or several. Throws a `DefinitionError` for an
 * unknown severity or option.
 *
 * @example
 * ```ts
 * import { autoDeny, conditional } from 'countersign/channels';
 *
 * const night = conditional({
 *   below: 'medium',
 *   reason: ({ assessment }) => `Approved automatically: its severity is ${assessment.severity}.`,
 *   otherwise: autoDeny({ reason: 'Nobody decides at night. Try again after 8:00.' }),
 * });
 * console.log(Object.keys(night)); // [ 'isAutomatic', 'resolve' ]
 * ```
 */
export function conditional(options: ConditionalOptions): Channel {
  checkOptions('conditional', options, { below: true, otherwise: true, reason: true });
  const { below, otherwise, reason } = options;
  if (!severities.includes(below)) {
    throw new DefinitionError(`conditional: 'below' must be one of ${severities.join(', ')}.`);
  }
  const other = toChannel(otherwise);
  const isBelow = (request: ChannelRequest): boolean => {
    const rank = severityRank(request.assessment.severity);
    // Fail closed: a severity that this version does not know is below none.
    return rank >= 0 && rank < severityRank(below);
  };
  return {
    isAutomatic: isBelow,
    ...(other.check && { check: () => other.check!() }),
    ...(other.reach && { reach: (signal: AbortSignal) => other.reach!(signal) }),
    ...(other.test && { test: (context: TestContext) => other.test!(context) }),
    ...(other.notify && { notify: (...args) => other.notify!(...args) }),
    resolve: (request, signal, context) => {
      // An answer that settled nothing: the rule needs certain people, or several.
      if (isBelow(request) && context.refused === undefined) return answerTo(request, true, reason);
      // Somebody else answers: the request stays open.
      return other.resolve === undefined ? aborted(signal) : other.resolve(request, signal, context);
    },
    ...(other.settled && { settled: (...args) => other.settled!(...args) }),
    ...(other.caller && { caller: other.caller }),
    ...(other.steps !== undefined && { steps: other.steps }),
    ...(other.batch !== undefined && { batch: other.batch }),
    ...(other.retries !== undefined && { retries: other.retries }),
    ...(other.timeoutMs !== undefined && { timeoutMs: other.timeoutMs }),
  };
}
