import { formatDuration } from '../core/base/duration.ts';
import { type ChannelRoutes, channelsFor } from '../core/people/channel-routes.ts';
import { type Directory, groupOf, membersOf } from '../core/people/directory.ts';
import type { DueStep } from '../core/ledger/escalation.ts';
import type { Policy, Rule } from '../core/policy/policy.ts';
import { compileFor } from './condition-constants.ts';
import { globsOverlap } from './globs-overlap.ts';
import type { PolicyWarning } from './lint-names.ts';
import { limitsOf } from '../core/policy/limits.ts';

/** The known facts of a worker's channels before a run starts. */
export interface KnownChannels {
  /** The steps that each channel sends, by its name. */
  steps: ReadonlyMap<string, readonly string[]>;
  /** The routes of requests. Absent: a function makes them for each run. */
  routes?: ChannelRoutes;
}

/** Warnings about steps that certainly no channel sends. `others`: other directories, which may have a group. */
export function lintChannels(
  policy: Policy,
  owner: 'ceiling' | 'agent' | 'run',
  known: KnownChannels,
  others: readonly Directory[] = [],
): PolicyWarning[] {
  const directories = [...(policy.directory === undefined ? [] : [policy.directory]), ...others];
  return compileFor(policy, owner).rules.flatMap(({ id, pattern }, index): PolicyWarning[] => {
    const rule = policy.rules[index]!;
    if ('problem' in pattern) return [];
    const possible = possibleChannels(rule, pattern.name.source, known, directories);
    const isSent = (kind: DueStep['kind'], names: readonly string[]): boolean =>
      names.some((name) => known.steps.get(name)?.includes(kind));
    const unsent = stepsOf(rule).filter(({ kind }) => !isSent(kind, possible));
    if (unsent.length === 0) return [];
    const isRouted = unsent.every(({ kind }) => isSent(kind, [...known.steps.keys()]));
    const remedy = isRouted
      ? `which no channel of its requests sends to people: add one to 'routes'`
      : `which no channel of the worker sends to people: add one to 'channels'`;
    const what = unsent.map(({ text }) => text).join(', ');
    return [{ index, rule: id, message: `rule ${id} ${what}, ${remedy}; else only the worker's log has it` }];
  });
}

/** Warnings about steps of a policy's requests that come too late, as `lateSteps` finds them. */
export function lintLateSteps(policy: Policy, of: 'ceiling' | 'agent' | 'run', ceiling?: Policy): PolicyWarning[] {
  return compileFor(policy, of).rules.flatMap(({ id }, index): PolicyWarning[] =>
    lateSteps(policy.rules[index]!, policy, of, ceiling).map((problem) => ({
      index,
      rule: id,
      message: `rule ${id} ${problem}`,
    })),
  );
}

/** The reminders, escalations and warnings of a rule, each as a clause. */
function stepsOf({ ask: { remindMs, warnBeforeMs, escalate = [] } = {} }: Rule): {
  kind: DueStep['kind'];
  text: string;
}[] {
  return [
    ...(remindMs === undefined
      ? []
      : [{ kind: 'reminded' as const, text: `reminds every ${formatDuration(remindMs)}` }]),
    ...escalate.map(({ afterMs, to }) => ({
      kind: 'escalated' as const,
      text: `asks ${to.join(', ')} after ${formatDuration(afterMs)}`,
    })),
    ...(warnBeforeMs === undefined
      ? []
      : [{ kind: 'warned' as const, text: `warns ${formatDuration(warnBeforeMs)} before the deadline` }]),
  ];
}

/** The channels that requests of a rule may use, before and after the rule's escalation. */
function possibleChannels(
  { agent, ask: { reviewers = [], oneOfEach = [], escalate = [] } = {} }: Rule,
  tool: string,
  { steps, routes }: KnownChannels,
  directories: readonly Directory[],
): string[] {
  if (routes === undefined) return [...steps.keys()];
  const atFirst = [...reviewers, ...oneOfEach];
  const added = escalate.flatMap(({ to }) => to);
  // Without a known directory, another policy may define the group, so all routes of reviewers are possible.
  const unresolved = directories.length === 0 && [...atFirst, ...added].some((name) => name.startsWith('group:'));
  const matching = (routes.requests ?? []).filter(
    (route) =>
      (agent === undefined || route.agent === undefined || globsOverlap(route.agent, agent)) &&
      (route.tool === undefined || globsOverlap(route.tool, tool)),
  );
  // A request matches none of these routes at least, and all of them at most, so try both.
  const ofRequests = [[], matching.flatMap(({ channels }) => channels)];
  return [
    ...(unresolved ? Object.values(routes.reviewers ?? {}).flat() : []),
    ...[atFirst, [...atFirst, ...added]].flatMap((asked) =>
      ofRequests.flatMap((ofRequest) => channelsFor(routes, { asked, directories, ofRequest })),
    ),
  ];
}

/**
 * Returns, as clauses, the steps of a rule that are due after the time-out, and a quorum that needs people who are
 * asked only then. Such steps come only if a request is extended. `of`: whose policy. `ceiling`: the one above it.
 */
export function lateSteps({ ask }: Rule, policy: Policy, of: 'ceiling' | 'agent' | 'run', ceiling?: Policy): string[] {
  if (ask === undefined) return [];
  const layer: 'ceiling' | 'run' = of === 'ceiling' ? 'ceiling' : 'run';
  // A ruling as `limitsOf` reads it, in which this rule alone asks.
  const asked = { ask: { always: 'call' as const, by: [{ ...ask, rule: null, layer }] } };
  // The time-out without the ceiling. If it is longer than `timeoutMs`, the ceiling shortens it.
  const ownMs = limitsOf({ [layer]: policy }, asked).timeoutMs;
  const { timeoutMs } = limitsOf({ ...(layer === 'run' && ceiling && { ceiling }), [layer]: policy }, asked);
  if (timeoutMs === null) return [];
  const { remindMs, warnBeforeMs, escalate = [], reviewers = [], quorum = 1 } = ask;
  const steps = [
    ...(remindMs === undefined ? [] : [{ what: 'reminds', afterMs: remindMs }]),
    ...escalate.map(({ afterMs, to }) => ({ what: `asks ${to.join(', ')}`, afterMs })),
  ];
  const late = escalate.filter(({ afterMs }) => afterMs >= timeoutMs);
  const inTime = [...reviewers, ...escalate.flatMap((step) => (late.includes(step) ? [] : step.to))];
  // Members of groups are known only if the policy itself has a directory.
  const isKnown = policy.directory !== undefined || inTime.every((name) => groupOf(name) === undefined);
  const count = membersOf(policy.directory, inTime).length;
  const lacksPeople = reviewers.length > 0 && late.length > 0 && isKnown && count < quorum;
  const isShortened = ownMs === null || ownMs > timeoutMs;
  const wait = isShortened
    ? `they wait ${formatDuration(timeoutMs)}, as the operator's policy demands`
    : `they wait ${formatDuration(timeoutMs)}, so set a longer 'timeout'`;
  return [
    ...steps
      .filter(({ afterMs }) => afterMs >= timeoutMs)
      .map(({ what, afterMs }) => `${what} after ${formatDuration(afterMs)}, when its requests have ended: ${wait}`),
    ...(warnBeforeMs !== undefined && warnBeforeMs >= timeoutMs
      ? [`warns ${formatDuration(warnBeforeMs)} before its requests end, which is as they are opened: ${wait}`]
      : []),
    ...(lacksPeople
      ? [`needs ${quorum} approvals, and asks ${count === 1 ? '1 person' : `${count} people`} in time: ${wait}`]
      : []),
  ];
}
