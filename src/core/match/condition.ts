/**
 * `when:` conditions, in CEL (docs/policy-reference.md). They loop only over lists, and their regular expressions are
 * those of RE2, in linear time. CEL's times are left out, because time zones depend on the build of Node; so are
 * messages. All conditions of a ruling share a budget, so that no policy makes a workflow task time out.
 */
import { sumsIn, argumentsRead, type SumOf } from './argument-reads.ts';
import type { ConditionBudget } from './ruling-meter.ts';
import {
  CelScalar,
  celEnv,
  celFunc,
  celMethod,
  isCelError,
  isCelMap,
  listType,
  parse,
  plan,
  type CelFunc,
  type CelInput,
  type CelValue,
  type CelMap,
} from './cel.ts';
import { partsOf, payFor, weightOf, type Expression } from './condition-cost.ts';
import { TextSearch, isWellFormed } from '../base/text.ts';

/** Maximum length of a condition, in UTF-16 units. */
export const maxConditionLength = 1_000;
const maxBrackets = 50;
/** The budget of all conditions of one ruling, in steps of about a microsecond. */
export const maxConditionWork = 50_000;

/** The variables of a condition; `args` should come from `celArguments`. Numbers are CEL doubles, as in JSON. */
export const conditionVariables = [
  'args',
  'tool',
  'risk',
  'severity',
  'agent',
  'caller',
  'metadata',
  'counts',
] as const;
export type ConditionVariables = Record<(typeof conditionVariables)[number], unknown>;

export interface Condition {
  /** Whether the condition holds, or why that is unknown, as a clause (I2). Without `sumOf`, no sum is known. */
  holds: (variables: ConditionVariables, budget: ConditionBudget, sumOf?: SumOf) => boolean | { problem: string };
}

const { BOOL, DOUBLE, DYN, INT, STRING } = CelScalar;
const list = listType(DYN);
const operators =
  '_&&_ _||_ !_ _?:_ _?_:_ _==_ _!=_ _<_ _<=_ _>_ _>=_ _+_ _-_ _*_ _/_ _%_ -_ _[_] @in @not_strictly_false';
const functions = 'size contains startsWith endsWith matches lowerAscii int double string sum';
const supported = new Set(`${operators} ${functions}`.split(' '));

/** The budget of the current evaluation. An evaluation is synchronous, and restores the earlier budget at its end. */
let budget: ConditionBudget = { left: 0 };
/** The argument list of the last call that has paid, because each overload of its function gets the same list. */
let paid: CelValue[] | undefined;
/** The results of `sum` in the current evaluation, set and restored like `budget`. */
let sums: SumOf | undefined;
let environment: ReturnType<typeof celEnv> | undefined;

type Evaluator = (variables: Record<string, CelInput>) => CelValue | { message: string };

/** Compiles a condition, or returns, as a clause, what is wrong with it. */
export function compileCondition(source: string): Condition | { problem: string } {
  if (source.trim() === '') return { problem: 'is empty' };
  if (source.length > maxConditionLength) {
    return { problem: `has ${source.length} characters; at most ${maxConditionLength} are allowed` };
  }
  if (!isWellFormed(source)) return { problem: 'holds half a surrogate pair' };
  // The parser takes a third of a second to refuse a thousand brackets that do not close.
  if (nestsDeeper(source, maxBrackets)) return { problem: `nests brackets more than ${maxBrackets} deep` };
  let evaluator: Evaluator;
  let plain: PlainComparison | undefined;
  try {
    const parsed = parse(source);
    const problem = parsed.expr === undefined ? 'is empty' : prepare(parsed.expr, new Set(conditionVariables));
    if (problem !== undefined) return { problem };
    evaluator = plan((environment ??= boundedEnvironment()), parsed) as Evaluator;
    plain = parsed.expr && plainComparison(parsed.expr);
  } catch (error) {
    return { problem: `is not CEL: ${sentence(error)}` };
  }
  return {
    holds: (variables, given, sumOf) => {
      if (given.left < 0) return { problem: tooCostly };
      const { args } = variables;
      // Most conditions compare one argument with a constant: the library takes twenty times as long for that.
      const answer = plain !== undefined && isCelMap(args) ? plain(args, given) : undefined;
      const result = answer ?? withBudget(given, sumOf, () => evaluator(variables as Record<string, CelInput>));
      // The library turns thrown errors into values, so only the budget shows that it ran out.
      if (given.left < 0) return { problem: tooCostly };
      if (isCelError(result)) return { problem: conditionFailure(result.message, source) };
      return typeof result === 'boolean' ? result : { problem: 'its condition is neither true nor false' };
    },
  };
}

/** Evaluates with a budget and with sums, which the functions of the environment read; then restores the earlier. */
function withBudget<Result>(given: ConditionBudget, sumOf: SumOf | undefined, evaluate: () => Result): Result {
  const outer = { budget, sums };
  budget = given;
  sums = sumOf;
  try {
    return evaluate();
  } finally {
    ({ budget, sums } = outer);
    paid = undefined;
  }
}

/** The first problem, as a clause. Changes the expression: loops pay for each round, and `has` fails on non-objects. */
function prepare(expression: Expression, variables: ReadonlySet<string>): string | undefined {
  const { exprKind } = expression;
  const firstProblem = (parts: (Expression | undefined)[], names = variables): string | undefined => {
    for (const part of parts) {
      const problem = part === undefined ? undefined : prepare(part, names);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
  switch (exprKind.case) {
    case 'constExpr':
      return undefined;
    case 'identExpr': {
      const { name } = exprKind.value;
      if (variables.has(name)) return undefined;
      return `reads '${name.slice(0, 60)}'; it can read ${conditionVariables.join(', ')}`;
    }
    case 'selectExpr': {
      const { operand, testOnly } = exprKind.value;
      const problem = firstProblem([operand]);
      if (problem !== undefined || !testOnly || operand === undefined) return problem;
      // `has(x.y)` is an error if `x` is not an object. The library's own `has` gives false.
      exprKind.value.operand = call(expression, '@object', [operand]);
      return undefined;
    }
    case 'listExpr':
      return firstProblem(partsOf(expression));
    case 'callExpr': {
      const { function: name } = exprKind.value;
      if (!supported.has(name)) {
        return `uses '${name.slice(0, 60)}', which is not part of the language`;
      }
      if (name === 'sum' && sumsIn(exprKind).length === 0) return `has a sum ${sumWanted}`;
      return firstProblem(partsOf(expression));
    }
    case 'structExpr': {
      const { messageName } = exprKind.value;
      if (messageName !== '') return `makes a '${messageName.slice(0, 60)}', which is not part of the language`;
      return firstProblem(partsOf(expression));
    }
    case 'comprehensionExpr': {
      const loop = exprKind.value;
      const inside = new Set([...variables, loop.iterVar, loop.accuVar]);
      const problem =
        firstProblem([loop.iterRange, loop.accuInit]) ??
        firstProblem([loop.loopCondition, loop.loopStep, loop.result], inside);
      if (problem === undefined && loop.loopCondition !== undefined) {
        // The condition of a loop runs before each round, so that is where the round pays.
        const weight = number(expression, weightOf(loop.loopStep) + weightOf(loop.loopCondition));
        loop.loopCondition = call(expression, '_&&_', [call(expression, '@step', [weight]), loop.loopCondition]);
      }
      return problem;
    }
    default:
      return 'is not CEL';
  }
}

const tooCostly = 'its conditions are too costly for these arguments';
const sumWanted = `of what is no tool and no argument: write both names, as in sum('refund', 'amount')`;

/** True if brackets nest deeper than `most`. Brackets in strings count, because no condition needs that many. */
function nestsDeeper(source: string, most: number): boolean {
  let depth = 0;
  for (const character of source) {
    if ('([{'.includes(character)) depth += 1;
    else if (')]}'.includes(character)) depth -= 1;
    if (depth > most) return true;
  }
  return false;
}

function call(like: Expression, name: string, args: Expression[]): Expression {
  return { ...like, exprKind: { case: 'callExpr', value: { function: name, args } } } as unknown as Expression;
}

function number(like: Expression, value: number): Expression {
  const constantKind = { case: 'doubleValue', value };
  return { ...like, exprKind: { case: 'constExpr', value: { constantKind } } } as unknown as Expression;
}

/** A CEL environment in which each function pays before it runs. An exhausted budget ends even loops. */
export function boundedEnvironment(): ReturnType<typeof celEnv> {
  const mixed = (name: string, compute: (one: number, other: number) => number): CelFunc[] => [
    celFunc(name, [DOUBLE, INT], DOUBLE, (one, other) => compute(one, Number(other))),
    celFunc(name, [INT, DOUBLE], DOUBLE, (one, other) => compute(Number(one), other)),
  ];
  const ours = [
    celFunc('@step', [DOUBLE], BOOL, () => true),
    celFunc('@object', [DYN], DYN, (value) => {
      if (!isCelMap(value)) throw new Error(notAnObject);
      return value;
    }),
    celFunc('sum', [STRING, STRING], DOUBLE, (tool, argument) => {
      const sum = sums?.(tool, argument);
      if (sum === undefined) throw new Error(`${notSummed} '${argument}' of '${tool}'`);
      return sum;
    }),
    celMethod('lowerAscii', STRING, [], STRING, function () {
      return this.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
    }),
    celMethod('contains', STRING, [STRING], BOOL, function (word) {
      return new TextSearch(word).next(this) !== -1;
    }),
    // The library concatenates lists as a chain, and a chain of thousands overflows the stack.
    celFunc('_+_', [list, list], list, (one, other) => {
      const items: CelInput[] = [];
      for (const each of [one, other]) {
        // Access by index is several times as fast as the list's iterator.
        for (let index = 0; index < each.size; index += 1) items.push(each.get(index)!);
      }
      return items;
    }),
    // In JSON, 1 and 1.0 are the same number, so `args.amount + 1` has to work.
    ...mixed('_+_', (one, other) => one + other),
    ...mixed('_-_', (one, other) => one - other),
    ...mixed('_*_', (one, other) => one * other),
    ...mixed('_/_', (one, other) => one / other),
  ];
  const unbounded = celEnv({ funcs: ours });
  // The overloads for JSON's types are tried first. Overloads exclude each other, so the order changes no answer.
  const rank = ({ arguments: types }: CelFunc): number =>
    types.filter((type) => type !== DOUBLE && type !== STRING).length;
  const funcs = [...unbounded.funcs]
    .toSorted((one, other) => rank(one) - rank(other))
    .map(
      (func): CelFunc =>
        Object.create(func, {
          call: {
            value: (id: number, target: CelValue | undefined, args: CelValue[]) => {
              // The library passes the same argument list to every overload of a function: only the first one pays.
              if (args !== paid) payFor(func.name, target === undefined ? args : [target, ...args], budget);
              paid = args;
              const [value] = args;
              const shape = spellings.get(func.name);
              if (typeof value === 'string' && shape?.test(value) === false) throw new Error(notANumber);
              const result = func.call(id, target, args);
              if (typeof result === 'number' && Number.isNaN(result)) throw new Error(notANumber);
              return result;
            },
          },
        }) as CelFunc,
    );
  return celEnv({ funcs });
}

/** What a text must look like to become a number. */
const spellings = new Map([
  ['int', /^[+-]?\d+$/],
  ['double', /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/],
]);

/** The message of a parse error, without its place in the source. */
function sentence(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/^<input>:/, '').slice(0, 200);
}

/** The error of `double("20,000")`, `int("0x10")` and `0.0 / 0.0`. */
export const notANumber = 'not a number';

/** The error of `has(x.y)` if `x` is not an object. */
export const notAnObject = 'not an object';

/** How the error of an unknown `sum` begins. The names of the argument and of the tool follow. */
export const notSummed = 'no sum of';

/** Rewords the library's message, which may quote a value of an argument, so that no value shows (I13). */
export function conditionFailure(message: string, source: string): string {
  const failure = failureWords(message, source);
  // This failure names what is missing, so the arguments that the condition reads add nothing.
  if (failure.startsWith("'")) return failure;
  const read = argumentsRead(source).slice(0, 3);
  return read.length === 0
    ? failure
    : `${failure}; it reads ${read.map((name) => `'${name.slice(0, 40)}'`).join(', ')}`;
}

/** Why a condition failed, as a clause for people, from the message of the CEL library. */
function failureWords(message: string, source: string): string {
  if (message.includes(notAnObject)) return 'has() reads a member of what is no object';
  if (message.includes(notANumber)) return 'something that it reads is not a number';
  const [, summed] = message.split(`${notSummed} `);
  if (summed !== undefined) return `an earlier call has no number of at least 0 in ${summed}`;
  const field = /field not found: (.*)$/s.exec(message)?.[1];
  if (field !== undefined) {
    // A key that the condition does not contain comes from the arguments, so it may be secret.
    return source.includes(field) ? `'${field}' is missing` : 'something that its condition reads is missing';
  }
  const overload = /no matching overload for '([^']*)' applied to '([^']*)'/.exec(message);
  if (overload !== null) return `${overload[1]} does not work on ${overload[2]}`;
  return 'its condition fails on these arguments';
}

/**
 * The most common condition, `args.amount > 100`, in JavaScript: CEL's library takes twenty times as long. The
 * library still answers if the argument is missing or of another type. A property test checks that both agree.
 */

type Constant = string | number;
/** Compares the argument with the constant. Undefined: only the library can, and it charges the budget itself. */
export type PlainComparison = (args: CelMap, ofRuling: ConditionBudget) => boolean | undefined;

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
  return (args, ofRuling) => {
    const value = valueAt(args, path);
    // A missing argument, or a value of another type, is an error in CEL: the library reports it.
    if (typeof value !== typeof constant) return undefined;
    const left = flipped ? constant : (value as Constant);
    const right = flipped ? (value as Constant) : constant;
    // `payFor` would charge the same price for this comparison.
    ofRuling.left -= 0.1 + cost(left) + cost(right);
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
