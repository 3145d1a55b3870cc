import { checkOptions, DefinitionError } from '../agents/check-options.ts';
import type { OptionNames } from '../text/check-call-options.ts';
import { callback } from './callback.ts';
import { type Channel, type ChannelFunction, stepKinds } from './channel.ts';

const memberNames: OptionNames<Channel> = {
  check: true,
  reach: true,
  test: true,
  notify: true,
  isAutomatic: true,
  resolve: true,
  settled: true,
  caller: true,
  receive: true,
  batch: true,
  steps: true,
  retries: true,
  timeoutMs: true,
};

/**
 * A channel as it is, or a function as a channel. Throws a `DefinitionError` for anything else, for a channel with a member
 * of a wrong type, and for a plain object with an unknown member.
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
  const { caller } = source;
  const members: readonly (readonly [name: string, value: unknown])[] = (['notify', 'resolve', 'settled'] as const)
    .map((name) => [name, source[name]] as const)
    .filter(([, value]) => value !== undefined);
  if (members.length === 0 && caller === undefined) {
    throw new DefinitionError('A channel has at least one of notify, resolve, settled and caller.');
  }
  if (caller !== undefined && !(typeof caller?.notify === 'function' && typeof caller.settled === 'function')) {
    throw new DefinitionError(`A channel's caller is an object with the functions notify and settled.`);
  }
  if (caller !== undefined && isPlain(caller)) {
    checkOptions(`A channel's caller`, caller, { knows: true, notify: true, settled: true });
  }
  for (const [name, value] of members) {
    if (typeof value !== 'function') throw new DefinitionError(`A channel's ${name} is a function.`);
  }
  for (const name of ['check', 'reach', 'test'] as const) {
    const value: unknown = source[name];
    if (value !== undefined && typeof value !== 'function') {
      throw new DefinitionError(`A channel's ${name} is a function.`);
    }
  }
  const { timeoutMs, steps } = source;
  if (steps !== undefined && !(Array.isArray(steps) && steps.every((each) => stepKinds.includes(each)))) {
    throw new DefinitionError(`A channel's steps is a list of ${stepKinds.join(', ')}.`);
  }
  if (timeoutMs !== undefined && !(Number.isFinite(timeoutMs) && timeoutMs > 0)) {
    throw new DefinitionError(`A channel's timeoutMs is a number of milliseconds above 0.`);
  }
  // An instance of a class may have fields of its own.
  if (isPlain(source)) checkOptions('A channel', source, memberNames);
  return source;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
