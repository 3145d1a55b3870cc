import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../core/base/tool-call.ts';
import type { Tool } from './definitions.ts';
import { describeIssues } from './describe-issues.ts';
import { parseJson } from '../core/base/parse-json.ts';

/** `problem` names a place and what was expected there, in at most 1,000 characters. */
export type ValidatedArguments = { args: JsonObject } | { problem: string };

const longestProblem = 1_000;

/**
 * Parses `args` with the tool's schema: fills defaults and strips unknown keys. The result is what is shown, hashed,
 * approved and executed (I8). Never throws.
 *
 * A reviewer's edit of the result is parsed again, so the schema must give the result back unchanged. Not every library
 * shows a transform in its JSON Schema: one that doubles an amount would double it again after each edit.
 */
export async function validateArguments(tool: Tool, args: JsonObject): Promise<ValidatedArguments> {
  try {
    const parsed = await parse(tool, args);
    if ('problem' in parsed || isDeepStrictEqual(await parse(tool, parsed.args), parsed)) return parsed;
    return { problem: `arguments: the schema of tool '${tool.name}' changes or refuses what it has given itself` };
  } catch {
    // A custom check threw. Its message is for the author, not for a model.
    return { problem: `arguments: a check of tool '${tool.name}' failed on them` };
  }
}

async function parse({ input }: Tool, args: JsonObject): Promise<ValidatedArguments> {
  const parsed = await input['~standard'].validate(args);
  if (parsed.issues !== undefined) return { problem: bounded(describeIssues('arguments', parsed.issues)) };
  // Only JSON reaches the run. An undefined or a Date from a default must become JSON before hashing; otherwise the
  // approved arguments would differ from those that the tool receives.
  return { args: parseJson(JSON.stringify(parsed.value)) as JsonObject };
}

function bounded(text: string): string {
  return text.length <= longestProblem ? text : `${text.slice(0, longestProblem)}…`;
}
