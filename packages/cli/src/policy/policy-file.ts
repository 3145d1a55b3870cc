import { readFile } from 'node:fs/promises';
import { escapeText, ProblemError, type JsonObject, readFault } from 'countersign/base';
import type { ParsedPolicy, Policy, PolicyProblem } from 'countersign/policy';
import { parsePolicy, decodeUtf8, formatProblems } from 'countersign/policy';
import { loadPolicySource } from '../base/load-config.ts';
import { UsageError, type Output } from '../base/output.ts';
import { parse } from 'yaml';

/** The owner of a policy file, which determines the keys that the file may have, and the warnings that apply. */
export type Owner = 'ceiling' | 'agent' | 'run';

/** Reads a file. If it is unreadable, throws a usage error that calls it `what`, such as `history`. */
export async function readFileText(file: string, what: string): Promise<string> {
  return readFile(file, 'utf8').catch((cause: unknown) => {
    throw new UsageError(`The ${what} ${file} cannot be read: ${readFault(cause)}.`);
  });
}

/** Reads and parses a policy file. Problems of its content are returned; an unreadable file is a usage error. */
export async function readPolicyFile(
  file: string,
  owner: Owner,
): Promise<ParsedPolicy | { problems: PolicyProblem[] }> {
  const decoded = decodeUtf8(await readPolicyBytes(file));
  if ('text' in decoded) return parsePolicy(decoded.text, { ceiling: owner === 'ceiling' });
  return { problems: [{ ...decoded, path: '' }] };
}

async function readPolicyBytes(file: string): Promise<Buffer> {
  return readFile(file).catch((cause: unknown) => {
    throw new UsageError(`The policy ${file} cannot be read: ${readFault(cause)}.`);
  });
}

/** Reads the operator's policy that a module names; undefined without one, and if it is unreadable or invalid. */
export async function loadCeiling(module: string | undefined): Promise<Policy | undefined> {
  const source = await loadPolicySource(module);
  if (source === undefined) return undefined;
  const isPath = typeof source === 'string' && !source.includes('\n');
  const text = isPath ? await readFile(source, 'utf8').catch(() => undefined) : source;
  const parsed = text === undefined ? undefined : parsePolicy(text, { ceiling: true });
  return parsed !== undefined && 'policy' in parsed ? parsed.policy : undefined;
}

/** Reads a valid policy of this owner. If it has problems, prints them, sets exit code 1 and returns undefined. */
export async function readSoundPolicy(file: string, owner: Owner, output: Output): Promise<Policy | undefined> {
  const loaded = await readPolicyFile(file, owner);
  if ('policy' in loaded) return loaded.policy;
  output.note(problemLines(file, loaded.problems));
  process.exitCode = 1;
  return undefined;
}

/** Renders problems as lines `FILE:LINE:COL message`, escaped. A problem of the whole file is at 1:1. */
export function problemLines(file: string, problems: readonly PolicyProblem[]): string {
  return problems.map((problem) => problemLine(file, problem, problem.message)).join('\n');
}

export function problemLine(file: string, { line = 1, column = 1 }: PolicyPlace, message: string): string {
  return escapeText(`${file}:${line}:${column} ${message}`);
}

/** A place in a policy file. Lines and columns start at 1. */
export interface PolicyPlace {
  line?: number;
  column?: number;
}

/** Reads and checks a policy file, and returns its document for a run. Throws `policy_invalid` with line and column. */
export async function readPolicyDocument(file: string): Promise<JsonObject> {
  const decoded = decodeUtf8(await readPolicyBytes(file));
  if (!('text' in decoded)) throw invalidPolicy(file, [{ ...decoded, file, path: '' }]);
  const parsed = parsePolicy(decoded.text, { file });
  if ('problems' in parsed) throw invalidPolicy(file, parsed.problems);
  // A run gets the document as it was written, and parses it itself.
  return parse(decoded.text) as JsonObject;
}

function invalidPolicy(file: string, problems: PolicyProblem[]): ProblemError {
  return new ProblemError({ code: 'policy_invalid', message: formatProblems(file, problems) });
}

interface Member {
  key: string;
  /** The source text of the value, unchanged. */
  value: string;
}

/** Returns the members of the outermost object in a JSON text: in order, with duplicate keys, and as written. */
export function writtenMembers(text: string): Member[] {
  const members: Member[] = [];
  let depth = 0;
  let key = '';
  let valueStart: number | undefined;
  for (const { kind, start, end } of tokensOf(text)) {
    if (depth === 1 && valueStart !== undefined && (kind === ',' || kind === '}')) {
      members.push({ key, value: text.slice(valueStart, start) });
      valueStart = undefined;
    }
    if (kind === '{' || kind === '[') depth += 1;
    else if (kind === '}' || kind === ']') depth -= 1;
    else if (depth === 1 && kind === ':') valueStart = end;
    // A string is a key unless it follows a colon.
    else if (depth === 1 && kind === '"' && valueStart === undefined)
      key = JSON.parse(text.slice(start, end)) as string;
  }
  return members;
}

/** Yields the strings, brackets and separators of a JSON text. `kind` is the first character. */
function* tokensOf(text: string): Generator<{ kind: string; start: number; end: number }> {
  for (let index = 0; index < text.length; index += 1) {
    const kind = text[index]!;
    const start = index;
    if (kind === '"') {
      // Goes to the closing quotation mark. A backslash escapes the next character, which may be such a mark.
      for (index += 1; index < text.length && text[index] !== '"'; index += 1) if (text[index] === '\\') index += 1;
    } else if (!'{}[]:,'.includes(kind)) {
      continue;
    }
    yield { kind, start, end: index + 1 };
  }
}
