import { checkOptions, DefinitionError } from '../agents/check-options.ts';
import { type ChannelRoutes, requestRouteProblem, type RequestRoute } from '../core/people/channel-routes.ts';
import type { KnownChannels } from '../policy-file/lint-channels.ts';
import { type Channel, type ChannelFunction, stepKinds } from './channel.ts';
import { errorText } from './outgoing/not-taken.ts';
import { quietHoursProblem, type QuietHours } from './quiet-hours.ts';
import { toChannel } from './simple-channels.ts';

/** The channels of a worker, and the requests that each carries. */
export interface ChannelOptions {
  /** By name: 1 to 64 of `a-z`, `0-9`, `-` and `_`. Any function that answers is a channel. Default: none. */
  channels?: Readonly<Record<string, Channel | ChannelFunction>>;
  /**
   * The routes of requests to channels: a table, or a function that is called for each run, which begins only when it
   * has recorded the result. An error is retried.
   */
  routes?: Partial<WorkerRoutes> | (() => Partial<WorkerRoutes> | Promise<Partial<WorkerRoutes>>);
  /**
   * The hours in which channels send no notifications. Channels without `notify`, and automatic answers, ignore them;
   * other channels are called after their notification. Default: no such hours.
   */
  quietHours?: QuietHours;
  /** The quiet hours of single channels, by name, in place of `quietHours`. `false`: no quiet hours. */
  quietHoursOf?: Readonly<Record<string, QuietHours | false>>;
  /** How long a channel with `batch` collects the requests of a run before it is called, in milliseconds. Default 0. */
  batchMs?: number;
}

export interface ChannelSet {
  channels: ReadonlyMap<string, Channel>;
  /** Returns the routes of a run that starts now. Throws a `DefinitionError` for invalid routes. */
  routes: () => Promise<ChannelRoutes>;
  /** The routes, if all runs have the same. Absent: a function makes them for each run. */
  table?: ChannelRoutes;
  /** Returns the quiet hours of a channel; undefined if it has none. */
  quietHoursOf: (name: string) => QuietHours | undefined;
  batchMs: number;
}

/** In the workflow that carries requests, the suffix of a channel's name for its messages to callers. */
export const ofCallers = ':caller';

const nameForm = /^[a-z0-9_-]{1,64}$/;
const longestBatchMs = 600_000;

/**
 * The checked channels of a worker; undefined if it has none. Throws a `DefinitionError` for invalid names and routes.
 */
export function channelSetOf(options: ChannelOptions): ChannelSet | undefined {
  const { routes = {}, quietHours, quietHoursOf = {}, batchMs = 0 } = options;
  const channels = new Map(Object.entries(options.channels ?? {}).map(([name, each]) => [name, toChannel(each)]));
  for (const name of channels.keys()) {
    if (!nameForm.test(name)) {
      throw new DefinitionError(`'${name}' is not a valid name of a channel: write 1 to 64 of a-z, 0-9, - and _`);
    }
  }
  if (!(batchMs >= 0 && batchMs <= longestBatchMs)) {
    throw new DefinitionError(`batchMs must be a number from 0 to ${longestBatchMs}`);
  }
  for (const [name, channel] of channels) checkChannel(name, channel);
  if (quietHours !== undefined) checkQuietHours('quietHours', quietHours);
  for (const [name, hours] of Object.entries(quietHoursOf)) {
    if (!channels.has(name)) throw new DefinitionError(`quietHoursOf ${unknownChannel(name)}`);
    if (hours !== false) checkQuietHours(`quietHoursOf.${name}`, hours);
  }
  const ofChannel = (name: string): QuietHours | undefined =>
    Object.hasOwn(quietHoursOf, name) ? quietHoursOf[name] || undefined : quietHours;
  // A table of routes is validated at once; the result of a function is validated when it returns.
  const table = typeof routes === 'function' ? undefined : routesOf(channels, routes);
  const routesOfRun = async (): Promise<ChannelRoutes> =>
    typeof routes === 'function' ? routesOf(channels, await routes()) : table!;
  return channels.size === 0 ? undefined : { channels, routes: routesOfRun, table, quietHoursOf: ofChannel, batchMs };
}

function checkQuietHours(place: string, hours: QuietHours): void {
  const known = { from: true, to: true, timeZone: true, workdays: true, holidays: true, above: true } as const;
  checkOptions(place, hours, known);
  refuse(place, quietHoursProblem(hours));
}

/** Throws a `DefinitionError` for a problem, if there is one. */
function refuse(place: string, found: { member?: string; problem: string } | undefined): void {
  if (found === undefined) return;
  throw new DefinitionError(`${place}${found.member === undefined ? '' : `.${found.member}`} ${found.problem}`);
}

/**
 * What a policy is checked against: the steps that each channel sends, and the routes. Without channels nothing is
 * sent.
 */
export function knownChannelsOf(set: ChannelSet | undefined): KnownChannels {
  const stepsOf = (channel: Channel): readonly string[] =>
    channel.notify === undefined ? [] : (channel.steps ?? stepKinds);
  const steps = [...(set?.channels ?? [])].map(([name, channel]) => [name, stepsOf(channel)] as const);
  return { steps: new Map(steps), routes: set?.table };
}

function checkChannel(name: string, channel: Channel): void {
  try {
    channel.check?.();
  } catch (cause) {
    throw new DefinitionError(`channel '${name}': ${errorText(cause)}`, { cause });
  }
}

/**
 * The routes of a worker. By default, requests go to all channels that no route names. Throws a `DefinitionError` for
 * an invalid route.
 */
function routesOf(channels: ReadonlyMap<string, Channel>, routes: Partial<WorkerRoutes>): ChannelRoutes {
  checkOptions('routes', routes, { default: true, reviewers: true, requests: true });
  const { reviewers = {}, requests = [] } = routes;
  for (const [index, route] of requests.entries()) {
    checkOptions(`routes.requests[${index}]`, route, { tool: true, agent: true, minSeverity: true, channels: true });
  }
  const ofReviewers = Object.values(reviewers).flat();
  const routed = [...ofReviewers, ...requests.flatMap((route) => route.channels)];
  const { default: others = [...channels.keys()].filter((name) => !routed.includes(name)) } = routes;
  const unknown = [...others, ...routed].find((name) => !channels.has(name));
  if (unknown !== undefined) throw new DefinitionError(`a route ${unknownChannel(unknown)}`);
  for (const [index, route] of requests.entries()) refuse(`routes.requests[${index}]`, requestRouteProblem(route));
  const timeouts = [...channels].map(([name, { timeoutMs }]) => [name, timeoutMs === undefined ? {} : { timeoutMs }]);
  return {
    channels: Object.fromEntries(timeouts) as ChannelRoutes['channels'],
    default: others,
    ...(ofReviewers.length > 0 && { reviewers }),
    ...(requests.length > 0 && { requests }),
  };
}

function unknownChannel(name: string): string {
  return `names the channel '${name}', which does not exist`;
}

/** The routes of requests to channels. */
export interface WorkerRoutes {
  /** The channels of requests for which no route matches. Default: all channels that no route names. */
  default: readonly string[];
  /** The channels of the requests for a reviewer, by person or `group:NAME`. */
  reviewers: Readonly<Record<string, readonly string[]>>;
  /** By tool, agent and severity. All matching routes count, and so do those of reviewers. */
  requests?: readonly RequestRoute[];
}

/** The content of a channel file, as options of a worker. */
export interface ChannelSetUp extends Omit<ChannelOptions, 'channels' | 'routes'> {
  channels: Record<string, Channel>;
  routes: WorkerRoutes;
}
