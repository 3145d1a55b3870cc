import { kindOf } from '../core/base/kind-of.ts';
import { readJson } from '../text/read-json.ts';
import { inlineLimits } from '../core/base/size-limits.ts';
import type { JsonObject } from '../core/base/tool-call.ts';

/** `problem` names a place and what was expected there, in one line. */
export type ParsedArguments = { args: JsonObject } | { problem: string };

/**
 * Parses the raw text of a tool call's arguments, up to `maxBytes` (default: what fits into a Temporal payload). Empty
 * text means no arguments. Never throws.
 *
 * Refuses anything that two parsers could read differently, so that the policy, the reviewer and the tool see the same
 * call: duplicate keys, integers that a double cannot hold, lone surrogates, `__proto__`. Also refuses what is too
 * large or nested too deep.
 */
export function parseArguments(text: string, maxBytes = inlineLimits.argumentBytes): ParsedArguments {
  if (text.trim() === '') return { args: {} };
  const bytes = Buffer.byteLength(text);
  if (bytes > maxBytes) return { problem: `arguments: ${bytes} bytes, expected at most ${maxBytes}` };
  const read = readJson(text, { root: 'arguments', refusedKeys: ['__proto__'] });
  if ('problem' in read) return read;
  const { value } = read;
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { args: value };
  return { problem: `arguments: expected an object, got ${kindOf(value)}` };
}
