import { kindOf } from '../core/base/json.ts';
import type { JsonObject } from '../core/base/tool-call.ts';
import { readJson } from '../text/read-json.ts';
import { inlineLimits } from '../core/base/size-limits.ts';

/**
 * Parses an object that a model wrote. Refuses JSON that two parsers could read differently (duplicate keys, integers
 * that a double cannot hold, lone surrogates, `__proto__`), and JSON that is too large or nested too deeply. `problem`
 * names a place in `root` and the expected value. Never throws.
 */
export function parseObject(root: string, text: string, maxBytes: number): { value: JsonObject } | { problem: string } {
  const bytes = Buffer.byteLength(text);
  if (bytes > maxBytes) return { problem: `${root}: ${bytes} bytes, expected at most ${maxBytes}` };
  const read = readJson(text, { root, refusedKeys: ['__proto__'] });
  if ('problem' in read) return read;
  const { value } = read;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { value };
  return { problem: `${root}: expected an object, got ${kindOf(value)}` };
}

/** The parsed arguments, or a `problem` of one line that names a place and the expected value. */
export type ParsedArguments = { args: JsonObject } | { problem: string };

/**
 * Parses a tool call's arguments; an empty text means no arguments. Refuses JSON that two parsers could read
 * differently, so that the policy, the reviewer and the tool see the same call. Never throws.
 */
export function parseArguments(text: string, maxBytes = inlineLimits.argumentBytes): ParsedArguments {
  if (text.trim() === '') return { args: {} };
  const parsed = parseObject('arguments', text, maxBytes);
  return 'problem' in parsed ? parsed : { args: parsed.value };
}
