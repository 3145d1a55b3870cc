/** All codes. Each edge (HTTP status, exit code, MCP error) has to map every code: the compiler checks that. */
export const problemCodes = [
  'unknown_request',
  'already_settled',
  'expired',
  'run_closed',
  'invalid_decision',
  'invalid_message',
  'undecodable',
  'digest_mismatch',
  'request_changed',
  'arguments_invalid',
  'denied_by_policy',
  'not_entitled',
  'self_approval',
  'unverified_reviewer',
  'run_not_found',
  'agent_unknown',
  'policy_invalid',
  'not_permitted_by_ceiling',
  'grant_unknown',
  'already_started',
  'unauthenticated',
  'forbidden',
  'too_large',
  'rate_limited',
  'server_unreachable',
  'no_worker',
  'model_refused',
  'model_rate_limited',
  'model_unavailable',
  'model_output_invalid',
  'input_refused',
  'check_failed',
  'internal',
] as const;

/**
 * The code of a problem. docs/wire.md says when a run gives each, docs/models.md when a model does. Only clients and
 * workers give `already_started`, `unauthenticated`, `server_unreachable` and `no_worker`. `internal` is any other error.
 */
export type ProblemCode = (typeof problemCodes)[number];

/** True if the run could not check the message at that moment, so that a retry of the same message may be accepted. */
export function isTransient(code: ProblemCode | undefined): boolean {
  return code === 'rate_limited' || code === 'internal';
}

/** An error as a value: `message` is one sentence with the place and the remedy. */
export interface Problem {
  code: ProblemCode;
  message: string;
}

/** True if `value` is a problem code. Codes can arrive as any text, for example as the `type` of a failure. */
export function isProblemCode(value: unknown): value is ProblemCode {
  return problemCodes.some((code) => code === value);
}

export function problemCodeOf(type: unknown): ProblemCode {
  return isProblemCode(type) ? type : 'internal';
}

/**
 * An error of clients and workers, in one sentence with the remedy. Functions that read policies and decisions return
 * problems instead.
 *
 * @example
 * ```ts
 * import { createClient, ProblemError } from 'countersign/client';
 *
 * try {
 *   await createClient({ address: '127.0.0.1:1', connectTimeoutMs: 500 });
 * } catch (error) {
 *   if (error instanceof ProblemError) console.log(error.code); // server_unreachable
 * }
 * ```
 */
export class ProblemError extends Error {
  override readonly name = 'ProblemError' as const;
  readonly code: ProblemCode;

  constructor(problem: Problem, options?: { cause?: unknown }) {
    super(problem.message, options);
    this.code = problem.code;
  }
}

/**
 * True also for a `ProblemError` of another realm or copy of this package, where `instanceof` is false.
 *
 * @example
 * ```ts
 * import { isProblemError, ProblemError } from 'countersign';
 *
 * const error: unknown = new ProblemError({ code: 'expired', message: 'The request expired.' });
 * if (isProblemError(error)) console.log(error.code, error.message); // expired The request expired.
 * ```
 */
export function isProblemError(error: unknown): error is ProblemError {
  return error instanceof Error && error.name === 'ProblemError' && isProblemCode((error as ProblemError).code);
}
