/**
 * The closed list of problem codes. Each edge (HTTP status, exit code, MCP error) maps all of them with `satisfies
 * Record<ProblemCode, …>`, so a new code does not compile until every edge handles it.
 */
export const problemCodes = [
  'unknown_request',
  'already_settled',
  'expired',
  'run_closed',
  'invalid_decision',
  'invalid_message',
  'undecodable',
  'digest_mismatch',
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
  'internal',
] as const;

export type ProblemCode = (typeof problemCodes)[number];

/** True if the message could not be checked at that moment: the same message may be accepted on a retry. */
export function isTransient(code: ProblemCode | undefined): boolean {
  return code === 'rate_limited' || code === 'internal';
}

/** An error as a value: `message` is one sentence with the place and the remedy. */
export interface Problem {
  code: ProblemCode;
  message: string;
}

/** True if `value` is one of the codes above; for codes that arrive as text, such as a failure's `type`. */
export function isProblemCode(value: unknown): value is ProblemCode {
  return problemCodes.some((code) => code === value);
}

/** Thrown by the client and the edges; core returns problems as values and never throws for input. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError' as const;
  readonly code: ProblemCode;

  constructor(problem: Problem, options?: { cause?: unknown }) {
    super(problem.message, options);
    this.code = problem.code;
  }
}

/** Recognises a `ProblemError` across realms (sandbox, jest, Node), where `instanceof` does not. */
export function isProblemError(error: unknown): error is ProblemError {
  return error instanceof Error && error.name === 'ProblemError' && isProblemCode((error as ProblemError).code);
}
