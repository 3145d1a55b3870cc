import { readJson } from '../core/base/read-json.ts';
import { inlineLimits } from '../core/base/size-limits.ts';
import type { Json, JsonObject } from '../core/base/tool-call.ts';

/** `problem` is a place and what was expected there, one line. */
export type ParsedArguments = { args: JsonObject } | { problem: string };

/**
 * Reads the raw text of a tool call's arguments, of at most `maxBytes` (default: what fits a payload of Temporal's);
 * empty text means none. Never throws.
 *
 * Refused is what two readers could understand differently, so that a policy, a reviewer and the tool see the same
 * call: duplicate keys, integers that a double cannot hold, lone surrogates, `__proto__`; and what is too large or deep.
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

function kindOf(value: Json): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}
