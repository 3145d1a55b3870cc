import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ProblemError } from '../core/base/problem.ts';
import { type ShapeProblem, prototypeKeys } from '../policy-file/explain-shape.ts';
import { explainWithoutValues } from '../policy-file/explain.ts';
import { formatProblems, type PolicyProblem } from '../policy-file/parse-policy.ts';
import { type PolicyText, readPolicyText } from '../policy-file/text.ts';
import type { Channel } from './channel.ts';
import { ChannelBuilder, type ChannelEntry } from './channel-builder.ts';
import { type ChannelDocument, channelFileShape, quietHoursOf } from './channel-file-shape.ts';
import { readEntries } from './channel-entries.ts';
import type { ChannelKind } from './channel-kind.ts';
import type { ChannelSetUp } from './channel-set-up.ts';
import type { QuietHours } from './quiet-hours.ts';
import { policyInvalid } from './policy-invalid.ts';
import { nfc } from '../core/base/text.ts';
import type { RequestRoute } from '../core/people/channel-routes.ts';

type Placed = Pick<PolicyText, 'placeOf'> & { file: string };

/** Reads a channel file whose entries are of these kinds; see `readChannels` of `countersign/channels`. */
export async function readChannelFile(
  source: string,
  kinds: Readonly<Record<string, ChannelKind>>,
): Promise<ChannelSetUp> {
  const { text, file } = textOf(source);
  const read = readPolicyText(text, 'channel file');
  if ('problems' in read) throw invalid(file, read.problems);
  const placed: Placed = { placeOf: (path, part) => read.placeOf(path, part), file };
  const shaped = channelFileShape.safeParse(read.value);
  const badKeys = prototypeKeys(read.value);
  if (!shaped.success || badKeys.length > 0) {
    const what = { document: read.value, shape: channelFileShape, what: 'a channel file' };
    const found = shaped.success ? badKeys : [...badKeys, ...explainWithoutValues(shaped.error, what)];
    throw refused(placed, [...found, ...(await problemsOfChannels(read.value, kinds))]);
  }
  const { entries, problems } = await readEntries(shaped.data, kinds);
  if (problems.length > 0) throw refused(placed, problems);
  return setUpOf(shaped.data, entries, placed);
}

/** What the kinds find in a file whose other members have mistakes, so that all are told at once. */
async function problemsOfChannels(
  document: unknown,
  kinds: Readonly<Record<string, ChannelKind>>,
): Promise<ShapeProblem[]> {
  const shaped = channelFileShape.pick({ channels: true, routes: true }).strip().safeParse(document);
  return shaped.success ? (await readEntries(shaped.data, kinds)).problems : [];
}

function textOf(source: string): { text: string; file: string } {
  if (!/^[^\n]+\.(ya?ml|json)$/.test(source)) return { text: source, file: 'channels' };
  if (existsSync(source)) return { text: readFileSync(source, 'utf8'), file: source };
  throw policyInvalid(`channels: no file ${resolve(source)}`);
}

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
      const message = cause instanceof Error ? cause.message : String(cause);
      problems.push({ path: ['channels', name], message: `channel '${name}': ${message}`, part: 'key' });
    }
  }
  if (problems.length > 0) throw refused(placed, problems);
  const needed = builder.needed();
  const own = Object.entries(channels).flatMap(([name, { quiet_hours: hours }]): [string, QuietHours | false][] =>
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
    ...(own.length > 0 && { quietHoursOf: Object.fromEntries(own) }),
    ...(batch !== undefined && { batchMs: batch }),
  };
}

function routeOf({
  min_severity: minSeverity,
  ...route
}: NonNullable<NonNullable<ChannelDocument['routes']>['requests']>[number]): RequestRoute {
  return minSeverity === undefined ? route : { ...route, minSeverity };
}

function refused({ placeOf, file }: Placed, problems: readonly ShapeProblem[]): ProblemError {
  return invalid(
    file,
    problems.map(({ path, message, part }) => ({ ...placeOf(path, part), message })),
  );
}

function invalid(file: string, problems: readonly Omit<PolicyProblem, 'path'>[]): ProblemError {
  const sorted = problems.toSorted(
    (one, other) => (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0),
  );
  const lines = sorted.map((each) => ({ ...each, path: '' }));
  return policyInvalid(formatProblems(file, lines));
}
