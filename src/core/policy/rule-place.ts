import type { CompiledPolicy } from './compiled-policy.ts';
import type { Ruling } from './ruling.ts';

/** The lines of the rules in a policy file, apart from the policy: moving a rule must not change its digest. */
export interface RuleLines {
  /** The file's name, without its folder. */
  file: string;
  /** The line of each rule, from 1, in the order of the policy. */
  lines: number[];
}

/** `FILE:LINE` of the rule that decided, if it is in the operator's policy and `known` has the lines of that policy. */
export function rulePlace(
  { layer, rule }: Ruling,
  ceiling: CompiledPolicy | undefined,
  known: RuleLines | undefined,
): string | undefined {
  if (layer !== 'ceiling' || ceiling === undefined || known === undefined) return undefined;
  const line = known.lines[ceiling.rules.findIndex(({ id }) => id === rule)];
  return line === undefined ? undefined : `${known.file}:${line}`;
}
