/** Constants in the expressions of conditions. */
import { unparse } from '@bufbuild/cel';
import type { parse } from '../core/match/cel.ts';
import { compileCondition, maxConditionWork, type Condition } from '../core/match/condition.ts';
import { engine } from '../core/policy/ruling.ts';

export type Expression = NonNullable<ReturnType<typeof parse>['expr']>;

/** What a condition without variables gives; undefined if it does not load. */
export function evaluated(source: string): boolean | 'failure' | undefined {
  const compiled = compileCondition(source);
  if ('problem' in compiled) return undefined;
  const held = compiled.holds({} as Parameters<Condition['holds']>[0], { left: maxConditionWork }, engine);
  return typeof held === 'boolean' ? held : 'failure';
}

/** The text of a constant. */
export function textOf(part: Expression | undefined): string | undefined {
  const constant = part?.exprKind.case === 'constExpr' ? part.exprKind.value.constantKind : undefined;
  return constant?.case === 'stringValue' ? constant.value : undefined;
}

/** The value of a constant that can be the place of an item in a list. */
export function indexOf(part: Expression | undefined): bigint | undefined {
  const constant = part?.exprKind.case === 'constExpr' ? part.exprKind.value.constantKind : undefined;
  return constant?.case === 'int64Value' ? constant.value : undefined;
}

/** True for a number beyond what a double holds, which is larger than any: `double("1e400")`. */
export function isInfinite(part: Expression): boolean {
  const { exprKind } = part;
  if (exprKind.case === 'constExpr') return exprKind.value.constantKind.value === Infinity;
  if (exprKind.case !== 'callExpr' || exprKind.value.function !== 'double') return false;
  return evaluated(`${unparse(part)} == double("1e999")`) === true;
}
