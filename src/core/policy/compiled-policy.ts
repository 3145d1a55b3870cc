import { compileCondition, type Condition, type ConditionVariables } from '../match/condition.ts';
import type { ConditionBudget } from '../match/ruling-meter.ts';
import type { SumOf } from '../match/argument-reads.ts';
import { type Glob, type ListReading, maxMatchWork, type GlobSubject } from '../match/glob.ts';
import { affordable, compileFieldGlob, compilePattern, metered, type CallSubjects } from '../match/matching.ts';
import type { Mode, Action } from './modes.ts';
import type { AdvisorSettings, AskSettings, Policy, PolicyLayers } from './policy.ts';
import type { RunSide, RunSideRule } from './run-side.ts';

type Problem = { problem: string };

export interface CompiledRule {
  id: string;
  layer: 'ceiling' | 'parent' | 'agent' | 'run';
  action: Action;
  reason?: string;
  ask?: AskSettings;
  /** Absent: the rule applies to the calls of every agent. */
  agent?: string;
  /** The pattern, or why it is invalid: a rule with an invalid part keeps its place and cannot be evaluated. */
  pattern: ReturnType<typeof compilePattern>;
  fields: readonly { name: string; glob: Glob | Problem }[];
  /** Compiles the condition on first use, because most calls do not reach it. */
  condition?: () => Condition | Problem;
}

/** A rule whose pattern matches a tool's name, or cannot be evaluated against it. */
export interface Candidate {
  rule: CompiledRule;
  named: true | Problem;
}

/** The result of `compilePolicy`, for `evaluate` and `explain`. It holds functions, so it has no JSON form. */
export interface CompiledPolicy {
  mode: Mode;
  rules: readonly CompiledRule[];
  riskDefaults: Policy['riskDefaults'];
  advisor?: AdvisorSettings;
  /** The rules that may apply to a tool of this name. */
  candidates: (subjects: CallSubjects) => Candidates;
}

export interface Candidates {
  /** In policy order. */
  all: readonly Candidate[];
  /** Total length of the argument patterns of `all`, which determines the cost of matching all of them. */
  argsLength: number;
  /** The candidates' index; undefined until the name has been used often, and if an index would not help. */
  index: () => CandidateIndex<Candidate> | undefined;
}

/** Compiled policies, one for each layer. A layer without a policy gives no answer. */
export interface CompiledLayers {
  /** The operator's policy. */
  ceiling?: CompiledPolicy;
  /** For a nested run: further ceilings, which are the policies that bind the runs above, the root's first. */
  parents?: readonly CompiledPolicy[];
  /** The policies of the agent and the run's input, merged by `mergeRunSide`. */
  run?: CompiledPolicy;
}

/** The values that conditions and agents' blocks read; made once per ruling. */
export interface RuleFacts {
  agent: string | undefined;
  variables: () => ConditionVariables;
  sumOf: SumOf;
  budget: ConditionBudget;
  /** The results of conditions in this ruling, for a command: they are the same for each of its parts. */
  held?: Map<CompiledRule, boolean | Problem>;
}

const tooManyNames = 200;
/** The use of a tool's candidates at which their index is built, for about the cost of fifty rulings without it. */
const usesBeforeIndex = 20;
/** The longest tool name whose candidates are cached. Finding them does not count towards a ruling's limit. */
const shortName = 256;

/**
 * Compiles a policy for many rulings. Rules without an id get `LAYER#N` or `LAYER.AGENT#N`, N from 1 in their own list.
 * Never throws: calls that might match a rule that cannot be compiled are asked about or denied.
 *
 * @example
 * ```ts
 * import { compilePolicy, parsePolicy } from 'countersign';
 *
 * const parsed = parsePolicy(`
 * rules: [{ pattern: '*', action: ask }]
 * agents: { ops: { rules: [{ pattern: restart, action: allow }] } }`);
 * if ('problems' in parsed) throw new Error('the policy is invalid');
 * console.log(compilePolicy(parsed.policy, 'ceiling').rules.map(({ id }) => id)); // [ 'ceiling#1', 'ceiling.ops#1' ]
 * ```
 */
export function compilePolicy(policy: Policy | RunSide, layer: 'ceiling' | 'parent' | 'run'): CompiledPolicy {
  const counts = new Map<string, number>();
  const rules = policy.rules.map((rule: RunSideRule) => {
    // All rules of a parent count as one list, whether they come from its agent or from its input.
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
    advisor: policy.advisor,
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

export function compileLayers({ ceiling, parents, run }: PolicyLayers): CompiledLayers {
  return {
    ...(ceiling && { ceiling: compilePolicy(ceiling, 'ceiling') }),
    ...(parents && { parents: parents.map((parent) => compilePolicy(parent, 'parent')) }),
    ...(run && { run: compilePolicy(run, 'run') }),
  };
}

/** Compiles one rule, and its condition at the first use. */
function compileRule(rule: RunSideRule, id: string, layer: CompiledRule['layer']): CompiledRule {
  const { action, reason, ask, agent, when, args = {} } = rule;
  let condition: Condition | Problem | undefined;
  // Leave out keys without a value, as in a parsed rule.
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

/** The rules whose pattern names the call's tool or cannot be evaluated, with an index once it is worth its cost. */
function candidatesOf(rules: readonly CompiledRule[], { meter: _meter, ...call }: CallSubjects): Candidates {
  // A separate meter, because the cost of a ruling must not depend on whether names were matched before.
  const subjects = { ...call, meter: { work: 0 } };
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
      if (uses === usesBeforeIndex) index = indexCandidates(all);
      return index;
    },
  };
}

/**
 * True if a candidate's agent, pattern, argument globs and condition all match. `subjects` come from `boundedSubjects`.
 * Returns false if one clearly does not match, even if another cannot be evaluated; otherwise the first problem.
 */
export function ruleMatches({ rule, named }: Candidate, subjects: CallSubjects, facts: RuleFacts): boolean | Problem {
  const { agent, pattern, fields, condition } = rule;
  const reading = readingOf(rule.action);
  let found: true | Problem = named;
  if (agent !== undefined && agent !== facts.agent) {
    if (facts.agent !== undefined) return false;
    found = { problem: 'the agent of this call is not known' };
  }
  if (pattern.args !== undefined) {
    const matched = metered(pattern.args, subjects.args(), subjects, reading);
    if (matched === false) return false;
    if (found === true) found = withArgumentName(subjects.subject, matched);
  }
  for (const { name, glob } of fields) {
    const matched = 'problem' in glob ? glob : affordable(glob, subjects.field(name), subjects, reading);
    if (matched === false) return false;
    if (found === true) found = withArgumentName(name, matched);
  }
  if (condition === undefined) return found;
  const held = holds(rule, condition(), facts);
  return held === false || found === true ? held : found;
}

/** How the globs of a rule read a list. */
export function readingOf(action: Action): ListReading {
  return action === 'allow' ? 'every' : 'any';
}

/** The problem with the name of the argument before it, so that a model can correct its call. A match stays `true`. */
function withArgumentName(argument: string | undefined, matched: true | Problem): true | Problem {
  if (matched === true || matched.problem.startsWith("argument '")) return matched;
  const which = argument === undefined ? 'the arguments' : `argument '${argument}'`;
  return { problem: `${which}: ${matched.problem}` };
}

/** Whether a rule's condition holds, or why that is unknown. Evaluated once for all parts of a command. */
export function holds(rule: CompiledRule, condition: Condition | Problem, facts: RuleFacts): boolean | Problem {
  if ('problem' in condition) return condition;
  const known = facts.held?.get(rule);
  if (known !== undefined) return known;
  const result = condition.holds(facts.variables(), facts.budget, facts.sumOf);
  facts.held?.set(rule, result);
  return result;
}

// An index finds, among many rules for one tool, those whose pattern may match a text, without trying each one. A text
// that a glob matches contains the glob's literals. So each rule is filed under four consecutive characters of its
// literals, those that the fewest rules share, and every four consecutive characters of a text are looked up.

interface Patterned {
  rule: { pattern: ReturnType<typeof compilePattern> };
}

interface CandidateIndex<Candidate> {
  /** The candidates that may match, in order; undefined if trying all is as fast, or is needed to report a problem. */
  mayMatch: (text: GlobSubject) => readonly Candidate[] | undefined;
}

/** Below this number of rules, trying each one is faster. */
const fewestIndexed = 16;
const keyLength = 4;

/** The index of rules for one tool; undefined if it would save nothing. Where it gives undefined, try each rule. */
export function indexCandidates<Candidate extends Patterned>(
  candidates: readonly Candidate[],
): CandidateIndex<Candidate> | undefined {
  if (candidates.length < fewestIndexed) return undefined;
  const keysOf = candidates.map((candidate) => (candidate.rule.pattern.args?.literals ?? []).flatMap(foursOf));
  const shared = new Map<number, number>();
  for (const keys of keysOf) for (const key of new Set(keys)) shared.set(key, (shared.get(key) ?? 0) + 1);
  const always: number[] = [];
  const filed = new Map<number, number[]>();
  let longest = 0;
  for (const [position, keys] of keysOf.entries()) {
    longest = Math.max(longest, candidates[position]!.rule.pattern.args?.source.length ?? 0);
    if (keys.length === 0) {
      always.push(position);
      continue;
    }
    const rarest = keys.reduce((best, key) => (shared.get(key)! < shared.get(best)! ? key : best));
    const positions = filed.get(rarest);
    if (positions === undefined) filed.set(rarest, [position]);
    else positions.push(position);
  }
  if (filed.size === 0) return undefined;
  return {
    mayMatch: (text) => {
      // The JSON of a list does not contain the texts of its elements: quotes in them are escaped.
      if ('problem' in text || text.list !== undefined) return undefined;
      const { mapped } = text;
      // In a longer text, finding the fours takes longer than trying each rule. And too much work is a problem of its
      // rule, which must not be left out.
      if (mapped.length > candidates.length || mapped.length * longest > maxMatchWork) return undefined;
      const found = [...always];
      const seen = new Set<number>();
      for (const key of foursOf(mapped)) {
        const positions = filed.get(key);
        if (positions === undefined || seen.has(key)) continue;
        seen.add(key);
        found.push(...positions);
      }
      return found.toSorted((one, other) => one - other).map((position) => candidates[position]!);
    },
  };
}

/** Every four consecutive characters as one number; different fours may give the same number. */
function foursOf(text: string): number[] {
  const keys: number[] = [];
  let key = 0;
  for (let index = 0; index < text.length; index += 1) {
    key = (key << 8) ^ (text.charCodeAt(index) & 0xff);
    if (index >= keyLength - 1) keys.push(key);
  }
  return keys;
}
