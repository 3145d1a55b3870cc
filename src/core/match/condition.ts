/**
 * `when:` conditions, in CEL (policy section 2). CEL has no loops but those over lists, and its regular expressions are
 * RE2's, which take linear time. Here it has less: no times (time zones depend on the build of Node), no messages, no
 * other variables than ours; and all conditions of one ruling share a budget, so that no policy and no arguments make a
 * workflow task die of them.
 */
import type { ConditionBudget } from './condition-budget.ts';
import {
  CelScalar,
  celEnv,
  celFunc,
  celMethod,
  isCelError,
  isCelList,
  isCelMap,
  listType,
  parse,
  plan,
  type CelFunc,
  type CelInput,
  type CelValue,
} from './cel.ts';
import { plainComparison, type PlainComparison } from './plain-comparison.ts';
import type { JsonObject } from '../base/tool-call.ts';
import { isWellFormed } from '../base/well-formed.ts';

/** In UTF-16 units. */
export const maxConditionLength = 1_000;
/** What all conditions of one ruling may cost, in steps of about a microsecond. */
export const maxConditionWork = 50_000;

/** What a condition can read, by name; `args` best as `celArguments` gives them. Numbers are CEL's doubles, as in JSON. */
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
  /** Whether it holds, or, as half a sentence, why that cannot be said: the caller then fails closed (I2). */
  holds: (variables: ConditionVariables, budget: ConditionBudget) => boolean | { problem: string };
}

type Expression = NonNullable<ReturnType<typeof parse>['expr']>;

const { BOOL, DOUBLE, DYN, INT, STRING } = CelScalar;
const list = listType(DYN);
const operators =
  '_&&_ _||_ !_ _?:_ _?_:_ _==_ _!=_ _<_ _<=_ _>_ _>=_ _+_ _-_ _*_ _/_ _%_ -_ _[_] @in @not_strictly_false';
const functions = 'size contains startsWith endsWith matches lowerAscii int double string';
const known = new Set(`${operators} ${functions}`.split(' '));

/** The budget of the evaluation that runs now; evaluations are synchronous, and none is left running. */
let budget: ConditionBudget = { left: 0 };
let paid: CelValue[] | undefined;
let environment: ReturnType<typeof celEnv> | undefined;
let convert: Evaluator | undefined;

type Evaluator = (variables: Record<string, CelInput>) => CelValue | { message: string };

/** Compiles a condition, or says in half a sentence what is wrong with it. */
export function compileCondition(source: string): Condition | { problem: string } {
  if (source.trim() === '') return { problem: 'is empty' };
  if (source.length > maxConditionLength) {
    return { problem: `has ${source.length} characters; at most ${maxConditionLength} are allowed` };
  }
  if (!isWellFormed(source)) return { problem: 'holds half a surrogate pair' };
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
    holds: (variables, given) => {
      if (given.left < 0) return { problem: 'its conditions are too costly for these arguments' };
      const outer = budget;
      budget = given;
      try {
        const { args } = variables;
        const answer = plain !== undefined && isCelMap(args) ? plain(args, given) : undefined;
        const result = answer ?? evaluator(variables as Record<string, CelInput>);
        // The library turns what is thrown into a value, so the budget itself says that it ran out.
        if (given.left < 0) return { problem: 'its conditions are too costly for these arguments' };
        if (isCelError(result)) return { problem: failure(result.message, source) };
        return typeof result === 'boolean' ? result : { problem: 'its condition is neither true nor false' };
      } finally {
        budget = outer;
        paid = undefined;
      }
    },
  };
}

/**
 * The arguments as CEL sees them, made once for all conditions of a ruling: for each, the library would do it again.
 * What cannot be converted stays, and each condition that reads it says so.
 */
export function celArguments(args: JsonObject): unknown {
  convert ??= plan((environment ??= boundedEnvironment()), parse('args')) as Evaluator;
  const made = convert({ args });
  return isCelMap(made) ? made : args;
}

/** Checks names, and puts a step of the budget into each loop. Returns half a sentence about the first bad name. */
function prepare(expression: Expression, variables: ReadonlySet<string>): string | undefined {
  const { exprKind } = expression;
  const all = (parts: (Expression | undefined)[], names = variables): string | undefined => {
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
    case 'selectExpr':
      return all([exprKind.value.operand]);
    case 'callExpr': {
      const { function: name, target, args } = exprKind.value;
      if (!known.has(name)) return `uses '${name.slice(0, 60)}', which is not part of the language`;
      return all([target, ...args]);
    }
    case 'listExpr':
      return all(exprKind.value.elements);
    case 'structExpr': {
      const { messageName, entries } = exprKind.value;
      if (messageName !== '') return `makes a '${messageName.slice(0, 60)}', which is not part of the language`;
      return all(
        entries.flatMap(({ keyKind, value }) => [keyKind.case === 'mapKey' ? keyKind.value : undefined, value]),
      );
    }
    case 'comprehensionExpr': {
      const loop = exprKind.value;
      const inside = new Set([...variables, loop.iterVar, loop.accuVar]);
      const problem =
        all([loop.iterRange, loop.accuInit]) ?? all([loop.loopCondition, loop.loopStep, loop.result], inside);
      if (problem === undefined && loop.loopCondition !== undefined) {
        const step = call(expression, '@step', []);
        loop.loopCondition = call(expression, '_&&_', [step, loop.loopCondition]);
      }
      return problem;
    }
    default:
      return 'is not CEL';
  }
}

function call(like: Expression, name: string, args: Expression[]): Expression {
  return { ...like, exprKind: { case: 'callExpr', value: { function: name, args } } } as unknown as Expression;
}

/** CEL's functions, each of which pays before it works. An exhausted budget throws through everything, loops too. */
function boundedEnvironment(): ReturnType<typeof celEnv> {
  const mixed = (name: string, compute: (one: number, other: number) => number): CelFunc[] => [
    celFunc(name, [DOUBLE, INT], DOUBLE, (one, other) => compute(one, Number(other))),
    celFunc(name, [INT, DOUBLE], DOUBLE, (one, other) => compute(Number(one), other)),
  ];
  const ours = [
    celFunc('@step', [], BOOL, () => true),
    celMethod('lowerAscii', STRING, [], STRING, function () {
      return this.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
    }),
    // The library chains lists, and a chain of thousands overflows the stack.
    celFunc('_+_', [list, list], list, (one, other) => [...one, ...other] as CelInput[]),
    // In JSON 1 and 1.0 are the same number: `args.amount + 1` works.
    ...mixed('_+_', (one, other) => one + other),
    ...mixed('_-_', (one, other) => one - other),
    ...mixed('_*_', (one, other) => one * other),
    ...mixed('_/_', (one, other) => one / other),
  ];
  const unbounded = celEnv({ funcs: ours });
  // Overloads exclude one another, so their order changes no answer: those for what JSON holds are tried first.
  const rank = ({ arguments: types }: CelFunc): number =>
    types.filter((type) => type !== DOUBLE && type !== STRING).length;
  const funcs = [...unbounded.funcs]
    .toSorted((one, other) => rank(one) - rank(other))
    .map(
      (func): CelFunc =>
        Object.create(func, {
          call: {
            value: (id: number, target: CelValue | undefined, args: CelValue[]) => {
              // Every overload of a function is tried with the same list of arguments: the first one pays.
              if (args !== paid) pay(costOf(func.name, target === undefined ? args : [target, ...args]));
              paid = args;
              return func.call(id, target, args);
            },
          },
        }) as CelFunc,
    );
  return celEnv({ funcs });
}

function pay(steps: number): void {
  budget.left -= steps;
  if (budget.left < 0) throw new Error('too costly');
}

function costOf(name: string, values: CelValue[]): number {
  if (name === 'matches') return costOfMatch(values);
  if (name === '@step') return 4;
  // Reading a number of a million digits takes half a second.
  if (name === 'int') return values.reduce<number>((sum, value) => sum + sizeOf(value, false) * 100, 0.1);
  const deep = name === '_==_' || name === '_!=_' || name === '@in';
  return values.reduce<number>((sum, value) => sum + sizeOf(value, deep), 0.1);
}

function sizeOf(value: CelValue, deep: boolean): number {
  if (typeof value === 'string') return value.length / 1_000;
  if (isCelList(value)) {
    let size = value.size / 100;
    if (deep) for (const item of value) size += affordable(0.1 + sizeOf(item, true));
    return size;
  }
  if (!deep || !isCelMap(value)) return 0;
  let size = 0;
  for (const [key, item] of value) size += affordable(0.1 + sizeOf(key, false) + sizeOf(item, true));
  return size;
}

/** Stops a measurement that costs more than what it measures may. */
function affordable(size: number): number {
  if (size > budget.left) pay(size);
  budget.left -= size / 2;
  return size / 2;
}

/** Measured, cold: 60 ns for each state of the pattern and character of the text. Counted repetitions multiply the states. */
function costOfMatch([text, pattern]: CelValue[]): number {
  if (typeof text !== 'string' || typeof pattern !== 'string') return 1;
  const counts = [...pattern.matchAll(/\d+/g)].map(([digits]) => Math.max(1, Number(digits)));
  const states =
    pattern.length *
    Math.min(
      1_000,
      counts.reduce((product, count) => product * count, 1),
    );
  return 20 + states + (states * text.length) / 15;
}

/** The library's words, where they hold no value of an argument (I13). */
function failure(message: string, source: string): string {
  const field = /field not found: (.*)$/s.exec(message)?.[1];
  if (field !== undefined) {
    return source.includes(field) ? `'${field}' is missing` : 'something that its condition reads is missing';
  }
  const overload = /no matching overload for '([^']*)' applied to '([^']*)'/.exec(message);
  if (overload !== null) return `${overload[1]} does not work on ${overload[2]}`;
  return 'its condition fails on these arguments';
}

function sentence(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/^<input>:/, '').slice(0, 200);
}
