import { lintPolicy } from '../../core/policy-file/lint-policy.ts';
import { type ParsedPolicy, parsePolicy } from '../../core/policy-file/parse-policy.ts';
import { escapeText } from '../../core/base/escape-text.ts';
import type { Output } from './output.ts';
import { type PolicyPlace, problemLine, readFileText } from './policy-file.ts';
import type { CheckOptions, Owner } from './policy.ts';

interface Finding extends PolicyPlace {
  message: string;
}

/** Problems go to standard output and make the exit code 1; warnings go to standard error and do not change it. */
export async function checkPolicy(file: string, options: CheckOptions, output: Output): Promise<void> {
  const text = await readFileText(file);
  const parsed = parsePolicy(text, { ceiling: options.as === 'ceiling' });
  const report = (kind: 'error' | 'warning', { line = 1, column = 1, message }: Finding): void => {
    if (options.json !== undefined) output.json({ file, line, column, kind, message });
    else if (kind === 'error') output.line(problemLine(file, { line, column }, message));
    else output.note(problemLine(file, { line, column }, `warning: ${message}`));
  };
  if ('problems' in parsed) {
    for (const problem of parsed.problems) report('error', problem);
    process.exitCode = 1;
    return;
  }
  for (const warning of warningsAbout(parsed, options.as)) report('warning', warning);
  const { length } = parsed.policy.rules;
  if (output.forPeople) output.line(`${escapeText(file)}: ${length} ${length === 1 ? 'rule' : 'rules'}, no problem`);
}

function warningsAbout({ policy, lines = [] }: ParsedPolicy, owner: Owner): Finding[] {
  return lintPolicy(policy, { of: owner })
    .map(({ index, message }) => ({ line: index === undefined ? undefined : lines[index], message }))
    .toSorted((one, other) => (one.line ?? 1) - (other.line ?? 1));
}
