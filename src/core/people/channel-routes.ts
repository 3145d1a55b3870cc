import { membersOf, personKey, type Directory, type PersonKey } from './directory.ts';
import { severities, type Severity } from '../base/tool-call.ts';
import { severityRank } from '../assess/assessment.ts';
import { type Glob, globMatches, globSubject } from '../match/glob.ts';
import { compileFieldGlob, compilePattern } from '../match/matching.ts';

/** Which channels carry the requests of a run. The run records the routes of its worker at its start. */
export interface ChannelRoutes {
  /** The worker's channels, by name. `timeoutMs`: how long a request stays open that no other channel carries. */
  channels: Record<string, { timeoutMs?: number }>;
  /** The channels of a request that no route matches. */
  default: readonly string[];
  /** The channels of a person, or of `group:NAME`. A group that is not listed has the channels of its members. */
  reviewers?: Record<string, readonly string[]>;
  /** The channels of requests by tool, agent and severity. Every route that matches counts. */
  requests?: readonly RequestRoute[];
}

/** The channels of the requests that meet all conditions of this route. */
export interface RequestRoute {
  /** A glob of names of tools, as in a policy. */
  tool?: string;
  /** A glob of names of agents. */
  agent?: string;
  minSeverity?: Severity;
  channels: readonly string[];
}

/** The members of a request that a route compares. */
export interface RoutedRequest {
  toolName: string;
  agentName: string;
  severity: Severity;
}

/**
 * The channels of a request that the worker has: those of every matching route, or else the default. `asked`: people
 * and groups. `ofRequest`: by `requestRoutes`. `chosen`: the channels of a `setPolicy`, which replace all routes.
 */
export function channelsFor(
  routes: ChannelRoutes,
  request: {
    asked: readonly string[];
    directories: readonly Directory[];
    ofRequest?: readonly string[];
    chosen?: readonly string[];
    keyOf?: PersonKey;
  },
): string[] {
  const { asked, directories, ofRequest = [], chosen, keyOf = personKey } = request;
  const routed = chosen ?? [...asked.flatMap((name) => routeOf(routes, name, directories, keyOf)), ...ofRequest];
  const names = routed.length > 0 || chosen !== undefined ? routed : routes.default;
  return [...new Set(names)].filter((name) => Object.hasOwn(routes.channels, name));
}

/** Compiles the routes of requests. Returns a function that gives the channels of all routes that match a request. */
export function requestRoutes({ requests = [] }: ChannelRoutes): (request: RoutedRequest) => string[] {
  const compiled = requests.map(({ tool = '*', agent = '*', minSeverity = 'safe', channels }) => {
    const [ofTool, ofAgent] = [matcherOf(globOfTool(tool)), matcherOf(compileFieldGlob(agent))];
    const matches = ({ toolName, agentName, severity }: RoutedRequest): boolean =>
      severityRank(severity) >= severityRank(minSeverity) && ofTool(toolName) && ofAgent(agentName);
    return { matches, channels };
  });
  return (request) => compiled.flatMap(({ matches, channels }) => (matches(request) ? channels : []));
}

/** Returns a matcher that accepts a name it cannot compare: one message too many is better than a lost one. */
function matcherOf(glob: Glob | { problem: string }): (name: string) => boolean {
  return (name) => 'problem' in glob || globMatches(glob, globSubject(name)) !== false;
}

/** Why a route of requests is refused, as a clause about `member`, or about the whole route. */
export function requestRouteProblem({
  tool,
  agent,
  minSeverity,
}: Omit<RequestRoute, 'channels'>): { member?: keyof RequestRoute; problem: string } | undefined {
  if (tool === undefined && agent === undefined && minSeverity === undefined) {
    return { problem: 'must say which requests it carries: by tool, by agent or by severity' };
  }
  const ofTool = tool === undefined ? undefined : globOfTool(tool);
  if (ofTool !== undefined && 'problem' in ofTool) return { member: 'tool', problem: ofTool.problem };
  const ofAgent = agent === undefined ? undefined : compileFieldGlob(agent);
  if (ofAgent !== undefined && 'problem' in ofAgent) return { member: 'agent', problem: ofAgent.problem };
  if (minSeverity === undefined || severities.includes(minSeverity)) return undefined;
  return { member: 'minSeverity', problem: `must be one of ${severities.join(', ')}` };
}

function globOfTool(pattern: string): Glob | { problem: string } {
  const compiled = compilePattern(pattern);
  if ('problem' in compiled) return compiled;
  return compiled.args === undefined
    ? compiled.name
    : { problem: `holds a ':': a route matches names of tools, so leave it out with what follows` };
}

/** The longest time-out of these channels; undefined, for no limit, if one has none or there are no channels. */
export function channelTimeoutMs({ channels }: ChannelRoutes, names: readonly string[]): number | undefined {
  const timeouts = names.map((name) => channels[name]?.timeoutMs ?? Infinity);
  const longest = Math.max(...timeouts);
  return names.length === 0 || longest === Infinity ? undefined : longest;
}

/** The channels of one reviewer; empty if none are listed. A group without channels of its own has its members'. */
function routeOf(
  { reviewers = {} }: ChannelRoutes,
  name: string,
  directories: readonly Directory[],
  keyOf: PersonKey,
): readonly string[] {
  const own = listedUnder(reviewers, name, keyOf);
  if (own !== undefined) return own;
  if (!name.startsWith('group:')) return [];
  return directories.flatMap((directory) =>
    membersOf(directory, [name], keyOf).flatMap((id) => listedUnder(reviewers, id, keyOf) ?? []),
  );
}

/** The channels listed under a name, in any spelling of it; undefined if there are none. */
function listedUnder(
  reviewers: Record<string, readonly string[]>,
  name: string,
  keyOf: PersonKey,
): readonly string[] | undefined {
  const key = keyOf(name);
  return Object.entries(reviewers).find(([each]) => keyOf(each) === key)?.[1];
}
