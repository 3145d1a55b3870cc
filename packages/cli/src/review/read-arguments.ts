import type { JsonObject } from 'countersign/base';
import { readJson } from 'countersign/json';

/** Reads edited arguments as strictly as a model's. */
export function readArguments(text: string): { arguments: JsonObject } | { problem: string } {
  const read = readJson(text, { root: 'the arguments' });
  if ('problem' in read) return { problem: `${read.problem}.` };
  const { value } = read;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { problem: 'The arguments must be a JSON object with all of them.' };
  }
  return { arguments: value };
}
