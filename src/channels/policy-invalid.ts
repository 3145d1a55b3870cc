import { ProblemError } from '../core/base/problem.ts';

/** The error of a channel whose settings cannot work. */
export function policyInvalid(message: string): ProblemError {
  return new ProblemError({ code: 'policy_invalid', message });
}
