import type { ProblemCode } from 'countersign/base';

/** Every exit code of the command line. docs/cli.md has the same table. */
export const exitCodeMeanings = {
  0: 'done',
  1: 'refused for its content, or failed; a run that did not complete',
  2: 'a mistake in the command',
  3: 'there is no such request, run, agent or grant',
  4: 'the request is settled or expired, or the run has ended',
  5: 'you may not do this',
  6: 'the server does not answer, or no worker lives',
  130: 'Ctrl-C in `countersign run`, `watch`, `review` or `policy apply`',
} as const;

export type ExitCode = keyof typeof exitCodeMeanings;

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
  request_changed: 1,
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
  model_refused: 1,
  model_rate_limited: 1,
  model_unavailable: 1,
  model_output_invalid: 1,
  input_refused: 1,
  check_failed: 1,
  internal: 1,
} as const satisfies Record<ProblemCode, ExitCode>;

export function exitCodeOf(code: ProblemCode): ExitCode {
  return exitCodes[code];
}

/** The table of all exit codes, for `countersign --help`. */
export function exitCodeHelp(): string {
  const rows = Object.entries(exitCodeMeanings).map(([code, meaning]) => `  ${code.padEnd(3)}  ${meaning}`);
  return ['', 'Exit codes:', ...rows].join('\n');
}
