import type { AssessRule } from '../assess/assessment.ts';
import { oneRule, type OneRule } from './one-rule.ts';

/** A rule that `compileAssessRules` compiled, for `assess`. */
export interface CompiledAssessRule extends AssessRule {
  id: string;
  /** True: the rule never lowers the severity of the tool's risk. */
  raiseOnly: boolean;
}

/** A rule as `compileAssessRules` returns it, with a member that its callers do not see. */
interface RuledAssessRule extends CompiledAssessRule {
  asRule: OneRule;
}

/** The assess rule as a rule of a policy, which can allow or deny a call. */
export function asRule(rule: CompiledAssessRule): OneRule {
  return (rule as Partial<RuledAssessRule>).asRule ?? oneRule(rule);
}

/**
 * Compiles the `assess:` rules of all layers. Never throws. Below a ceiling or a parent, rules can only raise a
 * severity: the ceiling's mode may ask by severity, and a run must not lower it.
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
      // Matches the calls of this rule as a policy's own rules match calls.
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
