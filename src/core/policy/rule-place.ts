import type { CompiledPolicy } from './compiled-policy.ts';
import type { Ruling } from './ruling.ts';

/**
 * Where the rules of a policy file are. Recorded beside the policy and not in it, so that its digest stays the same when a
 * comment moves a rule.
 */
export interface RuleLines {
  /** The file's name, without its folder. */
  file: string;
  /** The line of each rule, from 1, in the order of the policy. */
  lines: number[];
}

/** `FILE:LINE` of the rule that decided, if it is one of the operator's policy and its lines are known. */
export function rulePlace(
  { layer, rule }: Ruling,
  ceiling: CompiledPolicy | undefined,
  known: RuleLines | undefined,
): string | undefined {
  if (layer !== 'ceiling' || ceiling === undefined || known === undefined) return undefined;
  const line = known.lines[ceiling.rules.findIndex(({ id }) => id === rule)];
  return line === undefined ? undefined : `${known.file}:${line}`;
}
