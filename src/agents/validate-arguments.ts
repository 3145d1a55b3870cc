import { z } from 'zod';
import type { JsonObject } from '../core/base/tool-call.ts';
import type { Tool } from './definitions.ts';
import { describeIssues } from './describe-issues.ts';

/** `problem` names a place and what was expected there, in at most 1,000 characters. */
export type ValidatedArguments = { args: JsonObject } | { problem: string };

const longestProblem = 1_000;

/**
 * Parses `args` with the tool's schema: fills defaults and strips unknown keys. The result is what is shown, hashed,
 * approved and executed (I8). Never throws.
 */
export async function validateArguments(tool: Tool, args: JsonObject): Promise<ValidatedArguments> {
  try {
    const parsed = await z.safeParseAsync(tool.input, args);
    // Only JSON reaches the run. An undefined or a Date from a default must become JSON before hashing; otherwise the
    // approved arguments would differ from those that the tool receives.
    if (parsed.success) return { args: JSON.parse(JSON.stringify(parsed.data)) as JsonObject };
    return { problem: bounded(describeIssues('arguments', parsed.error.issues)) };
  } catch {
    // A custom check threw. Its message is for the author, not for a model.
    return { problem: `arguments: a check of tool '${tool.name}' failed on them` };
  }
}

function bounded(text: string): string {
  return text.length <= longestProblem ? text : `${text.slice(0, longestProblem)}…`;
}
