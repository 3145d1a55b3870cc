import { escapeText } from 'countersign/base';
import type { KnownChannels, ParsedPolicy, Policy, PolicyWarning, KnownNames } from 'countersign/policy';
import { lintChannels, lintPolicy, checkGated, knownNames, createRegistry, lintNames } from 'countersign/policy';
import { loadChannels, loadConfig } from '../base/load-config.ts';
import type { Output } from '../base/output.ts';
import { loadCeiling, type PolicyPlace, problemLine, readPolicyFile, type Owner } from './policy-file.ts';
import type { CommonOptions } from '../base/command-line.ts';

export interface PolicyCheckOptions extends CommonOptions {
  as: Owner;
  module?: string;
}

interface Finding extends PolicyPlace {
  message: string;
}

/** Checks a policy file, and prints its problems and warnings. Only a problem sets exit code 1. */
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
  const known = options.module === undefined ? undefined : await knownIn(options.module);
  for (const warning of warningsAbout(parsed, options.as, known)) report('warning', warning);
  const { length } = parsed.policy.rules;
  if (output.forPeople) output.line(`${escapeText(file)}: ${length} ${length === 1 ? 'rule' : 'rules'}, no problem`);
}

/** The command compares a policy with these. If the channels cannot be created, `channels` is the reason. */
interface Known {
  names: KnownNames;
  /** The operator's policy. */
  ceiling: Policy | undefined;
  channels: KnownChannels | string;
}

/** Loads what a module declares. If its channels cannot be created, `channels` is the first line of the error. */
async function knownIn(module: string): Promise<Known> {
  const { agents = [], tools, gated = {} } = await loadConfig(module);
  const names = knownNames(createRegistry({ agents, tools }), checkGated(gated));
  const { channelSetOf, knownChannelsOf } = await import('countersign/adapter');
  const ceiling = await loadCeiling(module);
  try {
    return { names, ceiling, channels: knownChannelsOf(channelSetOf((await loadChannels(module)) ?? {})) };
  } catch (error) {
    const [first = ''] = (error instanceof Error ? error.message : String(error)).split('\n', 1);
    return { names, ceiling, channels: first };
  }
}

/** Returns the warnings by line, those without a line first. With `known`, also those about names and channels. */
function warningsAbout({ policy, lines = [] }: ParsedPolicy, owner: Owner, known: Known | undefined): Finding[] {
  const names = known === undefined ? [] : lintNames(policy, owner, known.names);
  return [
    ...lintPolicy(policy, { of: owner, ...(known && { known: known.names, ceiling: known.ceiling }) }),
    ...names,
    ...(known === undefined ? [] : unsentSteps(policy, owner, known.channels)),
  ]
    .map(({ index, message }) => ({ line: index === undefined ? undefined : lines[index], message }))
    .toSorted((one, other) => (one.line ?? 1) - (other.line ?? 1));
}

/** Returns a warning for each step of an approval that no channel sends. One in all if the channels are unknown. */
function unsentSteps(policy: Policy, owner: Owner, channels: KnownChannels | string): PolicyWarning[] {
  if (typeof channels !== 'string') return lintChannels(policy, owner, channels);
  // Channels that send nothing give a warning for each step, so without warnings the policy has no steps.
  const hasSteps = lintChannels(policy, owner, { steps: new Map() }).length > 0;
  if (!hasSteps) return [];
  return [{ message: `whether a channel sends what it says of waiting requests is not known here: ${channels}` }];
}
