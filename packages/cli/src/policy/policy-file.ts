import { readFile } from 'node:fs/promises';
import { escapeText } from 'countersign/base';
import { parsePolicy, decodeUtf8, type ParsedPolicy, type PolicyProblem } from 'countersign/policy';
import { readFault } from '../base/read-fault.ts';
import { UsageError } from '../base/report-error.ts';

/** The owner of a policy file determines which keys it may contain and what counts as a likely mistake. */
export type Owner = 'ceiling' | 'agent' | 'run';

/** Reads the text of a file. Throws a usage error if it cannot be read. `what`: what the file should hold. */
export async function readFileText(file: string, what: string): Promise<string> {
  return readFile(file, 'utf8').catch((cause: unknown) => {
    throw new UsageError(`The ${what} ${file} cannot be read: ${readFault(cause)}.`);
  });
}

/** Reads a policy of this owner. */
export async function readPolicyFile(
  file: string,
  owner: Owner,
): Promise<ParsedPolicy | { problems: PolicyProblem[] }> {
  const bytes = await readFile(file).catch((cause: unknown) => {
    throw new UsageError(`The policy ${file} cannot be read: ${readFault(cause)}.`);
  });
  const decoded = decodeUtf8(bytes);
  if ('text' in decoded) return parsePolicy(decoded.text, { ceiling: owner === 'ceiling' });
  return { problems: [{ ...decoded, path: '' }] };
}

/** `FILE:LINE:COL message`, one per line, escaped. A problem of the whole file gets position 1:1. */
export function problemLines(file: string, problems: readonly PolicyProblem[]): string {
  return problems.map((problem) => problemLine(file, problem, problem.message)).join('\n');
}

export function problemLine(file: string, { line = 1, column = 1 }: PolicyPlace, message: string): string {
  return escapeText(`${file}:${line}:${column} ${message}`);
}

/** Both start at 1. */
export interface PolicyPlace {
  line?: number;
  column?: number;
}
