/** Rules under `assess:` in a policy: what they are, and whether one matches a call. */
import type { Glob } from '../match/glob.ts';
import {
  affordable,
  compileFieldGlob,
  compilePattern,
  matches,
  partSubjects,
  type CallSubjects,
  type CompiledPattern,
} from '../match/matching.ts';
import type { AssessedCall } from './call-view.ts';
import type { Severity } from '../base/tool-call.ts';

export interface AssessRule {
  /** As written, else `assess#N`. */
  id?: string;
  /** `name` or `name:args`, as in a rule. */
  pattern: string;
  /** Globs on single arguments. A call without the argument does not match. */
  args?: Record<string, string>;
  severity: Severity;
  /** Default: names the rule. */
  reason?: string;
  /** Arguments whose values are the affected resources. */
  affected?: string[];
  reversible?: boolean;
  recommend?: string;
  /** Default: from severity medium on. */
  requiresApproval?: boolean;
}

export interface CompiledAssessRule extends AssessRule {
  id: string;
  compiled: CompiledPattern | { problem: string };
  fields: readonly { name: string; glob: Glob | { problem: string } }[];
  /** It never lowers what the tool's risk says. */
  raiseOnly: boolean;
}

/**
 * Compiles the rules of all layers. Below a ceiling or a parent the run's side can only raise a severity: the ceiling's mode asks
 * by it, and a run must not talk its way past that (I10).
 */
export function compileAssessRules(layers: {
  ceiling?: { assess?: readonly AssessRule[] };
  parents?: readonly { assess?: readonly AssessRule[] }[];
  run?: { assess?: readonly AssessRule[] };
}): CompiledAssessRule[] {
  const compileAll = (rules: readonly AssessRule[] = [], layer: string, raiseOnly: boolean): CompiledAssessRule[] =>
    rules.map((rule, index) => ({
      ...rule,
      id: rule.id ?? `${layer}.assess#${index + 1}`,
      compiled: compilePattern(rule.pattern),
      fields: Object.entries(rule.args ?? {}).map(([name, glob]) => ({ name, glob: compileFieldGlob(glob) })),
      raiseOnly,
    }));
  const { ceiling, parents = [], run } = layers;
  return [
    ...compileAll(ceiling?.assess, 'ceiling', false),
    ...parents.flatMap(({ assess }, index) => compileAll(assess, 'parent', ceiling !== undefined || index > 0)),
    ...compileAll(run?.assess, 'run', ceiling !== undefined || parents.length > 0),
  ];
}

/** How far a rule matches. `part`: not all that would run, so that it may raise and not lower. */
export type AssessMatch = 'no' | 'part' | 'all' | { problem: string };

/** Whether a rule matches a call; of a split command, which of its parts. */
export function matchAssessRule(rule: CompiledAssessRule, call: AssessedCall, subjects: CallSubjects): AssessMatch {
  const whole = matchesSubjects(rule, call, subjects);
  if (call.shell === undefined || typeof whole === 'object')
    return whole === true ? 'all' : whole === false ? 'no' : whole;
  let some = whole;
  let all = call.shell.uncertain.length === 0 && call.shell.parts.length > 0;
  for (const { text, reduced } of call.shell.parts) {
    const own = matchesSubjects(rule, call, partSubjects(subjects, call.subject, text));
    const short = reduced === text ? own : matchesSubjects(rule, call, partSubjects(subjects, call.subject, reduced));
    if (typeof own === 'object') return own;
    if (typeof short === 'object') return short;
    some ||= own || short;
    all &&= own;
  }
  return all ? 'all' : some ? 'part' : 'no';
}

function matchesSubjects(
  { compiled, fields }: CompiledAssessRule,
  { args }: AssessedCall,
  subjects: CallSubjects,
): boolean | { problem: string } {
  // Own properties only: `constructor` and its like are no arguments.
  if (fields.some(({ name }) => !Object.hasOwn(args, name))) return false;
  let result: boolean | { problem: string } = 'problem' in compiled ? compiled : matches(compiled, subjects);
  for (const { name, glob } of fields) {
    if (result === false) return false;
    const field = 'problem' in glob ? glob : affordable(glob, subjects.field(name), subjects);
    if (field !== true) result = field === false ? false : result === true ? field : result;
  }
  return result;
}
