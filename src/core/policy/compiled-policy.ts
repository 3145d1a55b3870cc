/** A policy made ready for many rulings. */
import { compileCondition, type Condition, type ConditionVariables } from '../match/condition.ts';
import type { ConditionBudget } from '../match/condition-budget.ts';
import { indexCandidates, type CandidateIndex } from './candidate-index.ts';
import { globMatches, type Glob } from '../match/glob.ts';
import { affordable, compileFieldGlob, compilePattern, type CallSubjects } from '../match/matching.ts';
import type { Mode } from './modes.ts';
import type { AskSettings, Policy, PolicyLayers } from './policy.ts';
import type { Action } from './action.ts';
import type { RunSide, RunSideRule } from './run-side.ts';

type Problem = { problem: string };

export interface CompiledRule {
  id: string;
  layer: 'ceiling' | 'parent' | 'agent' | 'run';
  action: Action;
  reason?: string;
  ask?: AskSettings;
  /** Absent: for calls of every agent. */
  agent?: string;
  /** A pattern that `parsePolicy` would refuse stays in its place, and cannot be evaluated; so do the other two. */
  pattern: ReturnType<typeof compilePattern>;
  fields: readonly { name: string; glob: Glob | Problem }[];
  /** Compiled when first asked for: most calls never get that far. */
  condition?: () => Condition | Problem;
}

/** A rule whose pattern matches a tool's name, or cannot be matched against it. */
export interface Candidate {
  rule: CompiledRule;
  named: true | Problem;
}

export interface CompiledPolicy {
  mode: Mode;
  rules: readonly CompiledRule[];
  riskDefaults: Policy['riskDefaults'];
  /** Those whose pattern matches the call's name. */
  candidates: (subjects: CallSubjects) => Candidates;
}

/** The rules that a tool's name leaves. */
export interface Candidates {
  /** In the order of the policy. */
  all: readonly Candidate[];
  /** Of all their patterns for arguments together: what matching them against one text costs. */
  argsLength: number;
  /** Made when the name has come up often enough. */
  index: () => CandidateIndex<Candidate> | undefined;
}

export interface CompiledLayers {
  ceiling?: CompiledPolicy;
  /** As in `PolicyLayers`. */
  parents?: readonly CompiledPolicy[];
  run?: CompiledPolicy;
}

/** What conditions and agents' blocks look at, made once for each ruling. */
export interface RuleFacts {
  agent: string | undefined;
  variables: () => ConditionVariables;
  budget: ConditionBudget;
  /** Conditions that this ruling has evaluated: they are the same for every part of a command. Absent where it has no parts. */
  held?: Map<CompiledRule, boolean | Problem>;
}

const tooManyNames = 200;
/** An index costs as much as some fifty rulings without one. It changes no answer. */
const usesWorthAnIndex = 20;
/** Names up to this length are matched once, and not counted in what a ruling may cost. */
const shortName = 256;

/**
 * Compiles a policy once for many rulings. Rules without an id get `LAYER#N` or `LAYER.AGENT#N`, N from 1 in their own
 * list. Never throws: a rule that cannot be compiled stays in its place, and asks.
 *
 * @example
 * const { policy } = parsePolicy({ rules: [{ pattern: '*', action: 'ask' }], agents: { ops: { rules: [{ pattern: 'x', action: 'deny' }] } } });
 * compilePolicy(policy, 'ceiling').rules.map(({ id }) => id); // => ['ceiling#1', 'ceiling.ops#1']
 */
export function compilePolicy(policy: Policy | RunSide, layer: 'ceiling' | 'parent' | 'run'): CompiledPolicy {
  const counts = new Map<string, number>();
  const rules = policy.rules.map((rule: RunSideRule) => {
    // Seen from below, what the parent's own policies wrote is one.
    const from = layer === 'parent' ? layer : (rule.layer ?? layer);
    const list = rule.agent === undefined ? from : `${from}.${rule.agent}`;
    const count = (counts.get(list) ?? 0) + 1;
    counts.set(list, count);
    return compileRule(rule, rule.id ?? `${list}#${count}`, from);
  });
  const byName = new Map<string, Candidates>();
  return {
    mode: policy.mode ?? 'default',
    rules,
    riskDefaults: policy.riskDefaults,
    candidates: (subjects) => {
      const { name } = subjects;
      if ('problem' in name || name.mapped.length > shortName) return candidatesOf(rules, subjects);
      let found = byName.get(name.mapped);
      if (found === undefined) {
        if (byName.size === tooManyNames) byName.clear();
        found = candidatesOf(rules, { ...subjects, afford: () => true });
        byName.set(name.mapped, found);
      }
      return found;
    },
  };
}

/** The policies of all layers made ready. */
export function compileLayers({ ceiling, parents, run }: PolicyLayers): CompiledLayers {
  return {
    ...(ceiling && { ceiling: compilePolicy(ceiling, 'ceiling') }),
    ...(parents && { parents: parents.map((parent) => compilePolicy(parent, 'parent')) }),
    ...(run && { run: compilePolicy(run, 'run') }),
  };
}

function compileRule(rule: RunSideRule, id: string, layer: CompiledRule['layer']): CompiledRule {
  const { action, reason, ask, agent, when, args = {} } = rule;
  let condition: Condition | Problem | undefined;
  return {
    id,
    layer,
    action,
    pattern: compilePattern(rule.pattern),
    fields: Object.keys(args).map((name) => ({ name, glob: compileFieldGlob(args[name]!) })),
    ...(reason && { reason }),
    ...(ask && { ask }),
    ...(agent !== undefined && { agent }),
    ...(when !== undefined && { condition: () => (condition ??= compileCondition(when)) }),
  };
}

function candidatesOf(rules: readonly CompiledRule[], subjects: CallSubjects): Candidates {
  const all = rules.flatMap((rule): Candidate[] => {
    const { pattern } = rule;
    const named = 'problem' in pattern ? pattern : affordable(pattern.name, subjects.name, subjects);
    return named === false ? [] : [{ rule, named }];
  });
  let uses = 0;
  let index: CandidateIndex<Candidate> | undefined;
  return {
    all,
    argsLength: all.reduce((sum, { rule: { pattern } }) => sum + (pattern.args?.source.length ?? 0), 0),
    index: () => {
      uses += 1;
      if (uses === usesWorthAnIndex) index = indexCandidates(all);
      return index;
    },
  };
}

/**
 * Whether a candidate matches, `subjects` being of `boundedSubjects`: its agent, its pattern, its globs and its
 * condition, all of them. One that says no decides, even beside one that cannot be evaluated; without a no, that one's
 * problem is the answer.
 */
export function ruleMatches({ rule, named }: Candidate, subjects: CallSubjects, facts: RuleFacts): boolean | Problem {
  const { agent, pattern, fields, condition } = rule;
  let found: true | Problem = named;
  if (agent !== undefined && agent !== facts.agent) {
    if (facts.agent !== undefined) return false;
    found = { problem: 'the agent of this call is not known' };
  }
  if (pattern.args !== undefined) {
    const matched = globMatches(pattern.args, subjects.args());
    if (matched === false) return false;
    if (found === true) found = matched;
  }
  for (const { name, glob } of fields) {
    const matched = 'problem' in glob ? glob : affordable(glob, subjects.field(name), subjects);
    if (matched === false) return false;
    if (found === true) found = matched;
  }
  if (condition === undefined) return found;
  const held = holds(rule, condition(), facts);
  return held === false || found === true ? held : found;
}

/** Whether a condition holds for this ruling. */
export function holds(rule: CompiledRule, condition: Condition | Problem, facts: RuleFacts): boolean | Problem {
  if ('problem' in condition) return condition;
  const known = facts.held?.get(rule);
  if (known !== undefined) return known;
  const result = condition.holds(facts.variables(), facts.budget);
  facts.held?.set(rule, result);
  return result;
}
