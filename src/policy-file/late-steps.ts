import { formatDuration } from '../core/base/duration.ts';
import { limitsOf } from '../core/policy/limits.ts';
import type { Policy, Rule } from '../core/policy/policy.ts';

/**
 * The steps of a rule's requests that come when these have ended, as clauses: a reminder, a warning or an escalation behind
 * the time-out. Only an extension of a request lets them come. `of` says whose policy it is.
 */
export function lateSteps({ ask }: Rule, policy: Policy, of: 'ceiling' | 'agent' | 'run'): string[] {
  if (ask === undefined) return [];
  const layer: 'ceiling' | 'run' = of === 'ceiling' ? 'ceiling' : 'run';
  const asked = { ask: { always: 'call' as const, by: [{ ...ask, rule: null, layer }] } };
  const { timeoutMs } = limitsOf({ [layer]: policy }, asked);
  if (timeoutMs === null) return [];
  const { remindMs, warnBeforeMs, escalate = [] } = ask;
  const steps = [
    ...(remindMs === undefined ? [] : [{ what: 'reminds', afterMs: remindMs }]),
    ...escalate.map(({ afterMs, to }) => ({ what: `asks ${to.join(', ')}`, afterMs })),
  ];
  const wait = `they wait ${formatDuration(timeoutMs)}, so set 'timeout'`;
  return [
    ...steps
      .filter(({ afterMs }) => afterMs >= timeoutMs)
      .map(({ what, afterMs }) => `${what} after ${formatDuration(afterMs)}, when its requests have ended: ${wait}`),
    ...(warnBeforeMs !== undefined && warnBeforeMs >= timeoutMs
      ? [`warns ${formatDuration(warnBeforeMs)} before its requests end, which is as they are opened: ${wait}`]
      : []),
  ];
}
