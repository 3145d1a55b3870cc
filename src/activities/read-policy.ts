import { parsePolicy } from '../core/policy-file/parse-policy.ts';
import type { Policy } from '../core/policy/policy.ts';
import type { JsonObject } from '../core/base/tool-call.ts';

export interface ReadPolicyInput {
  policy: JsonObject;
  /** The longest time-out that the run's ceiling allows; null permits `never`. */
  maxTimeoutMs?: number | null;
}

/** `problem`: the first problem, with its place. */
export type ReadPolicy = (input: ReadPolicyInput) => Promise<{ policy: Policy } | { problem: string }>;

/** The activity `countersign.readPolicy`: reads a policy sent to a run, outside of the workflow, to record it (I12). */
export const readPolicy: ReadPolicy = async ({ policy: document, maxTimeoutMs }) => {
  const parsed = parsePolicy(document, { maxTimeoutMs });
  if ('policy' in parsed) return { policy: parsed.policy };
  const { path, message } = parsed.problems[0]!;
  return { problem: path === undefined || path === '' ? message : `${path}: ${message}` };
};
