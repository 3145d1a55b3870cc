import type { StandardSchemaV1 } from '@standard-schema/spec';
import { parseJson } from '../core/base/json.ts';
import type { JsonObject } from '../core/base/tool-call.ts';
import { describeIssues } from './describe-issues.ts';

const longestProblem = 1_000;

/**
 * Parses a value with the schema of an object: fills defaults and strips unknown keys. `problem` names places in what is
 * called `root`, and what was expected there, in at most 1,000 characters. Rejects with what a custom check throws.
 */
export async function parseWith(
  root: string,
  schema: StandardSchemaV1<unknown, object>,
  value: JsonObject,
): Promise<{ value: JsonObject } | { problem: string }> {
  const parsed = await schema['~standard'].validate(value);
  if (parsed.issues !== undefined) return { problem: bounded(describeIssues(root, parsed.issues)) };
  // Only JSON reaches the run. An undefined or a Date from a default must become JSON before hashing; otherwise the
  // approved arguments would differ from those that the tool receives.
  return { value: parseJson(JSON.stringify(parsed.value)) as JsonObject };
}

function bounded(text: string): string {
  return text.length <= longestProblem ? text : `${text.slice(0, longestProblem)}…`;
}
