/** What conditions cost, in steps of a microsecond. If prices were too low, a turn of calls could block a worker. */
import { isCelList, isCelMap, type CelValue, type parse } from './cel.ts';
import type { ConditionBudget } from './ruling-meter.ts';
import { expressionSize } from './expression-size.ts';

export type Expression = NonNullable<ReturnType<typeof parse>['expr']>;

/** The least price of one round of a loop. */
const costOfRound = 4;
/** The price of one part of an expression in a loop. Measured: 0.1, and up to 0.3 if all comparisons fail. */
const costOfPart = 0.2;
/** A field selection counts as this many parts: for `a.b.c`, the library also tries the names `a.b.c` and `a.b`. */
const partsOfSelect = 4;

/** The price of `sum`. Measured: it searches lists of 50 tools with 50 arguments, and parses one decimal. */
const costOfSum = 2;

/** Pays for a call of a function before it runs; throws if the budget does not suffice. */
export function payFor(name: string, values: readonly CelValue[], budget: ConditionBudget): void {
  pay(costOfCall(name, values, budget), budget);
}

function pay(steps: number, budget: ConditionBudget): void {
  budget.left -= steps;
  if (budget.left < 0) throw new Error('too costly');
}

/** The price of a call beside that of `values`, mostly 0.1 or more. `length / 14`: 14 characters cost one step. */
function costOfCall(name: string, values: readonly CelValue[], budget: ConditionBudget): number {
  const total = (cost: (value: CelValue) => number): number =>
    values.reduce<number>((sum, value) => sum + cost(value), 0.1);
  switch (name) {
    case 'matches':
      return costOfMatch(values);
    // `prepare` puts these two into a condition: `@step` with the weight of a round, `@object` for a cheap check.
    case '@step':
      return Math.max(costOfRound, Number(values[0]) * costOfPart);
    case '@object':
      return 0;
    case 'sum':
      return costOfSum;
    case 'int':
      // Parsing a number of a million digits takes half a second.
      return total((value) => flatCost(value) * 100);
    case 'lowerAscii':
    case 'size':
      // These functions read each character of a text.
      return total((value) => (typeof value === 'string' ? value.length / 14 : 0));
    case '_+_':
      return total((value) => (isCelList(value) ? value.size / 50 : flatCost(value)));
    case '_==_':
    case '_!=_':
    case '@in':
      return total((value) => deepCost(value, budget));
    default:
      return total(flatCost);
  }
}

/** The price of reading a text or a list without the values in the list. */
function flatCost(value: CelValue): number {
  if (typeof value === 'string') return value.length / 1_000;
  return isCelList(value) ? value.size / 100 : 0;
}

/** The price of reading a value with all values in it, as a comparison does. Half is charged while measuring. */
function deepCost(value: CelValue, budget: ConditionBudget): number {
  let cost = isCelMap(value) ? 0.5 : flatCost(value);
  if (isCelList(value)) for (const item of value) cost += halfCharged(0.1 + deepCost(item, budget), budget);
  if (!isCelMap(value)) return cost;
  for (const [key, item] of value) cost += halfCharged(0.3 + flatCost(key) + deepCost(item, budget), budget);
  return cost;
}

/** Charges half of a price and returns the other half, so that measuring stops when the budget runs out. */
function halfCharged(cost: number, budget: ConditionBudget): number {
  if (cost > budget.left) pay(cost, budget);
  budget.left -= cost / 2;
  return cost / 2;
}

/** The price of `matches`. Measured cold: 60 ns for each state of the pattern and each character of the text. */
function costOfMatch([text, pattern]: readonly CelValue[]): number {
  if (typeof text !== 'string' || typeof pattern !== 'string') return 1;
  const size = expressionSize(pattern);
  return 20 + size + (size * text.length) / 15;
}

/** The most parts that evaluating an expression once can evaluate. */
export function weightOf(expression: Expression | undefined): number {
  if (expression === undefined) return 0;
  const own = expression.exprKind.case === 'selectExpr' ? partsOfSelect : 1;
  return partsOf(expression).reduce((sum, part) => sum + weightOf(part), own);
}

/** The expressions directly within one; of a map, its keys and values. */
export function partsOf({ exprKind }: Expression): Expression[] {
  const parts = (): (Expression | undefined)[] => {
    switch (exprKind.case) {
      case 'selectExpr':
        return [exprKind.value.operand];
      case 'callExpr':
        return [exprKind.value.target, ...exprKind.value.args];
      case 'listExpr':
        return exprKind.value.elements;
      case 'structExpr':
        return exprKind.value.entries.flatMap(({ keyKind, value }) => [
          keyKind.case === 'mapKey' ? keyKind.value : undefined,
          value,
        ]);
      case 'comprehensionExpr': {
        const { iterRange, accuInit, loopCondition, loopStep, result } = exprKind.value;
        return [iterRange, accuInit, loopCondition, loopStep, result];
      }
      default:
        return [];
    }
  };
  return parts().filter((part) => part !== undefined);
}
