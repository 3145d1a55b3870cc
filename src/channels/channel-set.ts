import { checkOptions, DefinitionError } from '../agents/check-options.ts';
import { type ChannelRoutes, requestRouteProblem, type RequestRoute } from '../core/people/channel-routes.ts';
import type { KnownChannels } from '../policy-file/lint-channels.ts';
import { type Channel, type ChannelFunction, stepKinds } from './channel.ts';
import { errorText } from './outgoing/not-taken.ts';
import { quietHoursProblem, type QuietHours } from './quiet-hours.ts';
import { toChannel } from './simple-channels.ts';

/** A worker's options for channels: which there are, which requests each gets, and when. */
export interface ChannelOptions {
  /** The channels by name: 1 to 64 of `a-z`, `0-9`, `-` and `_`. A channel may be a function. Default: none. */
  channels?: Readonly<Record<string, Channel | ChannelFunction>>;
  /**
   * The routes of requests to channels. A function is called when a run starts, and again after an error. The run
   * records the result before it begins its work.
   */
  routes?: Partial<WorkerRoutes> | (() => Partial<WorkerRoutes> | Promise<Partial<WorkerRoutes>>);
  /**
   * The hours in which `notify` is not called. A channel's `resolve` waits for its `notify`; it is called at once if
   * the channel has no `notify`, or `isAutomatic` returns true. Default: no quiet hours.
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
  /** The routes that all runs have. Absent if a function returns them for each run. */
  table?: ChannelRoutes;
  /** Returns the quiet hours of the channel with this name; undefined if it has none. */
  quietHoursOf: (name: string) => QuietHours | undefined;
  batchMs: number;
}

/** A suffix for names of channels. The workflow of a run's channels calls `NAME:caller` for notices to the caller. */
export const ofCallers = ':caller';

const nameForm = /^[a-z0-9_-]{1,64}$/;
const longestBatchMs = 600_000;

/** Validates a worker's channels. Undefined if there are none. Throws a `DefinitionError` for an invalid option. */
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
  const hoursOfChannel = (name: string): QuietHours | undefined =>
    Object.hasOwn(quietHoursOf, name) ? quietHoursOf[name] || undefined : quietHours;
  // Validate a table now; the result of a function is validated after each call.
  const table = typeof routes === 'function' ? undefined : routesOf(channels, routes);
  const routesOfRun = async (): Promise<ChannelRoutes> =>
    typeof routes === 'function' ? routesOf(channels, await routes()) : table!;
  if (channels.size === 0) return undefined;
  return { channels, routes: routesOfRun, table, quietHoursOf: hoursOfChannel, batchMs };
}

function checkQuietHours(place: string, hours: QuietHours): void {
  const known = { from: true, to: true, timeZone: true, workdays: true, holidays: true, above: true } as const;
  checkOptions(place, hours, known);
  refuse(place, quietHoursProblem(hours));
}

/** Throws a `DefinitionError` if a check has found a problem. `place` is the path of the checked option. */
function refuse(place: string, found: { member?: string; problem: string } | undefined): void {
  if (found === undefined) return;
  throw new DefinitionError(`${place}${found.member === undefined ? '' : `.${found.member}`} ${found.problem}`);
}

/** Returns what `policy check` must know of the channels: the steps for which each sends a message, and the routes. */
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

/** Validates a worker's routes. By default, a request goes to all channels that no route names. */
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
  /** The channels for requests to a reviewer, by the reviewer's id or `group:NAME`. */
  reviewers: Readonly<Record<string, readonly string[]>>;
  /** Routes by tool, agent and severity. A request goes to all matching routes, also to those of `reviewers`. */
  requests?: readonly RequestRoute[];
}

/** The options of a worker that a channel file contains. */
export interface ChannelSetUp extends Omit<ChannelOptions, 'channels' | 'routes'> {
  channels: Record<string, Channel>;
  routes: WorkerRoutes;
}
