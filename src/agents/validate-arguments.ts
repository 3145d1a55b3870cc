import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '../core/base/tool-call.ts';
import type { Tool } from './definitions.ts';
import { parseWith } from './parse-with.ts';

/** `problem` names a place and what was expected there, in at most 1,000 characters. */
export type ValidatedArguments = { args: JsonObject } | { problem: string };

/**
 * Parses `args` with the tool's schema: fills defaults and strips unknown keys. The result is what is shown, hashed,
 * approved and executed (I8). Never throws.
 *
 * A reviewer's edit of the result is parsed again, so the schema must give the result back unchanged. Not every library
 * shows a transform in its JSON Schema: one that doubles an amount would double it again after each edit.
 */
export async function validateArguments({ name, input }: Tool, args: JsonObject): Promise<ValidatedArguments> {
  try {
    const parsed = await parseWith('arguments', input, args);
    if ('problem' in parsed) return parsed;
    const { value } = parsed;
    if (isDeepStrictEqual(await parseWith('arguments', input, value), parsed)) return { args: value };
    return { problem: `arguments: the schema of tool '${name}' changes or refuses what it has given itself` };
  } catch {
    // A custom check threw. Its message is for the author, not for a model.
    return { problem: `arguments: a check of tool '${name}' failed on them` };
  }
}
