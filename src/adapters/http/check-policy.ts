import { ProblemError } from '../../core/base/problem.ts';
import { visibleText } from '../../core/base/visible-text.ts';
import { parsePolicy } from '../../core/policy-file/parse-policy.ts';

const mostShown = 5;
const longestDetail = 1_000;

/**
 * Throws `policy_invalid`, with the places of the first mistakes, for a body's `policy` that no run takes. The longest
 * time-out is the operator's to say, so only the run's worker checks that.
 */
export function checkPolicy(policy: object): void {
  const parsed = parsePolicy(policy, { maxTimeoutMs: null });
  if ('policy' in parsed) return;
  const shown = parsed.problems.slice(0, mostShown).map(({ path, message }) => {
    return `${path === '' ? 'body.policy' : `body.policy.${path}`}: ${message}`;
  });
  const more = parsed.problems.length - shown.length;
  const message = [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
  throw new ProblemError({ code: 'policy_invalid', message: visibleText(message).slice(0, longestDetail) });
}
