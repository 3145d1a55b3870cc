/**
 * Infers the possible outcomes of a condition before any call: it evaluates with kinds of values in place of values.
 * What each function accepts and returns comes from the functions that evaluate conditions.
 */
import { unparse } from '@bufbuild/cel';
import { parse, type CelFunc } from '../core/match/cel.ts';
import { partsOf } from '../core/match/condition-cost.ts';
import { boundedEnvironment, compileCondition } from '../core/match/condition.ts';
import { evaluated, indexOf, textOf, type Expression } from './condition-constants.ts';

export type Kind =
  'true' | 'false' | 'int' | 'uint' | 'double' | 'text' | 'bytes' | 'list' | 'map' | 'null' | 'failure';

/** The possible outcomes of an expression. Failures that depend on the call are left out. */
export interface Outcome {
  kinds: ReadonlySet<Kind>;
  /** For a map: the possible outcomes of its known members, and those of all other members. Absent: unknown. */
  members?: { known: Readonly<Record<string, Outcome>>; others: Outcome };
  /** For a list: the possible outcomes of an item. Absent: an item can be anything. */
  items?: Outcome;
  /** For a list: the number of its items. Absent: unknown. */
  size?: number;
  /** Set if the expression can only have the value of this constant, or fail. */
  constant?: Expression;
}

export type Scope = Readonly<Record<string, Outcome>>;

/** A part of a condition that can only fail. `name`: the name of the function, or `select`, `logic` or `loop`. */
export interface Fault {
  name: string;
  part: Expression;
  /** The operands: for a select its map; for a call its target, if it has one, and its arguments. */
  operands: readonly { part: Expression; outcome: Outcome }[];
}

const outcome = (...kinds: Kind[]): Outcome => ({ kinds: new Set(kinds) });
export const failure = outcome('failure');
const any = outcome('true', 'false', 'double', 'text', 'list', 'map', 'null');
const boolean = outcome('true', 'false');
const text = outcome('text');
const number = outcome('double');

export function mapOf(known: Readonly<Record<string, Outcome>>, others: Outcome = any): Outcome {
  return { ...outcome('map'), members: { known, others } };
}

const callerMembers = { userId: text, groups: { ...outcome('list'), items: text } };
const countNames = ['calls', 'asks', 'denials', 'irreversible'];

export const variables = {
  args: mapOf({}),
  metadata: mapOf({}),
  tool: text,
  risk: text,
  severity: text,
  agent: outcome('text', 'null'),
  caller: { ...outcome('map', 'null'), members: { known: callerMembers, others: failure } },
  counts: mapOf(Object.fromEntries(countNames.map((name) => [name, number])), failure),
} satisfies Scope;

/** A condition as an expression; undefined if it does not compile. */
export function expressionOf(source: string): Expression | undefined {
  return 'problem' in compileCondition(source) ? undefined : parse(source).expr;
}

/** The possible outcomes of an expression. `report` receives the parts that can only fail, inner ones first. */
export function outcomeOf(
  part: Expression,
  scope: Scope = variables,
  report: (fault: Fault) => void = () => undefined,
): Outcome {
  return inferOutcome(part, { scope, report, done: new Map() });
}

interface Inference {
  scope: Scope;
  report: (fault: Fault) => void;
  /** The outcomes of parts that were evaluated before. */
  done: ReadonlyMap<Expression, Outcome>;
}

/** The outcome of one part, by its kind; `any` for a name that is not in scope. */
function inferOutcome(part: Expression, inference: Inference): Outcome {
  const { scope, report, done } = inference;
  const { exprKind } = part;
  const inner = (each: Expression | undefined): Outcome => (each === undefined ? any : inferOutcome(each, inference));
  const before = done.get(part);
  if (before !== undefined) return before;
  switch (exprKind.case) {
    case 'constExpr':
      return { ...outcome(constantKind(exprKind.value.constantKind)), constant: part };
    case 'identExpr':
      return Object.hasOwn(scope, exprKind.value.name) ? scope[exprKind.value.name]! : any;
    case 'selectExpr': {
      const { operand, field, testOnly } = exprKind.value;
      const of = inner(operand);
      const given = mayBe(of, 'map') ? memberOf(of, field, testOnly) : failure;
      if (onlyFails(given) && !onlyFails(of)) {
        report({ name: 'select', part, operands: [{ part: operand!, outcome: of }] });
      }
      return failingWith(given, [of]);
    }
    case 'listExpr': {
      const items = exprKind.value.elements.map((each) => inner(each));
      const list = { ...outcome('list'), size: items.length };
      return failingWith(items.length > 0 ? { ...list, items: items.reduce(either) } : list, items);
    }
    case 'structExpr': {
      const parts = exprKind.value.entries.flatMap(({ keyKind, value }) => [
        ...(keyKind.case === 'mapKey' ? [inner(keyKind.value)] : []),
        inner(value),
      ]);
      return failingWith(outcome('map'), parts);
    }
    case 'comprehensionExpr': {
      const { iterRange, accuInit, loopStep, result, iterVar, accuVar } = exprKind.value;
      const range = inner(iterRange);
      if (!mayBe(range, 'list') && !mayBe(range, 'map')) {
        if (!onlyFails(range)) report({ name: 'loop', part, operands: [{ part: iterRange!, outcome: range }] });
        return failure;
      }
      const item = mayBe(range, 'map') ? any : (range.items ?? any);
      const ofRound = { ...inference, scope: { ...scope, [iterVar]: item } };
      // Parts that do not read the accumulator are inferred only once: else nested loops would take exponential time.
      const fixed = partsWithout(loopStep, accuVar).map((each) => [each, inferOutcome(each, ofRound)] as const);
      let accumulated = inner(accuInit);
      const after = (step: Expression | undefined): Outcome => {
        const inside = { ...ofRound.scope, [accuVar]: accumulated };
        return step === undefined
          ? any
          : inferOutcome(step, { scope: inside, report, done: new Map([...done, ...fixed]) });
      };
      // Repeat the rounds until none adds a kind.
      for (let size = range.size === 0 ? accumulated.kinds.size : -1; size !== accumulated.kinds.size;) {
        size = accumulated.kinds.size;
        accumulated = either(accumulated, after(loopStep));
      }
      return failingWith(after(result), [range]);
    }
    case 'callExpr': {
      const { function: name, target, args } = exprKind.value;
      const parts = [...(target === undefined ? [] : [target]), ...args];
      const operands = parts.map((each) => ({ part: each, outcome: inner(each) }));
      const outcomes = operands.map(({ outcome }) => outcome);
      const given = memberGiven(name, parts, outcomes) ?? resultOf(name, outcomes, target !== undefined);
      if (isLogic(name)) {
        const bad = operands.slice(0, name === '_?_:_' ? 1 : undefined).filter(({ outcome }) => isNoBoolean(outcome));
        if (bad.length > 0) report({ name: 'logic', part, operands: bad });
        return given;
      }
      if (operands.some(({ outcome }) => onlyFails(outcome))) return failure;
      const exact = onlyFails(given) ? given : (ofConstants(part, operands) ?? given);
      if (onlyFails(exact)) report({ name, part, operands });
      return exact;
    }
    default:
      return any;
  }
}

/** The largest parts of an expression that do not read a variable. */
function partsWithout(part: Expression | undefined, variable: string): Expression[] {
  if (part === undefined) return [];
  return reads(part, variable) ? partsOf(part).flatMap((each) => partsWithout(each, variable)) : [part];
}

/** True if an expression reads a variable. The accumulator of a loop within hides an outer one of the same name. */
function reads(part: Expression, variable: string): boolean {
  const { exprKind } = part;
  if (exprKind.case === 'identExpr') return exprKind.value.name === variable;
  if (exprKind.case !== 'comprehensionExpr' || exprKind.value.accuVar !== variable) {
    return partsOf(part).some((each) => reads(each, variable));
  }
  const { iterRange, accuInit } = exprKind.value;
  return [iterRange, accuInit].some((each) => each !== undefined && reads(each, variable));
}

const kindsOfConstants: Readonly<Record<string, Kind>> = {
  int64Value: 'int',
  uint64Value: 'uint',
  doubleValue: 'double',
  stringValue: 'text',
  bytesValue: 'bytes',
};

function constantKind({ case: kind = '', value }: { case?: string | undefined; value?: unknown }): Kind {
  if (kind === 'boolValue') return value === true ? 'true' : 'false';
  return kindsOfConstants[kind] ?? 'null';
}

function memberOf({ members }: Outcome, name: string, isTested = false): Outcome {
  const known = members !== undefined && Object.hasOwn(members.known, name) ? members.known[name]! : members?.others;
  if (!isTested) return known ?? any;
  return known !== undefined && onlyFails(known) ? outcome('false') : boolean;
}

/** The outcome of `map["x"]` and `"x" in map` for what can only be a map, and a constant; undefined for other calls. */
function memberGiven(
  name: string,
  [first, second]: readonly Expression[],
  outcomes: readonly Outcome[],
): Outcome | undefined {
  const isTested = name === '@in';
  if (!isTested && name !== '_[_]') return undefined;
  const [key, map] = isTested ? [textOf(first), outcomes[1]] : [textOf(second), outcomes[0]];
  if (key === undefined || map === undefined || map.kinds.size > 1 || !mayBe(map, 'map')) return undefined;
  return memberOf(map, key, isTested);
}

export function onlyFails({ kinds }: Outcome): boolean {
  return kinds.size === 1 && kinds.has('failure');
}

export function mayBe({ kinds }: Outcome, kind: Kind): boolean {
  return kinds.has(kind);
}

function isNoBoolean(of: Outcome): boolean {
  return !mayBe(of, 'true') && !mayBe(of, 'false') && !onlyFails(of);
}

/** The outcome that is either of two. What is known of the value stays known only if both agree on it. */
function either(one: Outcome, other: Outcome): Outcome {
  const kinds = new Set([...one.kinds, ...other.kinds]);
  return {
    kinds,
    ...(one.members !== undefined && one.members === other.members && { members: one.members }),
    ...(one.items !== undefined && one.items === other.items && { items: one.items }),
    ...(one.size !== undefined && one.size === other.size && { size: one.size }),
    ...(one.constant !== undefined && one.constant === other.constant && { constant: one.constant }),
  };
}

/** The outcome, with `failure` added if one of the parts may fail. */
function failingWith(given: Outcome, parts: readonly Outcome[]): Outcome {
  if (parts.some(onlyFails)) return failure;
  return parts.some((each) => mayBe(each, 'failure'))
    ? { ...given, kinds: new Set([...given.kinds, 'failure']) }
    : given;
}

function isLogic(name: string): boolean {
  return name === '_&&_' || name === '_||_' || name === '!_' || name === '_?_:_';
}

/** What a call of a CEL function or operator may return, given what its operands may be. */
function resultOf(name: string, operands: readonly Outcome[], isMethod: boolean): Outcome {
  const [first = any, second = any, third = any] = operands;
  switch (name) {
    case '_&&_':
      return logicOutcome(operands, 'false', 'true');
    case '_||_':
      return logicOutcome(operands, 'true', 'false');
    case '!_': {
      const kinds: Kind[] = mayBe(first, 'true') ? ['false'] : [];
      if (mayBe(first, 'false')) kinds.push('true');
      return outcome(...kinds, ...(mayFail(first) ? ['failure' as const] : []));
    }
    case '_?_:_': {
      const branches = [...(mayBe(first, 'true') ? [second] : []), ...(mayBe(first, 'false') ? [third] : [])];
      return [...branches, ...(mayFail(first) ? [failure] : [])].reduce(either);
    }
    case '_==_':
    case '_!=_': {
      const areEqual = knownEquality(first, second);
      if (areEqual === undefined) return failingWith(boolean, operands);
      return failingWith(outcome((name === '_==_') === areEqual ? 'true' : 'false'), operands);
    }
    case '_[_]':
      return failingWith(indexed(first, second), operands);
    // The loop condition of `all` and `exists`: for a failure, too, the loop goes on.
    case '@not_strictly_false':
      return boolean;
    case '@in':
      return second.size === 0
        ? failingWith(outcome('false'), operands)
        : failingWith(called(name, operands, isMethod), operands);
    case 'size': {
      const given = called(name, operands, isMethod);
      const constant = first.size === undefined ? undefined : parse(`${first.size}`).expr;
      return failingWith(constant === undefined ? given : { ...given, constant }, operands);
    }
    default:
      return failingWith(called(name, operands, isMethod), operands);
  }
}

/** The outcome of `&&` or `||`: `decisive` if an operand is, even if others fail; `neutral` if all are; or failure. */
function logicOutcome(operands: readonly Outcome[], decisive: Kind, neutral: Kind): Outcome {
  const kinds: Kind[] = [];
  if (operands.some((each) => mayBe(each, decisive))) kinds.push(decisive);
  if (operands.every((each) => mayBe(each, neutral))) kinds.push(neutral);
  if (operands.some(mayFail) && operands.every((each) => mayBe(each, neutral) || mayFail(each))) kinds.push('failure');
  return outcome(...kinds);
}

function mayFail(of: Outcome): boolean {
  return mayBe(of, 'failure') || isNoBoolean(of);
}

function isNull({ kinds }: Outcome): boolean {
  return kinds.size === 1 && kinds.has('null');
}

/** Whether two outcomes are certainly equal, or certainly not; undefined if this depends on the call. */
function knownEquality(one: Outcome, other: Outcome): boolean | undefined {
  if (isNull(one) && isNull(other)) return true;
  return equalLists(one, other) ?? (haveKindInCommon(one, other) ? undefined : false);
}

/** False if two lists have different sizes, true if both are empty; undefined if their sizes do not tell. */
function equalLists(one: Outcome, other: Outcome): boolean | undefined {
  if (one.size === undefined || other.size === undefined) return undefined;
  if (one.size !== other.size) return false;
  return one.size === 0 ? true : undefined;
}

const numbers: readonly Kind[] = ['int', 'uint', 'double'];

/** True if two outcomes can be equal: they have a kind in common, or both can be numbers, of any kind. */
function haveKindInCommon(one: Outcome, other: Outcome): boolean {
  const isNumber = (of: Outcome): boolean => numbers.some((kind) => mayBe(of, kind));
  if (isNumber(one) && isNumber(other)) return true;
  return [...one.kinds].some((kind) => kind !== 'failure' && mayBe(other, kind));
}

/** The outcome of `container[index]`, for a list or a map. */
function indexed(container: Outcome, index: Outcome): Outcome {
  const { size, items = any, members } = container;
  const possible: Outcome[] = [];
  // The library takes `true` as the index 1 and `false` as 0.
  const indexKinds: readonly Kind[] = [...numbers, 'true', 'false'];
  const isPastEnd = size !== undefined && Number(indexOf(index.constant) ?? -1) >= size;
  if (mayBe(container, 'list') && !isPastEnd && indexKinds.some((kind) => mayBe(index, kind))) possible.push(items);
  // Maps whose members are known have only texts as keys.
  if (mayBe(container, 'map') && (members === undefined || mayBe(index, 'text'))) possible.push(any);
  return possible.length === 0 ? failure : possible.reduce(either);
}

/** The outcome of a call: the results of those overloads of the function that may accept the operands. */
function called(name: string, operands: readonly Outcome[], isMethod: boolean): Outcome {
  const results = overloadsOf(name).flatMap(({ target, arguments: types, result }) => {
    if ((target !== undefined) !== isMethod) return [];
    const wanted = [...(target === undefined ? [] : [target]), ...types];
    if (wanted.length !== operands.length) return [];
    const fits = wanted.every((type, index) => kindsOfType(type).some((kind) => mayBe(operands[index]!, kind)));
    return fits ? [outcome(...kindsOfType(result))] : [];
  });
  return results.length === 0 ? failure : results.reduce(either);
}

const kindsByType: Readonly<Record<string, readonly Kind[]>> = {
  bool: ['true', 'false'],
  int: ['int'],
  uint: ['uint'],
  double: ['double'],
  string: ['text'],
  bytes: ['bytes'],
  null_type: ['null'],
  list: ['list'],
  map: ['map'],
  dyn: ['true', 'false', 'int', 'uint', 'double', 'text', 'bytes', 'list', 'map', 'null'],
};

/** The kinds of a type; none for a type that has no values in conditions, such as times. */
function kindsOfType({ name }: { name: string }): readonly Kind[] {
  return kindsByType[name] ?? [];
}

let overloads: Map<string, CelFunc[]> | undefined;

function overloadsOf(name: string): readonly CelFunc[] {
  overloads ??= Map.groupBy(boundedEnvironment().funcs, (each) => each.name);
  return overloads.get(name) ?? [];
}

/** The result of a call of constants, if it is a boolean or fails; else undefined. A `sum` also depends on calls. */
function ofConstants(call: Expression, operands: Fault['operands']): Outcome | undefined {
  if (call.exprKind.case !== 'callExpr' || call.exprKind.value.function === 'sum') return undefined;
  const constants = operands.map(({ outcome: of }) => (mayBe(of, 'failure') ? undefined : of.constant));
  if (!constants.every((each) => each !== undefined)) return undefined;
  const { target } = call.exprKind.value;
  const constantCall = {
    ...call.exprKind.value,
    ...(target !== undefined && { target: constants[0]! }),
    args: target === undefined ? constants : constants.slice(1),
  };
  const source = unparse({ ...call, exprKind: { case: 'callExpr', value: constantCall } });
  const value = evaluated(source);
  if (typeof value === 'boolean') return outcome(value ? 'true' : 'false');
  // The value is no boolean. Compare it in a list, to find out whether its evaluation fails.
  return evaluated(`[${source}] == []`) === 'failure' ? failure : undefined;
}
