/** Finds what a rule reads although a call or run may lack it: the condition then fails, and a deny or ask counts. */
import { unparse } from '@bufbuild/cel';
import { partsOf } from '../core/match/condition-cost.ts';
import type { Rule } from '../core/policy/policy.ts';
import type { Outcome, Scope } from './condition-kinds.ts';
import { expressionOf, failure, mapOf, mayBe, outcomeOf, variables } from './condition-kinds.ts';
import { indexOf, textOf, type Expression } from './condition-constants.ts';

/** Returns a clause, to follow `rule ID`, for each member whose absence makes a deny or an ask count. */
export function absentReads(rule: Rule, isRequired: (argument: string) => boolean = () => false): string[] {
  const { when, args = {}, action } = rule;
  if (action === 'allow') return [];
  const condition = when === undefined ? undefined : expressionOf(when);
  const matched = Object.keys(args).filter((name) => !isRequired(name));
  const ofMatched = matched.flatMap((name) => withoutMatched(name, rule, action, condition));
  // A condition that may fail although no member is absent has another warning.
  if (condition === undefined || mayBe(outcomeOf(condition), 'failure')) return ofMatched;
  /** Says for how many calls the rule counts if a member is absent; undefined if its absence makes no difference. */
  const countsWithout = (scope: Partial<Scope>): string | undefined => {
    const outcome = outcomeOf(condition, { ...variables, ...scope });
    return mayBe(outcome, 'failure') ? howMany(action, outcome) : undefined;
  };
  const isPresent = (argument: string): boolean => Object.hasOwn(args, argument) || isRequired(argument);
  const ofPlaces = placesRead(condition).flatMap((place) => {
    const counts = needsNoTest(place, isPresent) ? undefined : countsWithout(scopeLacking(place));
    return counts === undefined ? [] : [`${counts} ${callWithout(place)}`];
  });
  const noCaller = countsWithout({ caller: { kinds: new Set(['null']) } });
  const noGroups = countsWithout({ caller: callerWith('groups', failure) });
  return [
    ...ofMatched,
    ...ofPlaces,
    ...(noCaller === undefined
      ? []
      : [`${noCaller} call of a run without a caller: test caller != null first if such runs may call it`]),
    ...(noGroups === undefined
      ? []
      : [`${noGroups} call of a caller without groups: test has(caller.groups) first if such callers may call it`]),
  ];
}

/** The clause about calls without an argument that the rule's `args` match; none if the rule then never counts. */
function withoutMatched(argument: string, { when }: Rule, action: 'ask' | 'deny', condition?: Expression): string[] {
  const outcome = condition && outcomeOf(condition, { ...variables, args: mapOf({ [argument]: failure }) });
  // Without this argument the condition is always false, so the rule does not count.
  if (outcome?.kinds.size === 1 && mayBe(outcome, 'false')) return [];
  const test = testOf('args', argument);
  const remedy = when === undefined ? `add when: ${quoted(test)}` : `test ${test} first`;
  const many = howMany(action, outcome);
  return [`${many} call without '${argument}', which its args match: ${remedy} if such calls may run`];
}

/** True for a place that is always present, or that `absentReads` checks by itself. */
function needsNoTest({ variable, steps }: Place, isPresent: (argument: string) => boolean): boolean {
  const [first] = steps;
  if (typeof first !== 'string') return true;
  if (steps.length > 1) return false;
  return variable === 'args' ? isPresent(first) : variable === 'caller';
}

function scopeLacking({ variable, steps: [first, ...rest], steps }: Place): Partial<Scope> {
  if (variable !== 'caller') return { [variable]: outcomeLacking(steps) };
  return { caller: callerWith(String(first), outcomeLacking(rest)) };
}

/** The rest of a warning: a call that lacks the place, and the test to add. */
function callWithout({ variable, text, test }: Place): string {
  switch (variable) {
    case 'args':
      return `call without '${text}', which its condition reads: test ${test} first if such calls may run`;
    case 'metadata':
      return `call of a run without '${text}' in its metadata: test ${test} first if such runs may call it`;
    case 'caller':
      return `call of a caller without '${text}': test ${test} first if such callers may call it`;
  }
}

/** One step of a place: the name of a member, the index of an item, or null for every item of a list. */
type Step = string | number | null;
type Root = 'args' | 'metadata' | 'caller';

/** A part of a variable that a condition reads. */
interface Place {
  variable: Root;
  steps: readonly Step[];
  /** The place without its variable, such as `a.b`, `a[0]` or `items[].price`. */
  text: string;
  /** A condition which is true if the place is present, for a container that is present. */
  test: string;
}

/** The places in a condition, each once, the outer ones first. `scope`: for each name, the place that it stands for. */
function placesRead(condition: Expression): Place[] {
  const places = new Map<string, Place>();
  const visit = (part: Expression, scope: ReadonlyMap<string, Place | undefined>): void => {
    const place = placeOf(part, scope);
    const last = place?.steps.at(-1) ?? null;
    // Leave out a variable itself and the item of a loop: both are always present.
    if (place !== undefined && last !== null) places.set(`${place.variable} ${place.text}`, place);
    const { exprKind } = part;
    if (exprKind.case !== 'comprehensionExpr') {
      for (const each of partsOf(part)) visit(each, scope);
      return;
    }
    const { iterRange, accuInit, iterVar, loopCondition, loopStep, result } = exprKind.value;
    // In the parts that each round evaluates, the loop's variable stands for an item of the list.
    const list = iterRange && placeOf(iterRange, scope);
    const item = list && { ...list, steps: [...list.steps, null], text: `${list.text}[]` };
    const inside = new Map([...scope, [iterVar, item]]);
    for (const each of [iterRange, accuInit]) if (each !== undefined) visit(each, scope);
    for (const each of [loopCondition, loopStep, result]) if (each !== undefined) visit(each, inside);
  };
  const roots = (['args', 'metadata', 'caller'] as const).map((variable): [string, Place] => [
    variable,
    { variable, steps: [], text: '', test: '' },
  ]);
  visit(condition, new Map(roots));
  return [...places.values()].toSorted((one, other) => one.steps.length - other.steps.length);
}

/** The place that an expression reads, such as `args.items[0].price`; undefined if it reads none that is in scope. */
function placeOf({ exprKind }: Expression, scope: ReadonlyMap<string, Place | undefined>): Place | undefined {
  if (exprKind.case === 'identExpr') return scope.get(exprKind.value.name);
  const [operand, step] = stepOf(exprKind);
  const container = operand && placeOf(operand, scope);
  if (container === undefined || step === undefined) return undefined;
  const source = unparse(operand!);
  const isItem = typeof step === 'number';
  const member = container.text === '' ? `${step}` : `.${step}`;
  return {
    ...container,
    steps: [...container.steps, step],
    text: `${container.text}${isItem ? `[${step}]` : member}`,
    test: isItem ? `size(${source}) > ${step}` : testOf(source, step),
  };
}

/** The operand and the step of a select or an index. A computed or negative index is no step. Empty for all else. */
function stepOf(exprKind: Expression['exprKind']): [of?: Expression, step?: string | number] {
  if (exprKind.case === 'selectExpr') return [exprKind.value.operand, exprKind.value.field];
  if (exprKind.case !== 'callExpr' || exprKind.value.function !== '_[_]') return [];
  const [of, index] = exprKind.value.args;
  const item = indexOf(index);
  return [of, textOf(index) ?? (item === undefined || item < 0 ? undefined : Number(item))];
}

/** The outcome of a variable that lacks the last of these steps: a read fails, a list is one item too short. */
function outcomeLacking(steps: readonly Step[]): Outcome {
  const [step, ...rest] = steps;
  if (step === undefined) return failure;
  if (typeof step === 'string') return mapOf({ [step]: outcomeLacking(rest) });
  const list = { kinds: new Set(['list'] as const) };
  if (typeof step === 'number' && rest.length === 0) return { ...list, size: step };
  // The outcome of one item stands for all, so every item lacks the other steps.
  return { ...list, items: outcomeLacking(rest) };
}

function callerWith(name: string, value: Outcome): Outcome {
  const { members } = variables.caller;
  return { ...variables.caller, members: { ...members, known: { ...members.known, [name]: value } } };
}

/** The words for how many calls a rule counts. `outcome`: that of its condition, if it has one. */
function howMany(action: 'ask' | 'deny', outcome: Outcome | undefined): string {
  const isOften = outcome === undefined || !mayBe(outcome, 'false');
  if (action === 'ask') return isOften ? 'asks about every' : 'may ask about a';
  return isOften ? 'denies every' : 'may deny a';
}

function testOf(holder: string, name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? `has(${holder}.${name})` : `${JSON.stringify(name)} in ${holder}`;
}

/** A text in quotes, as YAML needs it. */
function quoted(text: string): string {
  return text.includes('"') ? `'${text.replaceAll("'", "''")}'` : text;
}
