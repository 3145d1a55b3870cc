import { formatDuration } from '../core/base/duration.ts';
import { limitsOf } from '../core/policy/limits.ts';
import type { Policy, Rule } from '../core/policy/policy.ts';
import { groupOf, membersOf } from '../core/people/directory.ts';

/**
 * The steps of a rule's requests that come when these have ended, as clauses: a reminder, a warning or an escalation behind
 * the time-out, and a quorum that needs people who are asked too late. Only an extension of a request lets them come. `of`
 * says whose policy it is.
 */
export function lateSteps({ ask }: Rule, policy: Policy, of: 'ceiling' | 'agent' | 'run'): string[] {
  if (ask === undefined) return [];
  const layer: 'ceiling' | 'run' = of === 'ceiling' ? 'ceiling' : 'run';
  const asked = { ask: { always: 'call' as const, by: [{ ...ask, rule: null, layer }] } };
  const { timeoutMs } = limitsOf({ [layer]: policy }, asked);
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
  const wait = `they wait ${formatDuration(timeoutMs)}, so set 'timeout'`;
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
