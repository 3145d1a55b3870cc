import { checkOptions, DefinitionError } from '../agents/check-options.ts';
import { type Channel, type ChannelFunction, type ChannelRequest, type TestContext, stepKinds } from './channel.ts';
import { answerTo, type ReasonOptions, checkAnswer, answerReason, exceeds, whatWasShown } from './channel-answer.ts';
import { aborted } from '../text/aborted.ts';
import { severities, type Severity } from '../core/base/tool-call.ts';
import type { OptionNames } from '../text/check-call-options.ts';
import { z } from 'zod';
import { type ChannelKind, durationShape } from './channel-kind.ts';
import { consoleChannel } from './console-channel.ts';

/**
 * Creates a channel that approves everything at once, for tests, trials and sandboxes only. The run refuses its
 * approval if the policy's rule names reviewers other than `channel:NAME`. Throws a `DefinitionError` for an unknown
 * option.
 *
 * @example See {@link conditional}, which approves some calls only.
 */
export function autoApprove(options: ReasonOptions = {}): Channel {
  checkOptions('autoApprove', options, { reason: true });
  const { reason } = options;
  return { resolve: (request) => answerTo(request, true, reason) };
}

/**
 * Creates a channel that denies everything at once, for unattended runs. The model gets the reason. Throws a
 * `DefinitionError` for an unknown option.
 *
 * @example See {@link conditional}, which can deny what it does not approve.
 */
export function autoDeny(options: ReasonOptions = {}): Channel {
  checkOptions('autoDeny', options, { reason: true });
  const { reason = 'Denied automatically: no reviewer is available.' } = options;
  return { resolve: (request) => answerTo(request, false, reason) };
}

/**
 * Creates a channel that calls a function on the worker for each answer. `reason` is for answers without one. If the
 * function throws, the call is denied (docs/channels.md). Throws a `DefinitionError` for an unknown option.
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

/** Options of `conditional`. */
export interface ConditionalOptions extends ReasonOptions {
  /** Calls below this severity are approved: with `medium`, those that are safe or low. */
  below: Severity;
  /** The channel that gets the requests for all other calls. */
  otherwise: Channel | ChannelFunction;
}

/**
 * Creates a channel that approves calls below a severity at once, without a notification. The channel `otherwise` gets
 * all other requests, and those for which one automatic approval is not enough, because a rule requires certain people
 * or several. Throws a `DefinitionError` for an unknown severity or option.
 *
 * @example
 * ```ts
 * import { autoDeny, conditional } from 'countersign/channels';
 *
 * const night = conditional({
 *   below: 'medium',
 *   reason: ({ assessment }) => `Approved automatically: its severity is ${assessment.severity}.`,
 *   otherwise: autoDeny({ reason: 'No reviewer works at night. Try again after 8:00.' }),
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
  const isBelow = ({ assessment: { severity } }: ChannelRequest): boolean =>
    severity !== below && !exceeds(severity, below);
  return {
    isAutomatic: isBelow,
    ...(other.check && { check: () => other.check!() }),
    ...(other.reach && { reach: (signal: AbortSignal) => other.reach!(signal) }),
    ...(other.test && { test: (context: TestContext) => other.test!(context) }),
    ...(other.notify && { notify: (...args) => other.notify!(...args) }),
    resolve: (request, signal, context) => {
      // With `refused`, the automatic approval was not enough: a rule requires certain people, or several.
      if (isBelow(request) && context.refused === undefined) return answerTo(request, true, reason);
      // Without `resolve`, the other channel only notifies people, who answer elsewhere. Wait until the signal aborts.
      return other.resolve === undefined ? aborted(signal) : other.resolve(request, signal, context);
    },
    ...(other.settled && { settled: (...args) => other.settled!(...args) }),
    ...(other.receive && { receive: (...args) => other.receive!(...args) }),
    ...(other.caller && { caller: other.caller }),
    ...(other.steps !== undefined && { steps: other.steps }),
    ...(other.batch !== undefined && { batch: other.batch }),
    ...(other.retries !== undefined && { retries: other.retries }),
    ...(other.timeoutMs !== undefined && { timeoutMs: other.timeoutMs }),
  };
}

const checks = { check: true, reach: true, test: true } as const;
const calls = { notify: true, isAutomatic: true, resolve: true, settled: true, caller: true, receive: true } as const;
const settings = { batch: true, steps: true, retries: true, timeoutMs: true } as const;
const memberNames: OptionNames<Channel> = { ...checks, ...calls, ...settings };

/**
 * Returns a channel as it is, and converts a function to one. Throws a `DefinitionError` for anything else, such as a
 * channel with a member of a wrong type, or a plain object with an unknown member.
 *
 * @example
 * ```ts
 * import { toChannel } from 'countersign/channels';
 *
 * const channel = toChannel(({ toolName }) => toolName !== 'delete_database');
 * console.log(toChannel(channel) === channel); // true
 * ```
 */
export function toChannel(source: Channel | ChannelFunction): Channel {
  if (typeof source === 'function') return callback(source);
  if (typeof source !== 'object' || source === null) {
    throw new DefinitionError('A channel is a function, or an object with notify, resolve or settled.');
  }
  const { caller, timeoutMs, steps } = source;
  if ((['notify', 'resolve', 'settled', 'caller'] as const).every((name) => source[name] === undefined)) {
    throw new DefinitionError('A channel has at least one of notify, resolve, settled and caller.');
  }
  if (caller !== undefined && !(typeof caller?.notify === 'function' && typeof caller.settled === 'function')) {
    throw new DefinitionError(`A channel's caller is an object with the functions notify and settled.`);
  }
  if (caller !== undefined && isPlain(caller)) {
    checkOptions(`A channel's caller`, caller, { knows: true, notify: true, settled: true });
  }
  for (const name of ['notify', 'resolve', 'settled', 'check', 'reach', 'test'] as const) {
    const value: unknown = source[name];
    if (value === undefined || typeof value === 'function') continue;
    throw new DefinitionError(`A channel's ${name} is a function.`);
  }
  if (steps !== undefined && !(Array.isArray(steps) && steps.every((each) => stepKinds.includes(each)))) {
    throw new DefinitionError(`A channel's steps is a list of ${stepKinds.join(', ')}.`);
  }
  if (timeoutMs !== undefined && !(Number.isFinite(timeoutMs) && timeoutMs > 0)) {
    throw new DefinitionError(`A channel's timeoutMs is a number of milliseconds above 0.`);
  }
  // Check the names only in a plain object: an instance of a class may have further members.
  if (isPlain(source)) checkOptions('A channel', source, memberNames);
  return source;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

const longestReason = 2_000;
const reason = z.string().max(longestReason, `must have at most ${longestReason} characters`).optional();
const reasonShape = z.strictObject({ reason });
const conditionalShape = z.strictObject({ below: z.enum(severities), otherwise: z.string(), reason });
const consoleShape = z.strictObject({ timeout: durationShape('365d').optional() });

const conditionalKind: ChannelKind<z.infer<typeof conditionalShape>> = {
  shape: conditionalShape,
  refersTo: ['otherwise'],
  make: async ({ otherwise, ...rest }, context) =>
    conditional({ ...rest, otherwise: await context.channel(otherwise) }),
};
const consoleKind: ChannelKind<z.infer<typeof consoleShape>> = {
  shape: consoleShape,
  make: ({ timeout }) => consoleChannel({ timeoutMs: timeout }),
};

/** The kinds of channels that need no optional package, by their names in channel files. */
export const simpleKinds: Readonly<Record<string, ChannelKind>> = {
  auto_approve: { shape: reasonShape, make: (members) => autoApprove(members as ReasonOptions) },
  auto_deny: { shape: reasonShape, make: (members) => autoDeny(members as ReasonOptions) },
  conditional: conditionalKind,
  console: consoleKind,
};
