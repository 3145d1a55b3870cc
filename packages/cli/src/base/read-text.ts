import { text } from 'node:stream/consumers';
import { readFile } from 'node:fs/promises';
import type { Json } from 'countersign/base';
import { readJson } from 'countersign/json';
import { UsageError } from './report-error.ts';

/** The text of an option or argument; `-` reads standard input. */
export async function readText(given: string): Promise<string> {
  return given === '-' ? (await text(process.stdin)).trimEnd() : given;
}

const faults: Record<string, string> = {
  ENOENT: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
};

/** Why a file could not be opened, as part of a sentence. */
export function readFault(cause: unknown): string {
  const { code = '', message } = cause as NodeJS.ErrnoException;
  return Object.hasOwn(faults, code) ? faults[code]! : message;
}

/**
 * Reads JSON from the command line as strictly as a model's JSON: a duplicate key is an error. Throws a usage error.
 */
export function readJsonOption(flag: string, text: string): Json {
  const read = readJson(text, { root: flag });
  if ('problem' in read) throw new UsageError(`${read.problem}.`);
  return read.value;
}

/** Like `readJsonOption`, but `@FILE` reads the JSON from a file. */
export async function readJsonOrFile(flag: string, text: string): Promise<Json> {
  if (!text.startsWith('@')) return readJsonOption(flag, text);
  const file = text.slice(1);
  const source = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new UsageError(`${flag}: ${file} cannot be read: ${readFault(cause)}.`);
  });
  return readJsonOption(flag, source);
}
