import { inlineLimits } from '../core/base/size-limits.ts';
import type { JsonObject } from '../core/base/tool-call.ts';
import { parseObject } from './parse-object.ts';

/** `problem` names a place and what was expected there, in one line. */
export type ParsedArguments = { args: JsonObject } | { problem: string };

/**
 * Parses the raw text of a tool call's arguments, up to `maxBytes` (default: what fits into a Temporal payload). Empty
 * text means no arguments. Refuses what two parsers could read differently, so that the policy, the reviewer and the tool
 * see the same call. Never throws.
 */
export function parseArguments(text: string, maxBytes = inlineLimits.argumentBytes): ParsedArguments {
  if (text.trim() === '') return { args: {} };
  const parsed = parseObject('arguments', text, maxBytes);
  return 'problem' in parsed ? parsed : { args: parsed.value };
}
