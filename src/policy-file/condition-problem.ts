/**
 * What is wrong with a condition before any call: beside what the gate itself refuses, types that can never work and regular
 * expressions that are none. Only for reading policies. A run keeps a condition that an older version accepted.
 */
import { RE2JS } from 're2js';
import { parse } from '../core/match/cel.ts';
import { compileCondition } from '../core/match/condition.ts';

type Expression = NonNullable<ReturnType<typeof parse>['expr']>;
/** `any`: only a call decides. */
type Type = 'number' | 'text' | 'true or false' | 'list' | 'map' | 'null' | 'any';

const methods = new Set(['contains', 'startsWith', 'endsWith', 'matches', 'lowerAscii']);
const comparisons = new Set(['_<_', '_<=_', '_>_', '_>=_']);
const arithmetic = new Set(['_-_', '_*_', '_/_', '_%_', '-_']);
const equalities = new Map([
  ['_==_', '=='],
  ['_!=_', '!='],
]);
const texts = new Set(['tool', 'risk', 'severity']);

/** The problem of a condition, as a clause; undefined if there is none. */
export function conditionProblem(source: string): string | undefined {
  const compiled = compileCondition(source);
  if ('problem' in compiled) return compiled.problem;
  const { expr } = parse(source);
  if (expr === undefined) return undefined;
  const problems: string[] = [];
  const type = typeOf(expr, (problem) => problems.push(problem));
  if (type !== 'any' && type !== 'true or false') problems.push(`is a ${type}, not true or false`);
  return problems[0];
}

/** A comparison with `==` or `!=` whose answer does not depend on values, and an argument's with a constant. */
export interface Equality {
  operator: '==' | '!=';
  /** The kinds of both sides, if they always differ. */
  differ?: [Type, Type];
  /** The argument, and the kind of the constant that it is compared with. */
  argument?: { name: string; kind: Type };
}

export function equalitiesOf(source: string): Equality[] {
  const found: Equality[] = [];
  const visit = (part: unknown): void => {
    if (typeof part !== 'object' || part === null) return;
    const { case: kind, value } = part as { case?: string; value?: { function: string; args: Expression[] } };
    const operator = kind === 'callExpr' ? equalities.get(value!.function) : undefined;
    if (operator !== undefined)
      found.push(equalityOf(operator as '==' | '!=', value!.args as [Expression, Expression]));
    for (const each of Object.values(part)) visit(each);
  };
  if (!('problem' in compileCondition(source))) visit(parse(source).expr);
  return found;
}

function equalityOf(operator: '==' | '!=', sides: [Expression, Expression]): Equality {
  const [one, other] = sides.map((side) => typeOf(side, () => undefined)) as [Type, Type];
  const isNull = one === 'null' || other === 'null';
  if (one !== 'any' && other !== 'any') return { operator, ...(one !== other && !isNull && { differ: [one, other] }) };
  const name = argumentOf(one === 'any' ? sides[0] : sides[1]);
  const kind = one === 'any' ? other : one;
  return { operator, ...(name !== undefined && kind !== 'any' && kind !== 'null' && { argument: { name, kind } }) };
}

/** `amount` of `args.amount`. */
function argumentOf({ exprKind }: Expression): string | undefined {
  if (exprKind.case !== 'selectExpr' || exprKind.value.testOnly) return undefined;
  const of = exprKind.value.operand?.exprKind;
  return of?.case === 'identExpr' && of.value.name === 'args' ? exprKind.value.field : undefined;
}

function typeOf(expression: Expression, report: (problem: string) => void): Type {
  const { exprKind } = expression;
  const note = (problem: string | undefined): void => {
    if (problem !== undefined) report(problem);
  };
  const inner = (part: Expression | undefined): Type => (part === undefined ? 'any' : typeOf(part, report));
  switch (exprKind.case) {
    case 'constExpr':
      return constantType(exprKind.value.constantKind.case);
    case 'identExpr':
      return texts.has(exprKind.value.name) ? 'text' : 'any';
    case 'selectExpr':
      inner(exprKind.value.operand);
      return exprKind.value.testOnly ? 'true or false' : 'any';
    case 'listExpr':
      exprKind.value.elements.forEach(inner);
      return 'list';
    case 'structExpr':
      return 'map';
    case 'comprehensionExpr': {
      const { iterRange, loopStep, result } = exprKind.value;
      [iterRange, loopStep, result].forEach(inner);
      return 'any';
    }
    case 'callExpr': {
      const { function: name, target, args } = exprKind.value;
      const types = [...(target === undefined ? [] : [inner(target)]), ...args.map(inner)];
      if (name === 'matches') note(expressionProblem(args.at(-1)));
      note(typeProblem(name, types));
      return resultOf(name, types);
    }
    default:
      return 'any';
  }
}

function constantType(kind: string | undefined): Type {
  if (kind === 'stringValue') return 'text';
  if (kind === 'boolValue') return 'true or false';
  if (kind === 'nullValue') return 'null';
  return kind === 'int64Value' || kind === 'uint64Value' || kind === 'doubleValue' ? 'number' : 'any';
}

function resultOf(name: string, types: Type[]): Type {
  if (methods.has(name)) return name === 'lowerAscii' ? 'text' : 'true or false';
  if (comparisons.has(name) || equalities.has(name) || ['_&&_', '_||_', '!_', '@in'].includes(name))
    return 'true or false';
  if (arithmetic.has(name) || ['size', 'int', 'double', 'sum'].includes(name)) return 'number';
  if (name === 'string') return 'text';
  if (name === '_?_:_') return types[1] === types[2] ? types[1]! : 'any';
  return name === '_+_' && types[0] === types[1] ? types[0]! : 'any';
}

/** The types with which a function can never work. */
function typeProblem(name: string, types: Type[]): string | undefined {
  const known = types.filter((type) => type !== 'any');
  const isNot = (wanted: Type): Type | undefined => known.find((type) => type !== wanted);
  const clause = (what: string, bad: Type | undefined, wanted: Type): string | undefined =>
    bad && `${what} a ${bad}, not a ${wanted}`;
  if (name === '_&&_' || name === '_||_' || name === '!_') {
    const bad = isNot('true or false');
    return bad && `joins or negates a ${bad}, not what is true or false`;
  }
  if (methods.has(name)) return clause(`calls ${name} on or with`, isNot('text'), 'text');
  if (arithmetic.has(name)) return clause('calculates with', isNot('number'), 'number');
  if (name === 'int' || name === 'double') {
    const bad = known.find((type) => type !== 'text' && type !== 'number');
    return bad && `turns a ${bad} into a number`;
  }
  if (!comparisons.has(name)) return undefined;
  const [one, other] = types;
  const bad = known.find((type) => type === 'list' || type === 'map' || type === 'null');
  if (bad !== undefined) return `orders a ${bad}`;
  return known.length === 2 && one !== other ? `orders a ${one} and a ${other}` : undefined;
}

function expressionProblem(pattern: Expression | undefined): string | undefined {
  const constant = pattern?.exprKind.case === 'constExpr' ? pattern.exprKind.value.constantKind : undefined;
  if (constant?.case !== 'stringValue') return undefined;
  try {
    RE2JS.compile(constant.value);
    return undefined;
  } catch {
    return `has a regular expression that RE2 does not accept: '${constant.value.slice(0, 60)}'`;
  }
}
