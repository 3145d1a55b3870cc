/** What conditions cost, in steps of a microsecond. Too low a price lets a turn of ordinary calls block a worker. */
import { isCelList, isCelMap, type CelValue, type parse } from './cel.ts';
import type { ConditionBudget } from './ruling-meter.ts';
import { expressionSize } from './expression-size.ts';

export type Expression = NonNullable<ReturnType<typeof parse>['expr']>;

/** The least price of one round of a loop. */
const costOfRound = 4;
/** The price of an expression's part in a loop. Measured: at most 0.3 if all comparisons fail, else a third of that. */
const costOfPart = 0.2;
/** How many parts a field selection counts as: for `a.b.c`, the library also tries the names `a.b.c` and `a.b`. */
const partsOfSelect = 4;

/** The price of `sum`. Measured: it searches lists of 50 tools with 50 arguments, and parses one decimal. */
const costOfSum = 2;

/** Pays for a call of a function before it runs; throws if the budget does not suffice. */
export function payFor(name: string, values: readonly CelValue[], budget: ConditionBudget): void {
  /** The steps that this call takes on its values, beside the steps to compute them; 0.1 is the least of most calls. */
  function costOfCall(): number {
    const all = (cost: (value: CelValue) => number): number =>
      values.reduce<number>((sum, value) => sum + cost(value), 0.1);
    switch (name) {
      case 'matches':
        return costOfMatch(values);
      case '@step':
        return Math.max(costOfRound, Number(values[0]) * costOfPart);
      case '@object':
        return 0;
      case 'sum':
        return costOfSum;
      case 'int':
        // Parsing a number of a million digits takes half a second.
        return all((value) => sizeOf(value, false) * 100);
      case 'lowerAscii':
      case 'size':
        // These functions read each character of a text.
        return all((value) => (typeof value === 'string' ? value.length / 14 : 0));
      case '_+_':
        return all((value) => (isCelList(value) ? value.size / 50 : sizeOf(value, false)));
      case '_==_':
      case '_!=_':
      case '@in':
        return all((value) => sizeOf(value, true));
      default:
        return all((value) => sizeOf(value, false));
    }
  }

  /** The steps to read a value by its length. `deep`: with all values in it, as a comparison reads them. */
  function sizeOf(value: CelValue, deep: boolean): number {
    if (typeof value === 'string') return value.length / 1_000;
    if (isCelList(value)) {
      let size = value.size / 100;
      if (deep) for (const item of value) size += affordable(0.1 + sizeOf(item, true));
      return size;
    }
    if (!deep || !isCelMap(value)) return 0;
    let size = 0.5;
    for (const [key, item] of value) size += affordable(0.3 + sizeOf(key, false) + sizeOf(item, true));
    return size;
  }

  /** Charges half of a measured size at once, so that measuring stops when the budget runs out. */
  function affordable(size: number): number {
    if (size > budget.left) pay(size);
    budget.left -= size / 2;
    return size / 2;
  }

  function pay(steps: number): void {
    budget.left -= steps;
    if (budget.left < 0) throw new Error('too costly');
  }

  pay(costOfCall());
}

/** The price of `matches`. Measured cold: 60 ns for each state of the pattern and each character of the text. */
function costOfMatch([text, pattern]: readonly CelValue[]): number {
  if (typeof text !== 'string' || typeof pattern !== 'string') return 1;
  const size = expressionSize(pattern);
  return 20 + size + (size * text.length) / 15;
}

/** The most parts that one evaluation of an expression evaluates. */
export function weightOf(expression: Expression | undefined): number {
  if (expression === undefined) return 0;
  const own = expression.exprKind.case === 'selectExpr' ? partsOfSelect : 1;
  return partsOf(expression).reduce((sum, part) => sum + weightOf(part), own);
}

/** The direct parts of an expression. */
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
