import { readFile } from 'node:fs/promises';
import type { Json } from 'countersign/base';
import { readJson } from 'countersign/json';
import { readFault } from './read-fault.ts';
import { UsageError } from './report-error.ts';

/**
 * Reads JSON from the command line as strictly as a model's JSON: a duplicate key is an error. Throws a usage error.
 */
export function readJsonOption(flag: string, text: string): Json {
  const read = readJson(text, { root: flag });
  if ('problem' in read) throw new UsageError(`${read.problem}.`);
  return read.value;
}

/** The same, but `@FILE` reads the JSON from a file. */
export async function readJsonOrFile(flag: string, text: string): Promise<Json> {
  if (!text.startsWith('@')) return readJsonOption(flag, text);
  const file = text.slice(1);
  const source = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new UsageError(`${flag}: ${file} cannot be read: ${readFault(cause)}.`);
  });
  return readJsonOption(flag, source);
}
