import type { AssessRule } from '../assess/assessment.ts';
import { oneRule, type OneRule } from './one-rule.ts';

/** An assess rule in the form that `assess` takes. */
export interface CompiledAssessRule extends AssessRule {
  id: string;
  /** True: the rule never lowers the severity of the tool's risk. */
  raiseOnly: boolean;
}

/** An assess rule with its matcher, which callers of `compileAssessRules` do not see. */
interface RuledAssessRule extends CompiledAssessRule {
  asRule: OneRule;
}

/** The assess rule as a single rule of a policy, which can allow or deny a call. */
export function asRule(rule: CompiledAssessRule): OneRule {
  return (rule as Partial<RuledAssessRule>).asRule ?? oneRule(rule);
}

/**
 * Compiles the `assess:` rules of all layers. Never throws. Below a ceiling or a parent, a rule can only raise a
 * severity: modes of the ceiling may ask by severity, and a run must not prevent that.
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
      // An assess rule matches calls exactly as a rule of a policy does.
      asRule: oneRule(rule),
      raiseOnly,
    }));
  const { ceiling, parents = [], run } = layers;
  // Without a ceiling, the first parent is the highest layer, and may lower a severity.
  return [
    ...compileAll(ceiling?.assess, 'ceiling', false),
    ...parents.flatMap(({ assess }, index) => compileAll(assess, 'parent', ceiling !== undefined || index > 0)),
    ...compileAll(run?.assess, 'run', ceiling !== undefined || parents.length > 0),
  ];
}
