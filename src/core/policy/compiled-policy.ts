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
  /** The pattern, or why it is invalid: a rule with an invalid part stays in its place but cannot be evaluated. */
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
  /** The length of all argument patterns in `all`, which determines what it costs to match them. */
  argsLength: number;
  /** An index of `all`; undefined while the tool has few uses, and if an index would not help. */
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
  /** For a command: results of conditions in this ruling. They are the same for each part of the command. */
  held?: Map<CompiledRule, boolean | Problem>;
}

const tooManyNames = 200;
/** Building an index costs about fifty rulings, so a tool gets an index only when it is used this many times. */
const usesBeforeIndex = 20;
/** The longest tool name whose candidates are cached. Finding these adds nothing to the work of a ruling. */
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
    // The rules of a parent are numbered as one list, whether they come from its agent or from its input.
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
        // Costs the ruling nothing: whether this is cached already must not change an answer.
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

/** Compiles one rule. An invalid part becomes a problem, which `ruleMatches` reports. */
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

/** The rules whose pattern names the tool or cannot be evaluated. They have an index after `usesBeforeIndex` uses. */
function candidatesOf(rules: readonly CompiledRule[], ofCall: CallSubjects): Candidates {
  // A meter of its own, because the result is cached: a ruling that makes it must not count more than the next one.
  const subjects = { ...ofCall, meter: { work: 0 } };
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
 * True if agent, pattern, argument globs and condition of a rule all match; false if any of them clearly does not;
 * otherwise the first problem. `subjects` come from `boundedSubjects`.
 */
export function ruleMatches({ rule, named }: Candidate, subjects: CallSubjects, facts: RuleFacts): boolean | Problem {
  const { agent, pattern, fields, condition } = rule;
  const reading = readingOf(rule.action);
  let soFar: true | Problem = named;
  if (agent !== undefined && agent !== facts.agent) {
    if (facts.agent !== undefined) return false;
    soFar = { problem: 'the agent of this call is not known' };
  }
  if (pattern.args !== undefined) {
    const matched = metered(pattern.args, subjects.args(), subjects, reading);
    if (matched === false) return false;
    if (soFar === true) soFar = withArgumentName(subjects.subject, matched);
  }
  for (const { name, glob } of fields) {
    const matched = 'problem' in glob ? glob : affordable(glob, subjects.field(name), subjects, reading);
    if (matched === false) return false;
    if (soFar === true) soFar = withArgumentName(name, matched);
  }
  if (condition === undefined) return soFar;
  const result = holds(rule, condition(), facts);
  return result === false || soFar === true ? result : soFar;
}

/** How the globs of a rule read a list: an allow rule must match every element. */
export function readingOf(action: Action): ListReading {
  return action === 'allow' ? 'every' : 'any';
}

/** Puts the name of the argument before a problem, so that a model can correct its call. A match stays `true`. */
function withArgumentName(argument: string | undefined, matched: true | Problem): true | Problem {
  if (matched === true || matched.problem.startsWith("argument '")) return matched;
  const which = argument === undefined ? 'the arguments' : `argument '${argument}'`;
  return { problem: `${which}: ${matched.problem}` };
}

/** Whether a rule's condition holds, or why that is unknown. The result is kept for all parts of a command. */
export function holds(rule: CompiledRule, condition: Condition | Problem, facts: RuleFacts): boolean | Problem {
  if ('problem' in condition) return condition;
  const known = facts.held?.get(rule);
  if (known !== undefined) return known;
  const result = condition.holds(facts.variables(), facts.budget, facts.sumOf);
  facts.held?.set(rule, result);
  return result;
}

// An index finds the rules of a tool whose pattern may match a text, without trying each rule. A text that a glob
// matches contains the glob's literals. So each rule is filed under four consecutive characters of its literals, the
// four that the fewest rules share. Then every four consecutive characters of a text are looked up.

interface Patterned {
  rule: { pattern: ReturnType<typeof compilePattern> };
}

interface CandidateIndex<Candidate> {
  /** The candidates that may match, in order. Undefined: try all, as fast here, or needed to report a problem. */
  mayMatch: (text: GlobSubject) => readonly Candidate[] | undefined;
}

/** Below this number of rules, trying each one is faster. */
const fewestIndexed = 16;
const keyLength = 4;

/** An index of the rules for one tool; undefined if it would save nothing. */
export function indexCandidates<Candidate extends Patterned>(
  candidates: readonly Candidate[],
): CandidateIndex<Candidate> | undefined {
  if (candidates.length < fewestIndexed) return undefined;
  const { filed, unfiled } = filedByRarestKey(candidates);
  if (filed.size === 0) return undefined;
  const lengths = candidates.map(({ rule }) => rule.pattern.args?.source.length ?? 0);
  const longest = lengths.reduce((most, length) => Math.max(most, length), 0);
  return {
    mayMatch: (text) => {
      // The JSON of a list does not contain the texts of its elements: quotes in them are escaped.
      if ('problem' in text || text.list !== undefined) return undefined;
      const { mapped } = text;
      // In a longer text, finding the fours takes longer than trying each rule. Too much work is a problem that each
      // rule must report.
      if (mapped.length > candidates.length || mapped.length * longest > maxMatchWork) return undefined;
      const found = [...unfiled];
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

/** The positions of the rules, by the rarest key of their literals. `unfiled`: those of rules without a key. */
function filedByRarestKey(rules: readonly Patterned[]): { filed: Map<number, number[]>; unfiled: number[] } {
  const keysOf = rules.map(({ rule }) => (rule.pattern.args?.literals ?? []).flatMap(foursOf));
  const ruleCount = new Map<number, number>();
  for (const keys of keysOf) for (const key of new Set(keys)) ruleCount.set(key, (ruleCount.get(key) ?? 0) + 1);
  const unfiled: number[] = [];
  const filed = new Map<number, number[]>();
  for (const [position, keys] of keysOf.entries()) {
    if (keys.length === 0) {
      unfiled.push(position);
      continue;
    }
    const rarest = keys.reduce((best, key) => (ruleCount.get(key)! < ruleCount.get(best)! ? key : best));
    const positions = filed.get(rarest);
    if (positions === undefined) filed.set(rarest, [position]);
    else positions.push(position);
  }
  return { filed, unfiled };
}

/** Every four consecutive characters, each as one number. Different fours may give the same number. */
function foursOf(text: string): number[] {
  const keys: number[] = [];
  let key = 0;
  for (let index = 0; index < text.length; index += 1) {
    key = (key << 8) ^ (text.charCodeAt(index) & 0xff);
    if (index >= keyLength - 1) keys.push(key);
  }
  return keys;
}
