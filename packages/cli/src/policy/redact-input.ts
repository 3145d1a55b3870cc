import { once } from 'node:events';
import { ProblemError } from 'countersign/base';
import { sensitiveKinds, findOwn, redactJson, LineRedactor, type RedactSettings } from 'countersign/policy';
import { readPolicyFile, problemLines } from './policy-file.ts';
import type { CommonOptions } from '../base/command-line.ts';

export interface RedactOptions extends CommonOptions {
  policy?: string;
}

/** The most characters of one line. A longer line would fill the memory. */
const longestLine = 16 * 1_048_576;

/** Redacts standard input. Writes text line by line; with --json, reads everything first. */
export async function redactInput(
  input: AsyncIterable<Buffer | string>,
  { json, policy }: RedactOptions,
): Promise<void> {
  const settings = await settingsOf(policy);
  if (json === undefined || json === false) await redactLines(input, settings);
  else await write(redactWhole(await readAll(input), settings));
}

/** Returns the settings in a policy file. Without a file, and for settings that it lacks, the defaults: all kinds. */
async function settingsOf(file: string | undefined): Promise<Required<Pick<RedactSettings, 'kinds' | 'patterns'>>> {
  const loaded = file === undefined ? undefined : await readPolicyFile(file, 'run');
  if (loaded !== undefined && 'problems' in loaded) {
    throw new ProblemError({ code: 'policy_invalid', message: problemLines(file!, loaded.problems) });
  }
  const { kinds = [...sensitiveKinds], patterns = [] } = loaded?.policy.redact ?? {};
  return { kinds, patterns };
}

type Settings = Awaited<ReturnType<typeof settingsOf>>;

/** Redacts and writes each line as soon as it is complete, with its line feed. */
async function redactLines(input: AsyncIterable<Buffer | string>, { kinds, patterns }: Settings): Promise<void> {
  // Each line gets a new search, because the work of one search is limited.
  const redactor = new LineRedactor(kinds, () => findOwn(patterns));
  let line = '';
  for await (const text of decoded(input)) {
    for (const piece of text.split(/(?<=\n)/)) {
      line += piece;
      if (line.endsWith('\n')) {
        await write(redactor.redact(line));
        line = '';
      } else if (line.length > longestLine) {
        throw unreadableInput(`a line is longer than ${longestLine} characters`);
      }
    }
  }
  await write(redactor.redact(line));
}

/** Redacts a text that is one JSON value, or has one on each line. */
function redactWhole(text: string, { kinds, patterns }: Settings): string {
  const whole = redactJson(text, kinds, findOwn(patterns));
  if (whole !== undefined) return whole;
  const lines = text.split(/(?<=\n)/).map((line, index) => {
    if (line.trim() === '') return line;
    const redacted = redactJson(line, kinds, findOwn(patterns));
    if (redacted === undefined) throw unreadableInput(`it is not JSON, and neither is line ${index + 1} by itself`);
    return redacted;
  });
  return lines.join('');
}

async function readAll(input: AsyncIterable<Buffer | string>): Promise<string> {
  const pieces: string[] = [];
  for await (const text of decoded(input)) pieces.push(text);
  return pieces.join('');
}

/** Decodes the input. Keeps its byte order mark, so that only redacted parts change. Throws for other than UTF-8. */
async function* decoded(input: AsyncIterable<Buffer | string>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const decode = (bytes?: Buffer): string => {
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined });
    } catch {
      throw unreadableInput('it is not UTF-8');
    }
  };
  for await (const chunk of input) yield decode(Buffer.from(chunk as Buffer));
  // The last call has no bytes: it throws if the input ends in the middle of a character.
  yield decode();
}

async function write(text: string): Promise<void> {
  if (text !== '' && !process.stdout.write(text)) await once(process.stdout, 'drain');
}

function unreadableInput(why: string): ProblemError {
  return new ProblemError({ code: 'undecodable', message: `standard input cannot be read: ${why}` });
}
