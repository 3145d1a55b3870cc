/**
 * Finds the problems of a condition before any call: what the gate refuses, types that can never work, and invalid
 * regular expressions. Only readers of policies use this: a run keeps a condition that was accepted at its start.
 */
import { unparse } from '@bufbuild/cel';
import { RE2JS } from 're2js';
import { risks, severities } from '../core/base/tool-call.ts';
import { partsOf } from '../core/match/condition-cost.ts';
import { compileCondition } from '../core/match/condition.ts';
import { nearestName } from '../text/check-call-options.ts';
import { expressionOf, mayBe, outcomeOf, type Fault, type Kind, type Outcome } from './condition-kinds.ts';
import { isInfinite, textOf, type Expression } from './condition-constants.ts';

/** A type as messages name it. `any`: the type depends on the call. */
type Type = 'number' | 'text' | 'true or false' | 'list' | 'map' | 'null' | 'text of bytes' | 'any';

const orderings = ['_<_', '_<=_', '_>_', '_>=_'];
const arithmetic = ['_-_', '_*_', '_/_', '-_'];
const equalities = new Map([
  ['_==_', '=='],
  ['_!=_', '!='],
]);

/** Says, as a clause, why a condition can hold for no call, or how it compares `risk` or `severity` wrongly. */
export function conditionProblem(source: string): string | undefined {
  const compiled = compileCondition(source);
  if ('problem' in compiled) return compiled.problem;
  const parts = partsWithin(source);
  const loopVariables = parts.flatMap(({ exprKind: { case: kind, value } }) =>
    kind === 'comprehensionExpr' ? [value.iterVar] : [],
  );
  const ofPart = parts
    .map((part) => expressionProblem(part) ?? levelProblem(part, loopVariables))
    .find((problem) => problem !== undefined);
  if (ofPart !== undefined) return ofPart;
  const { outcome, problems } = examined(source);
  if (outcome === undefined || mayBe(outcome, 'true')) return undefined;
  if (problems.length > 0) return problems[0];
  // A condition that is always false is no problem, but `conditionWarnings` warns about it.
  return mayBe(outcome, 'false') ? undefined : `is a ${typeOf(outcome)}, not true or false`;
}

/** Warnings, as clauses: about parts that can only fail, a condition that holds for no call, and too large numbers. */
export function conditionWarnings(source: string): string[] {
  const { outcome, problems } = examined(source);
  if (outcome === undefined) return [];
  const infinite = partsWithin(source).filter(isInfinite);
  // `evadedComparisons` in `lint-policy.ts` warns about sides that always differ.
  const hasOtherWarning = equalitiesOf(source).some(({ differ }) => differ !== undefined);
  const holdsNever = outcome.kinds.size === 1 && mayBe(outcome, 'false') && !hasOtherWarning;
  return [
    ...problems,
    ...(holdsNever ? ['holds for no call'] : []),
    ...(infinite.length > 0 ? ['has a number that is larger than any: write it out'] : []),
  ];
}

/** The values of `risk` and `severity`, the least first. They are texts, which CEL orders by their letters. */
const levels: Readonly<Record<string, readonly string[]>> = { risk: [...risks, 'unknown'], severity: severities };

/** The problem of a comparison that orders `risk` or `severity`, or that compares it with a value it never has. */
function levelProblem({ exprKind }: Expression, loopVariables: readonly string[]): string | undefined {
  if (exprKind.case !== 'callExpr' || exprKind.value.args.length !== 2) return undefined;
  const { function: name, args: sides } = exprKind.value;
  const index = sides.findIndex(
    (side) => Object.hasOwn(levels, variableName(side)) && !loopVariables.includes(variableName(side)),
  );
  if (index === -1) return undefined;
  const [variable, other] = [variableName(sides[index]), sides[1 - index]!];
  const words = levels[variable]!;
  if (orderings.includes(name)) {
    const meant = meantLevels(words, textOf(other), index === 0 ? name : mirrored[name]!);
    const list = meant.map((word) => JSON.stringify(word)).join(', ');
    return `orders ${variable} by its letters${list === '' ? '' : `: write ${variable} in [${list}]`}`;
  }
  if (name !== '@in' && !equalities.has(name)) return undefined;
  const elements = other.exprKind.case === 'listExpr' ? other.exprKind.value.elements : [other];
  const wrong = elements.map(textOf).find((text) => text !== undefined && !words.includes(text));
  if (wrong === undefined) return undefined;
  return `compares ${variable} with '${wrong.slice(0, 60)}', which it never is: its values are ${words.join(', ')}`;
}

const mirrored: Readonly<Record<string, string>> = { '_<_': '_>_', '_<=_': '_>=_', '_>_': '_<_', '_>=_': '_<=_' };

/** The levels that a comparison would include if CEL ordered levels; none if `word` is not a level. */
function meantLevels(words: readonly string[], word: string | undefined, ordering: string): readonly string[] {
  const place = words.indexOf(word ?? '');
  if (place === -1) return [];
  const from = ordering === '_>_' ? place + 1 : ordering === '_>=_' ? place : 0;
  const to = ordering === '_<_' ? place : ordering === '_<=_' ? place + 1 : words.length;
  return words.slice(from, to);
}

function variableName(part: Expression | undefined): string {
  return part?.exprKind.case === 'identExpr' ? part.exprKind.value.name : '';
}

function examined(source: string): { outcome: Outcome | undefined; problems: string[] } {
  const problems = new Set<string>();
  const expression = expressionOf(source);
  const outcome = expression && outcomeOf(expression, undefined, (fault) => problems.add(faultProblem(fault)));
  return { outcome, problems: [...problems] };
}

/** A comparison with `==` or `!=`. `differ` and `argument` are absent where the types of its sides tell nothing. */
export interface Equality {
  operator: '==' | '!=';
  /** The types of both sides, if they always differ. */
  differ?: [Type, Type];
  /** The name of the argument, and the type of the constant. */
  argument?: { name: string; kind: Type };
}

export function equalitiesOf(source: string): Equality[] {
  return partsWithin(source).flatMap(({ exprKind }) => {
    const operator = exprKind.case === 'callExpr' ? equalities.get(exprKind.value.function) : undefined;
    if (operator === undefined || exprKind.case !== 'callExpr') return [];
    return [equalityOf(operator as '==' | '!=', exprKind.value.args as [Expression, Expression])];
  });
}

/** All expressions in a condition, the outer ones first; none if it does not compile. */
function partsWithin(source: string): Expression[] {
  const expression = expressionOf(source);
  const within = (part: Expression): Expression[] => [part, ...partsOf(part).flatMap(within)];
  return expression === undefined ? [] : within(expression);
}

/** Compares the types of both sides. With null it finds nothing: such a comparison asks whether there is a value. */
function equalityOf(operator: '==' | '!=', sides: [Expression, Expression]): Equality {
  const [one, other] = sides.map((side) => typeOf(outcomeOf(side))) as [Type, Type];
  const isNull = one === 'null' || other === 'null';
  if (one !== 'any' && other !== 'any') return { operator, ...(one !== other && !isNull && { differ: [one, other] }) };
  const name = argumentOf(one === 'any' ? sides[0] : sides[1]);
  const kind = one === 'any' ? other : one;
  return { operator, ...(name !== undefined && kind !== 'any' && kind !== 'null' && { argument: { name, kind } }) };
}

/** The name of the argument that an expression reads, such as `amount` for `args.amount`. */
function argumentOf({ exprKind }: Expression): string | undefined {
  if (exprKind.case !== 'selectExpr' || exprKind.value.testOnly) return undefined;
  return variableName(exprKind.value.operand) === 'args' ? exprKind.value.field : undefined;
}

const typeOfKind: Readonly<Record<Kind, Type>> = {
  true: 'true or false',
  false: 'true or false',
  int: 'number',
  uint: 'number',
  double: 'number',
  text: 'text',
  bytes: 'text of bytes',
  list: 'list',
  map: 'map',
  null: 'null',
  failure: 'any',
};

/** The type of an outcome, as messages name it; `any` if it may have several. */
function typeOf({ kinds }: Outcome): Type {
  const types = new Set([...kinds].map((kind) => typeOfKind[kind]));
  const [only] = types;
  return types.size === 1 ? only! : 'any';
}

/** The problem of a part that can only fail, as a clause with the remedy. */
function faultProblem({ name, part, operands }: Fault): string {
  const types = operands.map(({ outcome }) => typeName(outcome));
  const [first = 'text', second = 'text'] = types;
  const wrongType = (wanted: string): string => types.find((type) => type !== wanted && type !== 'value') ?? first;
  if (name === 'logic') return `joins or negates a ${first}, not what is true or false`;
  if (name === 'loop') return `looks at each element of a ${first}, not of a list`;
  if (name === 'select') return selectProblem(part, operands[0]!.outcome, first);
  if (name === 'int' || name === 'double') {
    const text = textOf(operands[0]?.part);
    return text === undefined
      ? `turns a ${first} into a number`
      : `turns '${text.slice(0, 60)}' into a number, and it is none${numberMeant(text)}`;
  }
  if (name === 'size') return `measures a ${first}: texts, lists and maps have a size`;
  if (name === '@in') return `looks into a ${second}, not into a list`;
  if (name === '_[_]') return `reads a member of a ${first} by a ${second}`;
  if (name === '_%_' && types.every((type) => type === 'number' || type === 'value')) {
    return `takes the remainder of a number of the call, which counts as decimal: write int(…) around it`;
  }
  if (name === '_%_' || arithmetic.includes(name)) return `calculates with a ${wrongType('number')}, not a number`;
  if (name === '_+_') return `adds a ${first} and a ${second}`;
  if (!orderings.includes(name)) return `calls ${name} on or with a ${wrongType('text')}, not a text`;
  const unordered = operands.find((_, index) => ['list', 'map', 'null'].includes(types[index]!));
  if (unordered !== undefined) return `orders a ${typeName(unordered.outcome)}${memberMeant(unordered.part)}`;
  return `orders a ${first} and a ${second}${comparisonMeant(operands)}`;
}

/** The name of a type, apart from failures and null: `caller`, a map or null, is a map. `value` for several types. */
function typeName({ kinds }: Outcome): string {
  const type = typeOf({
    kinds: new Set([...kinds].filter((kind) => kind !== 'failure' && (kind !== 'null' || kinds.size === 1))),
  });
  return type === 'any' ? 'value' : type;
}

function selectProblem({ exprKind }: Expression, { members }: Outcome, type: string): string {
  const field = exprKind.case === 'selectExpr' ? exprKind.value.field.slice(0, 60) : '';
  if (type !== 'map') return `reads '${field}' of a ${type}`;
  const known = Object.keys(members?.known ?? {});
  const nearest = nearestName(field, known);
  return `reads '${field}', and there is no such member${nearest === undefined ? `: there are ${known.join(', ')}` : `; did you mean '${nearest}'?`}`;
}

/** Ends a message about a map used as a value, as in `args > 5`, with the member that was likely meant. */
function memberMeant({ exprKind }: Expression): string {
  const name = exprKind.case === 'identExpr' ? exprKind.value.name : undefined;
  if (name === 'args' || name === 'metadata') return `: name what it holds, as in ${name}.amount`;
  if (name === 'counts') return ': write counts.calls, or another of them';
  return name === 'caller' ? ': compare caller.userId' : '';
}

/** Ends a message about a number and a text, as in `counts.calls > "5"`, with what was meant; empty if not known. */
function comparisonMeant(operands: Fault['operands']): string {
  const text = operands.map(({ part }) => textOf(part)).find((found) => found !== undefined);
  if (text !== undefined) {
    return /^-?\d+(?:\.\d+)?$/.test(text) ? `: write ${text} without quotes` : ': compare a number with a number';
  }
  const constant = operands.find(({ part }) => part.exprKind.case === 'constExpr');
  return constant === undefined ? '' : `: write "${unparse(constant.part)}" in quotes`;
}

function numberMeant(text: string): string {
  const plain = text.replaceAll(/[ ,_']/g, '');
  const meant = /^[+-]?(?:\d+(?:\.\d+)?|0x[\da-f]+)$/i.test(plain) ? Number(plain) : NaN;
  return Number.isNaN(meant) ? '' : `: write ${meant}`;
}

/** The problem of an invalid regular expression in a call of `matches`; undefined for others, and for computed ones. */
function expressionProblem({ exprKind }: Expression): string | undefined {
  if (exprKind.case !== 'callExpr' || exprKind.value.function !== 'matches') return undefined;
  const pattern = textOf(exprKind.value.args.at(-1));
  if (pattern === undefined) return undefined;
  try {
    RE2JS.compile(pattern);
    return undefined;
  } catch {
    return `has a regular expression that RE2 does not accept: '${pattern.slice(0, 60)}'`;
  }
}
