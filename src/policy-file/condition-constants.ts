import { unparse } from '@bufbuild/cel';
import { parse } from '../core/match/cel.ts';
import type { Condition, ConditionVariables } from '../core/match/condition.ts';
import { compileCondition, maxConditionWork } from '../core/match/condition.ts';
import { compilePolicy, type CompiledPolicy } from '../core/policy/compiled-policy.ts';
import type { Policy } from '../core/policy/policy.ts';
import { mergeRunSide } from '../core/policy/run-side.ts';

export type Expression = NonNullable<ReturnType<typeof parse>['expr']>;

/** The value of a condition that has no variables: `failure` if it fails, undefined if it does not compile. */
export function evaluated(source: string): boolean | 'failure' | undefined {
  const compiled = compileCondition(source);
  if ('problem' in compiled) return undefined;
  const result = compiled.holds({} as Parameters<Condition['holds']>[0], { left: maxConditionWork });
  return typeof result === 'boolean' ? result : 'failure';
}

export function textOf(part: Expression | undefined): string | undefined {
  const constant = part?.exprKind.case === 'constExpr' ? part.exprKind.value.constantKind : undefined;
  return constant?.case === 'stringValue' ? constant.value : undefined;
}

/** The value of a constant that can be an index of a list. */
export function indexOf(part: Expression | undefined): bigint | undefined {
  const constant = part?.exprKind.case === 'constExpr' ? part.exprKind.value.constantKind : undefined;
  return constant?.case === 'int64Value' ? constant.value : undefined;
}

/** True for a constant beyond the range of a double, such as `double("1e400")`: it is larger than every number. */
export function isInfinite(part: Expression): boolean {
  const { exprKind } = part;
  if (exprKind.case === 'constExpr') return exprKind.value.constantKind.value === Infinity;
  if (exprKind.case !== 'callExpr' || exprKind.value.function !== 'double') return false;
  return evaluated(`${unparse(part)} == double("1e999")`) === true;
}

type Node = Readonly<Record<string, unknown>>;

/** What a condition can read. `sum`: the sum of an argument over earlier calls. */
type Readable = keyof ConditionVariables | 'sum';

/** True if a condition reads one of these variables, not just an argument of that name. Invalid CEL may read all. */
export function conditionReads(source: string, names: readonly Readable[]): boolean {
  try {
    return reads(parse(source).expr, names);
  } catch {
    return true;
  }
}

/** True if an expression reads a variable of one of these names, even if that variable is a loop's own. */
function reads(part: unknown, names: readonly string[]): boolean {
  if (typeof part !== 'object' || part === null) return false;
  const { case: kind, value } = part as Node;
  if (kind === 'callExpr' && names.includes('sum') && (value as Node)['function'] === 'sum') return true;
  if (kind === 'identExpr') return names.includes(String((value as Node)['name']));
  return Object.values(part).some((each) => reads(each, names));
}

/** Compiles a policy. Its rules get the ids that rulings give to the rules of this `owner`. */
export function compileFor(policy: Policy, owner: 'ceiling' | 'agent' | 'run'): CompiledPolicy {
  if (owner === 'ceiling') return compilePolicy(policy, owner);
  return compilePolicy(owner === 'agent' ? mergeRunSide(policy, undefined)! : policy, 'run');
}
