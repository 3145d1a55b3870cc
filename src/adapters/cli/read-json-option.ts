import { readFile } from 'node:fs/promises';
import { readJson } from '../../core/base/read-json.ts';
import type { Json } from '../../core/base/tool-call.ts';
import { readFault } from './read-fault.ts';
import { UsageError } from './report-error.ts';

/** JSON of a command line, read as strictly as that of a model: a duplicate key is an error. Throws a usage error. */
export function readJsonOption(flag: string, text: string): Json {
  const read = readJson(text, { root: flag });
  if ('problem' in read) throw new UsageError(`${read.problem}.`);
  return read.value;
}

/** The same, where `@FILE` names a file that holds it. */
export async function readJsonOrFile(flag: string, text: string): Promise<Json> {
  if (!text.startsWith('@')) return readJsonOption(flag, text);
  const file = text.slice(1);
  const source = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new UsageError(`${flag}: ${file} cannot be read: ${readFault(cause)}.`);
  });
  return readJsonOption(flag, source);
}
