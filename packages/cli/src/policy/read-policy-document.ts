import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { ProblemError, type JsonObject } from 'countersign/base';
import { decodeUtf8, formatProblems, parsePolicy } from 'countersign/policy';
import { UsageError } from '../base/report-error.ts';

/** Reads a policy file as the JSON document that a run takes. Throws `policy_invalid` with line and column. */
export async function readPolicyDocument(file: string): Promise<JsonObject> {
  const bytes = await readFile(file).catch((cause: NodeJS.ErrnoException) => {
    throw new UsageError(
      `The policy ${file} cannot be read: ${cause.code === 'ENOENT' ? 'there is no such file' : cause.message}.`,
    );
  });
  const decoded = decodeUtf8(bytes);
  const parsed =
    'text' in decoded ? parsePolicy(decoded.text, { file }) : { problems: [{ ...decoded, file, path: '' }] };
  if ('problems' in parsed) {
    throw new ProblemError({ code: 'policy_invalid', message: formatProblems(file, parsed.problems) });
  }
  return parse('text' in decoded ? decoded.text : '') as JsonObject;
}
