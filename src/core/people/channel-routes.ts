import { type Directory, membersOf } from './directory.ts';
import { nfc } from '../base/normal-text.ts';

/** Which channels carry the requests of a run. The run records them at its start, as its worker has them. */
export interface ChannelRoutes {
  /** The channels of the worker, by name. `timeoutMs`: how long a request that has this channel alone stays open. */
  channels: Record<string, { timeoutMs?: number }>;
  /** The channels of a request whose reviewers have no route, and of one that anyone may decide. */
  default: readonly string[];
  /** The channels of a person, or of `group:NAME`. A group without a route has those of its members. */
  reviewers?: Record<string, readonly string[]>;
}

/**
 * The names of the channels of a request, each once. `asked`: the people and groups who are asked. `chosen`: the channels
 * to which the run was switched; they take the place of all routes. Names without a channel are left out.
 */
export function channelsFor(
  routes: ChannelRoutes,
  {
    asked,
    directories,
    chosen,
  }: { asked: readonly string[]; directories: readonly Directory[]; chosen?: readonly string[] },
): string[] {
  const routed = chosen ?? asked.flatMap((name) => routeOf(routes, name, directories));
  const names = routed.length > 0 || chosen !== undefined ? routed : routes.default;
  return [...new Set(names)].filter((name) => Object.hasOwn(routes.channels, name));
}

/** How long a request with these channels stays open at most; undefined: its policy alone says so. */
export function channelTimeoutMs({ channels }: ChannelRoutes, names: readonly string[]): number | undefined {
  const timeouts = names.map((name) => channels[name]?.timeoutMs ?? Infinity);
  const longest = Math.max(...timeouts);
  return names.length === 0 || longest === Infinity ? undefined : longest;
}

function routeOf(
  { reviewers = {} }: ChannelRoutes,
  name: string,
  directories: readonly Directory[],
): readonly string[] {
  const own = named(reviewers, name);
  if (own !== undefined) return own;
  if (!name.startsWith('group:')) return [];
  return directories.flatMap((directory) => membersOf(directory, [name]).flatMap((id) => named(reviewers, id) ?? []));
}

/** Names are compared in Unicode NFC, as everywhere. */
function named(reviewers: Record<string, readonly string[]>, name: string): readonly string[] | undefined {
  const id = nfc(name);
  return Object.entries(reviewers).find(([each]) => nfc(each) === id)?.[1];
}
