/** Finds what a policy names and a worker does not have: tools, agents and arguments. */
import { nearestName } from '../text/unknown-name.ts';
import { argumentsRead } from '../core/match/argument-reads.ts';
import { globMatches, globSubject, type Glob } from '../core/match/glob.ts';
import { compileFieldGlob } from '../core/match/matching.ts';
import { compileFor } from './compile-for.ts';
import type { Policy } from '../core/policy/policy.ts';
import type { PolicyWarning } from './policy-warning.ts';

/** What a worker has. */
export interface KnownNames {
  /** The names of a tool's arguments; undefined if it may have others. */
  tools: ReadonlyMap<string, readonly string[] | undefined>;
  agents: readonly string[];
}

/** Warnings about names in a policy that match nothing that is known. */
export function lintNames(policy: Policy, owner: 'ceiling' | 'agent' | 'run', known: KnownNames): PolicyWarning[] {
  const names = [...known.tools.keys()];
  const rules = compileFor(policy, owner).rules.flatMap((compiled, index): PolicyWarning[] => {
    const { id, pattern, agent } = compiled;
    const { when, args = {} } = policy.rules[index]!;
    const about = (message: string): PolicyWarning => ({ index, rule: id, message: `rule ${id} ${message}` });
    if ('problem' in pattern) return [];
    const found: PolicyWarning[] = [];
    if (agent !== undefined && !known.agents.includes(agent)) {
      found.push(about(`is for agent '${agent}', and there is none of that name${meant(agent, known.agents)}`));
    }
    const matched = matching(pattern.name, names);
    if (matched.length === 0) {
      return [
        ...found,
        about(`matches no tool: there is no '${pattern.name.source}'${meant(pattern.name.source, names)}`),
      ];
    }
    const read = [...Object.keys(args), ...(when === undefined ? [] : argumentsRead(when))];
    return [...found, ...[...new Set(read)].flatMap((name) => absent(name, matched, known)).map(about)];
  });
  const shown = policy.approval.show;
  const ofShow = Object.entries(shown === false || shown === undefined ? {} : shown).flatMap(
    ([key, listed]): string[] => {
      const glob = compileFieldGlob(key);
      const matched = 'problem' in glob ? [] : matching(glob, names);
      if (matched.length === 0) return [`has '${key}', and there is no such tool${meant(key, names)}`];
      return listed.flatMap((name) => absent(name, matched, known));
    },
  );
  return [...rules, ...ofShow.map((message) => ({ message: `'approval.show' ${message}` }))];
}

function matching(glob: Glob, names: readonly string[]): string[] {
  return names.filter((name) => globMatches(glob, globSubject(name)) === true);
}

/** A name that none of these tools has as an argument. */
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
