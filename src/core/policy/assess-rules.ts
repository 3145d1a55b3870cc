/** Rules under `assess:` in a policy, compiled, and whether one matches a call. */
import type { AssessedCall, AssessRule } from '../assess/assessment.ts';
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
import { oneRule, type OneRule } from './one-rule.ts';

/** A rule that `compileAssessRules` compiled, for `assess`. */
export interface CompiledAssessRule extends AssessRule {
  id: string;
  /** `problem`: the pattern cannot be compiled, and the rule counts as matching where that is the safe side. */
  compiled: CompiledPattern | { problem: string };
  fields: readonly { name: string; glob: Glob | { problem: string } }[];
  /** True: the rule never lowers the severity of the tool's risk. */
  raiseOnly: boolean;
}

/** What `compileAssessRules` really returns. From engine 5 on, only `asRule` is matched. */
interface RuledAssessRule extends CompiledAssessRule {
  asRule: OneRule;
}

/** The rule as one of the policy's own. */
export function asRule(rule: CompiledAssessRule): OneRule {
  return (rule as Partial<RuledAssessRule>).asRule ?? oneRule(rule);
}

/**
 * Compiles the `assess:` rules of all layers for `assess`. Below a ceiling or a parent, rules can only raise a severity:
 * the ceiling's mode may ask by severity, and a run must not lower it. Never throws.
 *
 * @example
 * ```ts
 * import { assess, compileAssessRules, parsePolicy } from 'countersign';
 *
 * const parsed = parsePolicy(`
 * assess: [{ pattern: 'refund', severity: high, reason: Refunds cannot be taken back }]`);
 * if ('problems' in parsed) throw new Error('the policy is invalid');
 * const rules = compileAssessRules({ ceiling: parsed.policy });
 * const { severity, reasons } = assess({ tool: 'refund', args: { orderId: 'o-17' }, risk: 'write' }, rules);
 * console.log(severity, reasons[0]); // high Refunds cannot be taken back
 * ```
 */
export function compileAssessRules(layers: {
  ceiling?: { assess?: readonly AssessRule[] };
  parents?: readonly { assess?: readonly AssessRule[] }[];
  run?: { assess?: readonly AssessRule[] };
}): CompiledAssessRule[] {
  const compileAll = (rules: readonly AssessRule[] = [], layer: string, raiseOnly: boolean): RuledAssessRule[] =>
    rules.map((rule, index) => ({
      ...rule,
      id: rule.id ?? `${layer}.assess#${index + 1}`,
      compiled: compilePattern(rule.pattern),
      fields: Object.entries(rule.args ?? {}).map(([name, glob]) => ({ name, glob: compileFieldGlob(glob) })),
      asRule: oneRule(rule),
      raiseOnly,
    }));
  const { ceiling, parents = [], run } = layers;
  return [
    ...compileAll(ceiling?.assess, 'ceiling', false),
    ...parents.flatMap(({ assess }, index) => compileAll(assess, 'parent', ceiling !== undefined || index > 0)),
    ...compileAll(run?.assess, 'run', ceiling !== undefined || parents.length > 0),
  ];
}

/** How far a rule matches. `part`: not everything that would run, so the rule may raise a severity, not lower it. */
export type AssessMatch = 'no' | 'part' | 'all' | { problem: string };

/** Returns whether a rule matches a call, and how much of a split command it matches, as before engine 5. */
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
  // Own properties only: `constructor` and the like are not arguments.
  if (fields.some(({ name }) => !Object.hasOwn(args, name))) return false;
  let result: boolean | { problem: string } = 'problem' in compiled ? compiled : matches(compiled, subjects);
  for (const { name, glob } of fields) {
    if (result === false) return false;
    const field = 'problem' in glob ? glob : affordable(glob, subjects.field(name), subjects);
    if (field !== true) result = field === false ? false : result === true ? field : result;
  }
  return result;
}
