import { ProblemError, visibleText } from 'countersign/base';
import { parseRunPolicy, beyondDenying, type Mode, type Policy } from 'countersign/policy';
import type { Principal } from '../identity/principal.ts';

const mostShown = 5;
const longestDetail = 1_000;

/**
 * Checks what a body says of the policy of a new run. Throws `policy_invalid`, with the places of the first mistakes, for a
 * `policy` that no run takes, and `forbidden` for what could loosen the policy of the agent, unless the sender may change
 * policies. The longest time-out is the operator's to say, so only the run's worker checks that.
 */
export function checkPolicy(
  principal: Principal,
  body: { policy?: object | undefined; mode?: Mode | undefined },
): void {
  const policy = body.policy === undefined ? undefined : checked(body.policy);
  if (principal.roles.includes('operator')) return;
  const place = beyondDenying({ policy, mode: body.mode });
  if (place === undefined) return;
  const why = 'it could loosen what its agent says';
  const remedy = `leave it out, write a rule that denies, or have somebody with the role operator start the run`;
  const message = `body.${place}: with the role starter, a run's policy may only deny, because ${why}: ${remedy}.`;
  throw new ProblemError({ code: 'forbidden', message: visibleText(message).slice(0, longestDetail) });
}

function checked(policy: object): Policy {
  const parsed = parseRunPolicy(policy, { maxTimeoutMs: null });
  if ('policy' in parsed) return parsed.policy;
  const shown = parsed.problems.slice(0, mostShown).map(({ path, message }) => {
    return `${path === '' ? 'body.policy' : `body.policy.${path}`}: ${message}`;
  });
  const more = parsed.problems.length - shown.length;
  const message = [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
  throw new ProblemError({ code: 'policy_invalid', message: visibleText(message).slice(0, longestDetail) });
}
