import { parseRunPolicy } from '../policy-file/parse-run-policy.ts';
import { hidingProblem } from '../policy-file/hiding-problem.ts';
import type { Policy } from '../core/policy/policy.ts';
import type { CeilingRedaction } from '../core/policy/redaction-settings.ts';
import type { JsonObject } from '../core/base/tool-call.ts';

export interface ReadPolicyInput {
  policy: JsonObject;
  /** The longest time-out that the run's ceiling allows; null permits `never`. */
  maxTimeoutMs?: number | null;
  /** True: the run has a ceiling, and so the policy may hide nothing from its reviewers. */
  underCeiling?: boolean;
  /** The built-in kinds that the ceiling redacts. Runs of older versions do not send it: their policies may redact any built-in kind. */
  redaction?: CeilingRedaction;
}

/** `problem`: the first problem, with its place. */
export type ReadPolicy = (input: ReadPolicyInput) => Promise<{ policy: Policy } | { problem: string }>;

/** The activity `countersign.readPolicy`: reads a policy sent to a run, outside of the workflow, to record it (I12). */
export const readPolicy: ReadPolicy = async ({ policy: document, ...bounds }) => {
  const read = readRunPolicy(document, bounds);
  if ('policy' in read) return read;
  const { path, message } = read.problem;
  return { problem: path === '' ? message : `${path}: ${message}` };
};

/** Reads the policy of a run. `problem`: the first problem, and its place; empty for the whole policy. */
export function readRunPolicy(
  document: object,
  { maxTimeoutMs, underCeiling = false, redaction }: Omit<ReadPolicyInput, 'policy'>,
): { policy: Policy } | { problem: { path: string; message: string } } {
  const parsed = parseRunPolicy(document, { maxTimeoutMs });
  if ('problems' in parsed) return { problem: parsed.problems[0]! };
  const { policy } = parsed;
  const problem = underCeiling ? hidingProblem(policy, redaction) : undefined;
  return problem === undefined ? { policy } : { problem };
}
