import { escapeText } from 'countersign/base';
import {
  lintPolicy,
  checkGated,
  knownNames,
  createRegistry,
  lintNames,
  type ParsedPolicy,
  type KnownNames,
} from 'countersign/policy';
import { loadConfig } from '../base/load-config.ts';
import type { Output } from '../base/output.ts';
import { type PolicyPlace, problemLine, readPolicyFile } from './policy-file.ts';
import type { PolicyCheckOptions, Owner } from './policy.ts';

interface Finding extends PolicyPlace {
  message: string;
}

/** Problems go to standard output and make the exit code 1; warnings go to standard error and do not change it. */
export async function checkPolicyFile(file: string, options: PolicyCheckOptions, output: Output): Promise<void> {
  const parsed = await readPolicyFile(file, options.as);
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
  const known = options.module === undefined ? undefined : await namesOf(options.module);
  for (const warning of warningsAbout(parsed, options.as, known)) report('warning', warning);
  const { length } = parsed.policy.rules;
  if (output.forPeople) output.line(`${escapeText(file)}: ${length} ${length === 1 ? 'rule' : 'rules'}, no problem`);
}

/** Loaded on demand: most checks need no module. */
async function namesOf(module: string): Promise<KnownNames> {
  const { agents = [], tools, gated = {} } = await loadConfig(module);
  return knownNames(createRegistry({ agents, tools }), checkGated(gated));
}

function warningsAbout({ policy, lines = [] }: ParsedPolicy, owner: Owner, known: KnownNames | undefined): Finding[] {
  const names = known === undefined ? [] : lintNames(policy, owner, known);
  return [...lintPolicy(policy, { of: owner, ...(known && { known }) }), ...names]
    .map(({ index, message }) => ({ line: index === undefined ? undefined : lines[index], message }))
    .toSorted((one, other) => (one.line ?? 1) - (other.line ?? 1));
}
