/**
 * The most common condition, `args.amount > 100`, in JavaScript: CEL's library takes twenty times as long. The
 * library still answers if the argument is missing or of another type. A property test checks that both agree.
 */
import { isCelMap, type CelMap, type CelValue, type parse } from './cel.ts';
import type { ConditionBudget } from './ruling-meter.ts';

type Expression = NonNullable<ReturnType<typeof parse>['expr']>;
type Constant = string | number;
/** Compares the argument with the constant. Undefined: only the library can, and it charges the budget itself. */
export type PlainComparison = (args: CelMap, budget: ConditionBudget) => boolean | undefined;

const comparisons = new Map<string, (one: Constant, other: Constant) => boolean>([
  ['_==_', (one, other) => one === other],
  ['_!=_', (one, other) => one !== other],
  ['_<_', (one, other) => one < other],
  ['_<=_', (one, other) => one <= other],
  ['_>_', (one, other) => one > other],
  ['_>=_', (one, other) => one >= other],
]);

/** Compiles an expression that compares one argument with a constant; undefined for any other expression. */
export function plainComparison({ exprKind }: Expression): PlainComparison | undefined {
  if (exprKind.case !== 'callExpr') return undefined;
  const { function: name, args: operands } = exprKind.value;
  const compare = comparisons.get(name);
  const [one, other] = operands;
  if (compare === undefined || one === undefined || other === undefined) return undefined;
  const flipped = constantOf(one) !== undefined;
  const constant = constantOf(flipped ? one : other);
  const path = pathOf(flipped ? other : one);
  if (constant === undefined || path === undefined) return undefined;
  return (args, budget) => {
    const value = valueAt(args, path);
    // A missing argument, or a value of another type, is an error in CEL: the library reports it.
    if (typeof value !== typeof constant) return undefined;
    const left = flipped ? constant : (value as Constant);
    const right = flipped ? (value as Constant) : constant;
    // `payFor` would charge the same price for this comparison.
    budget.left -= 0.1 + cost(left) + cost(right);
    return compare(left, right);
  };
}

function cost(value: Constant): number {
  return typeof value === 'string' ? value.length / 1_000 : 0;
}

/** The value of a constant: a string, a double, or an integer that a double holds exactly; else undefined. */
function constantOf({ exprKind }: Expression): Constant | undefined {
  if (exprKind.case !== 'constExpr') return undefined;
  const { case: kind, value } = exprKind.value.constantKind;
  if (kind === 'stringValue' || kind === 'doubleValue') return value;
  return kind === 'int64Value' && Number.isSafeInteger(Number(value)) ? Number(value) : undefined;
}

/** The fields of `args.a.b`: `['a', 'b']`. */
function pathOf({ exprKind }: Expression): string[] | undefined {
  if (exprKind.case === 'identExpr') return exprKind.value.name === 'args' ? [] : undefined;
  if (exprKind.case !== 'selectExpr' || exprKind.value.testOnly || exprKind.value.operand === undefined)
    return undefined;
  const before = pathOf(exprKind.value.operand);
  return before && [...before, exprKind.value.field];
}

/** The value at a path of the arguments; undefined if it is missing or cannot be converted. */
function valueAt(args: CelMap, path: readonly string[]): CelValue | undefined {
  let value: CelValue | undefined = args;
  try {
    for (const field of path) value = isCelMap(value) ? value.get(field) : undefined;
    return value;
  } catch {
    // Some values cannot be converted, such as one with a field named `constructor`.
    return undefined;
  }
}
