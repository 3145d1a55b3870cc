import type { ProblemCode } from '../../core/base/problem.ts';

/** The process exit codes of the command line (docs/cli.md). 0 means success. */
export const usageExitCode = 2;

const exitCodes = {
  unknown_request: 3,
  already_settled: 4,
  expired: 4,
  run_closed: 4,
  invalid_decision: 1,
  invalid_message: 1,
  undecodable: 1,
  digest_mismatch: 1,
  arguments_invalid: 1,
  denied_by_policy: 1,
  not_entitled: 5,
  self_approval: 5,
  unverified_reviewer: 5,
  run_not_found: 3,
  agent_unknown: 3,
  policy_invalid: 1,
  not_permitted_by_ceiling: 5,
  grant_unknown: 3,
  already_started: 1,
  unauthenticated: 5,
  forbidden: 5,
  too_large: 1,
  rate_limited: 1,
  server_unreachable: 6,
  no_worker: 6,
  internal: 1,
} as const satisfies Record<ProblemCode, number>;

export function exitCodeOf(code: ProblemCode): number {
  return exitCodes[code];
}
