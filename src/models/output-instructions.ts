import type { JsonObject } from '../core/base/tool-call.ts';

/** Instructions that also say how the final answer is written. In words, because every provider understands these. */
export function outputInstructions(instructions: string, schema: JsonObject): string {
  const format = `Write your final answer as one JSON object and nothing else: no text around it, no code fence. It must be valid by this JSON Schema:\n${JSON.stringify(schema)}`;
  return instructions === '' ? format : `${instructions}\n\n${format}`;
}
