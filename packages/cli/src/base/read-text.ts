import { text } from 'node:stream/consumers';
import { readFile } from 'node:fs/promises';
import { readFault, type Json } from 'countersign/base';
import { readJson } from 'countersign/json';
import { UsageError } from './output.ts';

/** Reads the text of an option or argument; `-` reads standard input. */
export async function readText(given: string): Promise<string> {
  return given === '-' ? (await text(process.stdin)).trimEnd() : given;
}

/** Reads JSON as strictly as a run reads a model's arguments. Throws a usage error, for a duplicate key, too. */
export function readJsonOption(flag: string, text: string): Json {
  const read = readJson(text, { root: flag });
  if ('problem' in read) throw new UsageError(`${read.problem}.`);
  return read.value;
}

/** Reads JSON as `readJsonOption` does, from the text itself or, for `@FILE`, from a file. Throws a usage error. */
export async function readJsonOrFile(flag: string, text: string): Promise<Json> {
  if (!text.startsWith('@')) return readJsonOption(flag, text);
  const file = text.slice(1);
  const source = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new UsageError(`${flag}: ${file} cannot be read: ${readFault(cause)}.`);
  });
  return readJsonOption(flag, source);
}

/** The most bytes of a line. The limit keeps a file without line breaks from filling the memory. */
const longestLine = 16 * 1_048_576;
const lineFeed = 0x0a;

/** The text of a line without its line feed, or the reason why it cannot be read. */
export type Line = { text: string } | { problem: string };

/** Yields the lines of a UTF-8 stream. Unlike Node's readline, it does not split at U+2028, which JSON may contain. */
export async function* byteLines(stream: AsyncIterable<Buffer>, longest: number = longestLine): AsyncGenerator<Line> {
  let pieces: Buffer[] = [];
  let length = 0;
  const addPiece = (piece: Buffer): void => {
    length += piece.length;
    // A line that is too long is only counted, and not kept.
    if (length <= longest) pieces.push(piece);
    else pieces = [];
  };
  const finishLine = (): Line => {
    const isTooLong = length > longest;
    const line = isTooLong ? { problem: `the line is longer than ${longest} bytes` } : decode(Buffer.concat(pieces));
    pieces = [];
    length = 0;
    return line;
  };
  for await (const chunk of stream) {
    let from = 0;
    for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, from)) {
      addPiece(chunk.subarray(from, end));
      yield finishLine();
      from = end + 1;
    }
    if (from < chunk.length) addPiece(chunk.subarray(from));
  }
  if (length > 0) yield finishLine();
}

function decode(bytes: Buffer): Line {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch {
    return { problem: 'the line is not UTF-8' };
  }
}
