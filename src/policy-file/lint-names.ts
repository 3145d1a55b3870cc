import { nearestName } from '../text/check-call-options.ts';
import { argumentsRead, sumsRead } from '../core/match/argument-reads.ts';
import { globMatches, globSubject, type Glob } from '../core/match/glob.ts';
import { compileFieldGlob } from '../core/match/matching.ts';
import { compileFor } from './condition-constants.ts';
import type { CompiledRule } from '../core/policy/compiled-policy.ts';
import type { AdvisorSettings, Policy, Rule } from '../core/policy/policy.ts';

/** The names of the tools, agents and advisors that a worker has. */
export interface KnownNames {
  /** The tools by name, with the names of their arguments; undefined if a tool may have other arguments too. */
  tools: ReadonlyMap<string, readonly string[] | undefined>;
  /** The arguments that each call of a tool has. Default: none. */
  required?: ReadonlyMap<string, readonly string[]>;
  /** The prefixes of existing but unlisted tools, such as those of an MCP server. Default: none. */
  prefixes?: readonly string[];
  agents: readonly string[];
  /** The names of the advisors. Absent: unknown. */
  advisors?: readonly string[];
}

/** Warnings about names in a policy that match no known name. */
export function lintNames(policy: Policy, owner: 'ceiling' | 'agent' | 'run', known: KnownNames): PolicyWarning[] {
  const { rules } = compileFor(policy, owner);
  const about = (index: number, problem: string): PolicyWarning => {
    const { id } = rules[index]!;
    return { index, rule: id, message: `rule ${id} ${problem}` };
  };
  return [
    ...rules.flatMap((rule, index) =>
      namesInRule(rule, policy.rules[index]!, known).map((problem) => about(index, problem)),
    ),
    ...unknownAdvisor(policy.advisor, known).map((problem) => ({ message: `'advisor' ${problem}` })),
    ...rules.flatMap(({ ask }, index) => unknownAdvisor(ask?.advisor, known).map((problem) => about(index, problem))),
    ...namesInShow(policy.approval.show, known).map((problem) => ({ message: `'approval.show' ${problem}` })),
  ];
}

/** The unknown names in a rule, each as a clause: its agent, its tools, and the arguments that it reads. */
function namesInRule({ pattern, agent }: CompiledRule, { when, args = {} }: Rule, known: KnownNames): string[] {
  if ('problem' in pattern) return [];
  const names = [...known.tools.keys()];
  const problems: string[] = [];
  if (agent !== undefined && !known.agents.includes(agent)) {
    problems.push(`is for agent '${agent}', and there is none of that name${meant(agent, known.agents)}`);
  }
  const matched = matching(pattern.name, names);
  // The rule may be for tools that are not listed, whose arguments are unknown.
  if (matched.length === 0 && mayMatch(pattern.name, known)) return problems;
  if (matched.length === 0) {
    const { source } = pattern.name;
    return [...problems, `matches no tool: there is no '${source}'${meant(source, names)}`];
  }
  for (const { tool, argument } of when === undefined ? [] : sumsRead(when)) {
    if (known.prefixes?.some((prefix) => tool.startsWith(prefix))) continue;
    if (!names.includes(tool))
      problems.push(`adds up '${argument}' of '${tool}', and there is no such tool${meant(tool, names)}`);
    else problems.push(...absent(argument, [tool], known));
  }
  const read = new Set([...Object.keys(args), ...(when === undefined ? [] : argumentsRead(when))]);
  return [...problems, ...[...read].flatMap((name) => absent(name, matched, known))];
}

/** The unknown names in `approval.show`, as clauses: globs that match no tool, arguments that no matched tool has. */
function namesInShow(show: Policy['approval']['show'], known: KnownNames): string[] {
  const names = [...known.tools.keys()];
  return Object.entries(show === false || show === undefined ? {} : show).flatMap(([key, listed]): string[] => {
    const glob = compileFieldGlob(key);
    const matched = 'problem' in glob ? [] : matching(glob, names);
    if (matched.length > 0) return listed.flatMap((name) => absent(name, matched, known));
    if (!('problem' in glob) && mayMatch(glob, known)) return [];
    return [`has '${key}', and there is no such tool${meant(key, names)}`];
  });
}

function unknownAdvisor(advisor: AdvisorSettings | false | undefined, { advisors }: KnownNames): string[] {
  if (advisor === undefined || advisor === false || advisors?.includes(advisor.name) !== false) return [];
  return [`names advisor '${advisor.name}', which the worker does not have${meant(advisor.name, advisors)}`];
}

function matching(glob: Glob, names: readonly string[]): string[] {
  return names.filter((name) => globMatches(glob, globSubject(name)) === true);
}

/** True if each call of the tools that the glob matches has this argument. */
export function isAlwaysGiven(glob: Glob, argument: string, known: KnownNames): boolean {
  const matched = matching(glob, [...known.tools.keys()]);
  if (matched.length === 0 || mayMatch(glob, known)) return false;
  return matched.every((tool) => known.required?.get(tool)?.includes(argument));
}

/** True if a tool that is not listed may match the glob. */
function mayMatch(glob: Glob, { prefixes = [] }: KnownNames): boolean {
  return prefixes.some((prefix) => glob.source.startsWith(prefix) || globMatches(glob, globSubject(prefix)) === true);
}

/** A clause about an argument's name that none of these tools has; empty if one of them has it or may have it. */
function absent(name: string, tools: readonly string[], known: KnownNames): string[] {
  const lists = tools.map((tool) => known.tools.get(tool));
  if (lists.some((list) => list === undefined || list.includes(name))) return [];
  const others = lists.flatMap((list) => list ?? []);
  return [
    `names argument '${name}', which ${tools
      .slice(0, 3)
      .map((tool) => `'${tool}'`)
      .join(', ')} has not${meant(name, others)}`,
  ];
}

function meant(wrong: string, names: readonly string[]): string {
  const nearest = nearestName(wrong, names);
  return nearest === undefined ? '' : `; did you mean '${nearest}'?`;
}

/** A likely mistake in a valid policy. */
export interface PolicyWarning {
  /** Index in `policy.rules`; absent if the warning is not about a rule. */
  index?: number;
  rule?: string;
  /** One sentence. */
  message: string;
}
