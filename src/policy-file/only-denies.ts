/** What somebody may put into a run who must loosen nothing, such as a starter at the gateway. */
import type { Mode } from '../core/policy/modes.ts';
import type { Policy } from '../core/policy/policy.ts';

/**
 * The first part of a run's policy and mode that does more than deny, by its place in the document, such as
 * `policy.rules[0]`; undefined if there is none. The policy of a run overrides that of its agent, and whoever starts the run
 * need not know that policy: only a denial is never looser.
 */
export function beyondDenying({ policy, mode }: { policy?: Policy; mode?: Mode }): string | undefined {
  if (mode !== undefined) return 'mode';
  if (policy === undefined) return undefined;
  const { version: _, rules, riskDefaults, ...others } = policy;
  const rule = rules.find(({ action }) => action !== 'deny');
  if (rule !== undefined) {
    const list = rules.filter(({ agent }) => agent === rule.agent);
    const block = rule.agent === undefined ? 'rules' : `agents.${rule.agent}.rules`;
    return `policy.${block}[${list.indexOf(rule)}]`;
  }
  const risk = Object.entries(riskDefaults).find(([, action]) => action !== 'deny');
  if (risk !== undefined) return `policy.risk_defaults.${risk[0]}`;
  const other = Object.entries(others).find(
    ([, value]) => Object.keys(value ?? {}).length > 0 || typeof value === 'string',
  );
  return other && `policy.${other[0] === 'reviewerKeys' ? 'reviewer_keys' : other[0]}`;
}
