/** Finds policies that calls of a usual size cannot be evaluated against: their rules or conditions cost too much. */
import { parse } from '../core/match/cel.ts';
import { maxConditionWork } from '../core/match/condition.ts';
import { partsOf, weightOf, type Expression } from '../core/match/condition-cost.ts';
import { expressionSize } from '../core/match/expression-size.ts';
import { maxRulingWork } from '../core/match/matching.ts';
import type { CompiledRule } from '../core/policy/compiled-policy.ts';
import { maxPartMatches } from '../core/policy/layer-answer.ts';
import type { Rule } from '../core/policy/policy.ts';
import { globCovers } from './globs-overlap.ts';
import type { PolicyWarning } from './policy-warning.ts';
import { textOf } from './condition-kinds.ts';

/** Commands with fewer parts, and arguments with fewer characters, should be affordable for all rules of a tool. */
const usualParts = 128;
const usualLength = 4_000;
/** What the lists and texts that conditions read may hold. */
const usualItems = 20;
const usualText = 200;

interface Listed {
  rule: Rule;
  compiled: CompiledRule;
}

/** `rules` are those of one policy. */
export function budgetWarnings(rules: readonly Listed[]): PolicyWarning[] {
  const named = rules.flatMap((listed) => {
    const { pattern } = listed.compiled;
    return 'problem' in pattern ? [] : [{ listed, glob: pattern.name }];
  });
  const byName = Map.groupBy(named, ({ glob }) => glob.source);
  return [...byName].flatMap(([name, [first]]) => {
    const about = [...byName.values()].filter(([each]) => globCovers(each!.glob, first!.glob)).flat();
    const listed = about.map((each) => each.listed);
    return [...matchingWarnings(name, listed), ...conditionWarnings(name, listed)].map((message) => ({ message }));
  });
}

function matchingWarnings(name: string, rules: readonly Listed[]): string[] {
  const globs = rules.flatMap(({ compiled: { pattern } }) => (pattern.args === undefined ? [] : [pattern.args.source]));
  const length = globs.reduce((sum, glob) => sum + glob.length, 0);
  const parts = Math.floor(maxPartMatches / rules.length);
  const characters = length === 0 ? Infinity : Math.floor(maxRulingWork / length);
  const isOfCommands = globs.some((glob) => glob.includes(' '));
  const bounds = [
    ...(isOfCommands && parts < usualParts ? [`${parts} parts`] : []),
    ...(characters < usualLength ? [`${characters} characters`] : []),
  ];
  if (bounds.length === 0) return [];
  const what = isOfCommands ? 'a command' : 'an argument';
  return [
    `${rules.length} rules are about '${name}': ${what} of more than ${bounds.join(' or ')} cannot be evaluated against them. Write fewer and wider ones`,
  ];
}

function conditionWarnings(name: string, rules: readonly Listed[]): string[] {
  const shared = rules.filter(({ rule: { when, agent } }) => when !== undefined && agent === undefined);
  const ofAgents = Map.groupBy(
    rules.filter(({ rule: { when, agent } }) => when !== undefined && agent !== undefined),
    ({ rule: { agent } }) => agent,
  );
  const stepsOf = (listed: readonly Listed[]): number =>
    listed.reduce((sum, { rule }) => sum + usualSteps(rule.when!), 0);
  const steps = stepsOf(shared) + Math.max(0, ...[...ofAgents.values()].map(stepsOf));
  if (steps <= maxConditionWork) return [];
  const about = steps > 1e9 ? 'over 1000000000' : `about ${Math.round(steps)}`;
  return [
    `the conditions of rules about '${name}' take ${about} steps where lists have ${usualItems} items, and those of a ruling share ${maxConditionWork}: ` +
      'such calls cannot be evaluated. Nest fewer loops',
  ];
}

/** What a condition may cost where all of it is evaluated. */
function usualSteps(source: string): number {
  try {
    return steps(parse(source).expr);
  } catch {
    return 0;
  }
}

function steps(part: Expression | undefined): number {
  if (part === undefined) return 0;
  const { exprKind } = part;
  if (exprKind.case === 'comprehensionExpr') {
    const { iterRange, accuInit, loopCondition, loopStep, result } = exprKind.value;
    const list = iterRange?.exprKind;
    const rounds = list?.case === 'listExpr' ? list.value.elements.length : usualItems;
    const weight = weightOf(loopStep) + weightOf(loopCondition);
    const round = Math.max(4, weight / 5) + steps(loopStep) + steps(loopCondition);
    return steps(iterRange) + steps(accuInit) + steps(result) + rounds * round;
  }
  const inner = partsOf(part).reduce((sum, each) => sum + steps(each), 0);
  if (exprKind.case !== 'callExpr') return inner;
  if (exprKind.value.function !== 'matches') return inner + 0.1;
  const pattern = textOf(exprKind.value.args.at(-1));
  const size = pattern === undefined ? usualItems : expressionSize(pattern);
  return inner + 20 + size + (size * usualText) / 15;
}
