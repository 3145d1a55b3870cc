/**
 * Rules for a shell command read the whole call, because another argument (`env`, `cwd`, `shell`) may change what an
 * allowed command does. So a rule or a grant for the command allows the call only if it names every other argument,
 * except those that the tool declared harmless.
 */
import type { Json, JsonObject } from '../base/tool-call.ts';
import { shortened } from '../base/text.ts';
import type { ShellSplit } from '../shell/parts.ts';
import type { CompiledRule } from './compiled-policy.ts';
import { subjectGlobs } from './part-matchers.ts';

interface DeclaredCall {
  args: JsonObject;
  subject?: string;
  shell?: ShellSplit;
  beside?: readonly string[];
}

export interface GrantedCommand {
  subject: string;
  text: Json | undefined;
  shell: ShellSplit;
}

const mostNamed = 3;
const longestName = 40;

/** The arguments beside a shell command that the tool did not declare harmless, sorted; empty for every other call. */
export function undeclaredArguments({ args, subject, shell, beside }: DeclaredCall): string[] {
  if (shell === undefined) return [];
  const isUndeclared = (name: string): boolean =>
    args[name] !== undefined && name !== subject && beside?.includes(name) !== true;
  return Object.keys(args).filter(isUndeclared).toSorted();
}

export function grantedCommand({ args, subject, shell }: DeclaredCall): GrantedCommand | undefined {
  return shell === undefined ? undefined : { subject: subject!, text: args[subject!], shell };
}

/** The undeclared arguments that an allow rule for the command does not name. With any of these, it does not allow. */
export function leftOutBy(
  rule: CompiledRule,
  { subject, undeclared }: { subject: string | undefined; undeclared: readonly string[] },
): string[] {
  // Most calls end here: they have no undeclared arguments, and a ruling may read a thousand rules.
  if (undeclared.length === 0) return [];
  if (rule.action !== 'allow' || subjectGlobs(rule, subject).length === 0) return [];
  return undeclared.filter((name) => !rule.fields.some((field) => field.name === name));
}

/** Says which arguments a rule leaves out, as a clause. It is bounded, because a model may choose their names. */
export function allowsOnlyCommand(leftOut: readonly string[]): string {
  const names = leftOut.slice(0, mostNamed).map((name) => `'${shortened(name, longestName)}'`);
  const more = leftOut.length > mostNamed ? ` and ${leftOut.length - mostNamed} more` : '';
  return `allows the command, not ${names.join(', ')}${more} beside it`;
}
