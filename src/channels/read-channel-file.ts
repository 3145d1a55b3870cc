import { z } from 'zod';
import { severities } from '../core/base/tool-call.ts';
import { requestRouteProblem, type RequestRoute } from '../core/people/channel-routes.ts';
import { quietHoursProblem, type QuietHours } from './quiet-hours.ts';
import { isTimeZone } from '../text/instant-text.ts';
import { durationShape, type ChannelEntry, type ChannelKind, ChannelBuilder, policyInvalid } from './channel-kind.ts';
import { personKey } from '../core/people/directory.ts';
import { type ShapeProblem, prototypeKeys } from '../policy-file/explain-shape.ts';
import { explainWithoutValues } from '../policy-file/explain-shape.ts';
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ProblemError } from '../core/base/problem.ts';
import { formatProblems, type PolicyProblem } from '../policy-file/parse-policy.ts';
import { type PolicyText, readPolicyText } from '../policy-file/text.ts';
import type { Channel } from './channel.ts';
import type { ChannelSetUp } from './channel-set.ts';
import { errorText } from './outgoing/not-taken.ts';
import { nfc } from '../core/base/text.ts';
import { readFault } from '../text/read-fault.ts';

export const channelName = z.string().regex(/^[a-z0-9_-]{1,64}$/, 'must be 1 to 64 characters of a-z, 0-9, - and _');
const longestName = 200;
const reviewer = z
  .string()
  .min(1, 'must not be empty')
  .max(longestName, `must have at most ${longestName} characters`)
  .regex(/^\S(?:.*\S)?$/su, 'must not begin or end with a space');
const listOfNames = z.array(z.string());
const isWithoutRepetition = (names: readonly string[]): boolean => new Set(names).size === names.length;
const repeated = 'must not name a channel twice';
const channelNames = listOfNames.refine(isWithoutRepetition, repeated);
const mostRoutes = 100;
/** A route with conditions. `requestRouteProblem` checks them, as it does for a worker's options. */
const requestRoute = z
  .strictObject({
    tool: z.string().optional(),
    agent: z.string().optional(),
    min_severity: z.enum(severities).optional(),
    channels: listOfNames.min(1, 'must name a channel').refine(isWithoutRepetition, repeated),
  })
  .superRefine(({ tool, agent, min_severity: minSeverity }, context) =>
    addProblem(context, requestRouteProblem({ tool, agent, minSeverity })),
  );
const quietHours = z
  .strictObject({
    from: z.string().optional(),
    to: z.string().optional(),
    time_zone: z.string(),
    workdays: z.array(z.string()).optional(),
    holidays: z.array(z.string()).optional(),
    above: z.enum(severities).optional(),
  })
  .superRefine((written, context) => addProblem(context, quietHoursProblem(quietHoursOf(written))));

function addProblem(context: z.RefinementCtx, found: { member?: string; problem: string } | undefined): void {
  if (found === undefined) return;
  const path = found.member === undefined ? [] : [found.member === 'timeZone' ? 'time_zone' : found.member];
  context.addIssue({ code: 'custom', message: found.problem, path });
}

export const timeZoneShape = z.string().refine(isTimeZone, 'must be a time zone that exists, such as Europe/Berlin');

/** The schema of a channel file, without the members that each kind of channel defines. */
export const channelFileShape = z.strictObject({
  channels: z.record(
    channelName,
    z.looseObject({ kind: z.string(), quiet_hours: z.union([quietHours, z.literal(false)]).optional() }),
  ),
  routes: z
    .strictObject({
      default: channelNames,
      reviewers: z.record(reviewer, channelNames).optional(),
      requests: z.array(requestRoute).max(mostRoutes, `must have at most ${mostRoutes} routes`).optional(),
    })
    .optional(),
  quiet_hours: quietHours.optional(),
  batch: durationShape('1h').optional(),
});

export type ChannelDocument = z.infer<typeof channelFileShape>;
type Entries = Pick<ChannelDocument, 'channels' | 'routes'>;

/** Converts quiet hours of a file to the member names of `QuietHours`. It does not validate the values. */
export function quietHoursOf({ time_zone: timeZone, ...hours }: z.infer<typeof quietHours>): QuietHours {
  return { ...hours, timeZone } as QuietHours;
}

/** Returns the valid entries of a channel file, and the problems of the other entries and of the routes. */
export async function readEntries(
  document: Entries,
  kinds: Readonly<Record<string, ChannelKind>>,
): Promise<{ entries: Map<string, ChannelEntry>; problems: ShapeProblem[] }> {
  const entries = new Map<string, ChannelEntry>();
  const problems = routeProblems(document);
  for (const [name, { kind: kindName, quiet_hours: _, ...members }] of Object.entries(document.channels)) {
    const kind = Object.hasOwn(kinds, kindName) ? kinds[kindName]! : undefined;
    if (kind === undefined) {
      problems.push({ path: ['channels', name, 'kind'], message: unknownKind(kindName, kinds) });
      continue;
    }
    const parsed = await kind.shape.safeParseAsync(members);
    if (!parsed.success) {
      const entry = { document: members, shape: kind.shape, what: `channel '${name}'` };
      const found = explainWithoutValues(parsed.error, entry);
      problems.push(...found.map((problem) => ({ ...problem, path: ['channels', name, ...problem.path] })));
      continue;
    }
    entries.set(name, { kind, members: parsed.data });
    for (const member of kind.refersTo ?? []) {
      const other = String((parsed.data as Record<string, unknown>)[member]);
      problems.push(...unknownChannel(document, other, ['channels', name, member]));
    }
  }
  return { entries, problems };
}

/** Returns the message about a kind that no file can have. For two known names, it says what to use instead. */
function unknownKind(name: string, kinds: Readonly<Record<string, ChannelKind>>): string {
  if (name === 'callback') {
    return `a callback is a function, which no file can hold: give it to createWorker as channels: { NAME: function }`;
  }
  if (name === 'pager_duty') {
    return `there is no kind 'pager_duty' any more: the entry for PagerDuty in docs/on-call.md, of the kind 'http_template', sends the same events`;
  }
  return `'kind' must be one of ${Object.keys(kinds).join(', ')}`;
}

function unknownChannel({ channels }: Entries, name: string, path: readonly PropertyKey[]): ShapeProblem[] {
  if (Object.hasOwn(channels, name)) return [];
  return [{ path, message: `there is no channel '${name.slice(0, 64)}'` }];
}

/** The problems of routes: unknown channels, and a reviewer who appears twice, in two spellings. */
function routeProblems(document: Entries): ShapeProblem[] {
  const { routes } = document;
  if (routes === undefined) return [];
  const unknown = (names: readonly string[], path: readonly PropertyKey[]): ShapeProblem[] =>
    names.flatMap((name, index) => unknownChannel(document, name, [...path, index]));
  const reviewers = Object.entries(routes.reviewers ?? {});
  const keys = reviewers.map(([name]) => personKey(name));
  return [
    ...unknown(routes.default, ['routes', 'default']),
    ...(routes.requests ?? []).flatMap((route, index) =>
      unknown(route.channels, ['routes', 'requests', index, 'channels']),
    ),
    ...reviewers.flatMap(([name, names], index): ShapeProblem[] => {
      const path = ['routes', 'reviewers', name];
      const isRepeated = keys.indexOf(keys[index]!) < index;
      if (!isRepeated) return unknown(names, path);
      return [{ path, message: `'${name}' appears twice, in two spellings`, part: 'key' }];
    }),
  ];
}

type Placed = Pick<PolicyText, 'placeOf'> & { file: string };

/** Reads a channel file. `source` is its path or its text. Throws `policy_invalid` with all problems. */
export async function readChannelFile(
  source: string,
  kinds: Readonly<Record<string, ChannelKind>>,
): Promise<ChannelSetUp> {
  const { text, file } = loadChannelSource(source);
  const read = readPolicyText(text, 'channel file');
  if ('problems' in read) throw fileError(file, read.problems);
  const placed: Placed = { placeOf: (path, part) => read.placeOf(path, part), file };
  const parsed = channelFileShape.safeParse(read.value);
  const badKeys = prototypeKeys(read.value);
  if (!parsed.success || badKeys.length > 0) {
    const whole = { document: read.value, shape: channelFileShape, what: 'a channel file' };
    const badShapes = parsed.success ? [] : explainWithoutValues(parsed.error, whole);
    throw shapeError(placed, [...badKeys, ...badShapes, ...(await problemsOfChannels(read.value, kinds))]);
  }
  const { entries, problems } = await readEntries(parsed.data, kinds);
  if (problems.length > 0) throw shapeError(placed, problems);
  return setUpOf(parsed.data, entries, placed);
}

/** Returns the problems inside the entries of an invalid file, so that one error reports all problems. */
async function problemsOfChannels(
  document: unknown,
  kinds: Readonly<Record<string, ChannelKind>>,
): Promise<ShapeProblem[]> {
  const shaped = channelFileShape.pick({ channels: true, routes: true }).strip().safeParse(document);
  return shaped.success ? (await readEntries(shaped.data, kinds)).problems : [];
}

/** Reads the file if `source` is one line with the ending of a file name. Otherwise `source` is the text itself. */
function loadChannelSource(source: string): { text: string; file: string } {
  if (!/^[^\n]+\.(ya?ml|json)$/.test(source)) return { text: source, file: 'channels' };
  if (!existsSync(source)) throw policyInvalid(`channels: no file ${resolve(source)}`);
  try {
    return { text: readFileSync(source, 'utf8'), file: source };
  } catch (error) {
    throw policyInvalid(`channels: ${resolve(source)} cannot be read: ${readFault(error)}`);
  }
}

/** Makes the channels of a file. Throws one error with the problems of all channels that cannot be made. */
async function setUpOf(
  { channels, routes, quiet_hours: quiet, batch }: ChannelDocument,
  entries: ReadonlyMap<string, ChannelEntry>,
  placed: Placed,
): Promise<ChannelSetUp> {
  const builder = new ChannelBuilder(entries);
  const made = new Map<string, Channel>();
  const problems: ShapeProblem[] = [];
  for (const name of Object.keys(channels)) {
    try {
      made.set(name, await builder.make(name));
    } catch (cause) {
      problems.push({ path: ['channels', name], message: `channel '${name}': ${errorText(cause)}`, part: 'key' });
    }
  }
  if (problems.length > 0) throw shapeError(placed, problems);
  // By default, a channel to which another refers gets no requests of its own.
  const needed = builder.needed();
  const ownQuietHours = Object.entries(channels).flatMap(
    ([name, { quiet_hours: hours }]): [string, QuietHours | false][] =>
      hours === undefined ? [] : [[name, hours && quietHoursOf(hours)]],
  );
  return {
    channels: Object.fromEntries(made),
    routes: {
      default: routes?.default ?? [...made.keys()].filter((name) => !needed.has(name)),
      reviewers: Object.fromEntries(Object.entries(routes?.reviewers ?? {}).map(([name, names]) => [nfc(name), names])),
      ...(routes?.requests !== undefined && { requests: routes.requests.map(routeOf) }),
    },
    ...(quiet !== undefined && { quietHours: quietHoursOf(quiet) }),
    ...(ownQuietHours.length > 0 && { quietHoursOf: Object.fromEntries(ownQuietHours) }),
    ...(batch !== undefined && { batchMs: batch }),
  };
}

function routeOf({
  min_severity: minSeverity,
  ...route
}: NonNullable<NonNullable<ChannelDocument['routes']>['requests']>[number]): RequestRoute {
  return minSeverity === undefined ? route : { ...route, minSeverity };
}

function shapeError({ placeOf, file }: Placed, problems: readonly ShapeProblem[]): ProblemError {
  const placed = problems.map(({ path, message, part }) => ({ ...placeOf(path, part), message }));
  return fileError(file, placed);
}

function fileError(file: string, problems: readonly Omit<PolicyProblem, 'path'>[]): ProblemError {
  const sorted = problems.toSorted(
    (one, other) => (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0),
  );
  const lines = sorted.map((each) => ({ ...each, path: '' }));
  return policyInvalid(formatProblems(file, lines));
}
