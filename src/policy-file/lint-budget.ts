// Finds policies whose rules or conditions cost too much for calls of a usual size.
import { maxConditionWork } from '../core/match/condition.ts';
import { partsOf, weightOf, type Expression } from '../core/match/condition-cost.ts';
import { expressionSize } from '../core/match/expression-size.ts';
import type { Glob } from '../core/match/glob.ts';
import { compilePattern, maxRulingWork } from '../core/match/matching.ts';
import type { AssessRule } from '../core/assess/assessment.ts';
import { compileAssessRules } from '../core/policy/assess-rules.ts';
import { compilePolicy } from '../core/policy/compiled-policy.ts';
import { layerAnswers, mostParts, type LayerCall } from '../core/policy/layer-answer.ts';
import type { Rule } from '../core/policy/policy.ts';
import { matchAsRule } from '../core/policy/recorded-assessment.ts';
import { readyCall } from '../core/policy/ruling.ts';
import { namesCommand } from '../assess/commands.ts';
import { splitShell } from '../shell/split.ts';
import { globCovers, type Comparisons } from './globs-overlap.ts';
import type { PolicyWarning } from './lint-names.ts';
import { expressionOf } from './condition-kinds.ts';
import { textOf } from './condition-constants.ts';

/** The usual size of a call: the parts of its command, and the characters of an argument. */
const usualParts = 128;
const usualLength = 4_000;
/** Usual sizes of the lists and texts that conditions read. */
const usualItems = 20;
const usualText = 200;
/** What compiling one rule costs, in steps of `Comparisons`. */
const costOfRule = 50;

/** Warnings about tools whose calls cannot be evaluated at a usual size. `rules` and `assess` are from one policy. */
export function budgetWarnings(
  rules: readonly Rule[],
  assess: readonly AssessRule[],
  comparisons: Comparisons,
): PolicyWarning[] {
  // Conditions are measured apart from the matching, so the policies below are compiled without them.
  const steps = new Map(rules.map((rule) => [rule, rule.when === undefined ? 0 : usualSteps(expressionOf(rule.when))]));
  const ofRules = rulesByToolName(rules, comparisons).flatMap(({ name, about }) => {
    const policy = compilePolicy(
      { version: 1, rules: about.map(withoutToolAndCondition), riskDefaults: {}, approval: {} },
      'run',
    );
    const match = (call: LayerCall): unknown => layerAnswers(policy, call);
    return [
      ...matchingWarnings({ name, kind: 'rules', rules: about, parts: mostParts(about.length), match }, comparisons),
      ...conditionWarnings(name, about, (rule) => steps.get(rule)!),
    ];
  });
  // No limit of parts applies to assess rules.
  const ofAssessment = rulesByToolName(assess, comparisons).flatMap(({ name, about }) => {
    const compiled = compileAssessRules({ run: { assess: about.map(withoutToolAndCondition) } });
    const match = (call: LayerCall): unknown => compiled.map((rule) => matchAsRule(rule, call));
    return matchingWarnings({ name, kind: 'assess rules', rules: about, parts: Infinity, match }, comparisons);
  });
  return [...ofRules, ...ofAssessment].map((message) => ({ message }));
}

interface Matched {
  pattern: string;
  args?: Record<string, string>;
  agent?: string;
}

/** For each glob on tool names: the rules for every tool that it matches. Leaves out what is too much to compare. */
function rulesByToolName<Each extends Matched>(
  rules: readonly Each[],
  comparisons: Comparisons,
): { name: string; about: Each[] }[] {
  const named = rules.flatMap((rule): { rule: Each; name: Glob }[] => {
    const pattern = compilePattern(rule.pattern);
    return 'problem' in pattern ? [] : [{ rule, name: pattern.name }];
  });
  const groups = [...Map.groupBy(named, ({ name }) => name.source).values()];
  return groups.flatMap(([first]) => {
    if (!comparisons.afford(groups.length)) return [];
    const about = groups.filter(([each]) => globCovers(each!.name, first!.name)).flat();
    return comparisons.afford(about.length * costOfRule)
      ? [{ name: first!.name.source, about: about.map(({ rule }) => rule) }]
      : [];
  });
}

function withoutToolAndCondition<Each extends Matched>(rule: Each): Each {
  const colon = rule.pattern.indexOf(':');
  return { ...rule, pattern: colon === -1 ? '*' : `*${rule.pattern.slice(colon)}`, when: undefined };
}

interface RulesOfTool {
  /** The glob on the name of the tool. */
  name: string;
  kind: 'rules' | 'assess rules';
  rules: readonly Matched[];
  /** How many parts of a command can be matched against the rules. */
  parts: number;
  /** Matches a call against all the rules, as the gate does. */
  match: (call: LayerCall) => unknown;
}

/** Warns if usual arguments or commands exceed the budget of a ruling because a tool has so many rules. */
function matchingWarnings({ name, kind, rules, parts, match }: RulesOfTool, comparisons: Comparisons): string[] {
  const patterns = rules.flatMap(({ pattern }) => (pattern.includes(':') ? [pattern] : []));
  const argumentNames = [...new Set(rules.flatMap(({ args = {} }) => Object.keys(args)))];
  // The agent '' stands for all that no rule names.
  const agents = [...new Set(['', ...rules.flatMap(({ agent = [] }) => agent)])];
  // What the rules match: the subject, under the name '', and the arguments that their `args` name.
  const matched = [
    ...(patterns.length === 0 ? [] : [{ field: '', isCommand: patterns.some((each) => each.includes(' ')) }]),
    ...argumentNames.map((field) => ({ field, isCommand: namesCommand(field) })),
  ];
  // How much of each the gate can match against the rules. There is no limit to what would take too long to measure.
  const bounds = matched.map(({ field, isCommand }) => {
    const workOfAgents = agents.map((agent) => {
      const isAffordable = comparisons.afford(rules.length * costOfRule);
      return isAffordable ? workPerCharacter(match, { field, argumentNames, isCommand, agent }) : 0;
    });
    const characters = Math.floor(maxRulingWork / Math.max(...workOfAgents));
    return { field, isCommand, characters, parts: isCommand ? parts : Infinity };
  });
  const [least] = bounds
    .filter((bound) => bound.parts < usualParts || bound.characters < usualLength)
    .toSorted((one, other) => one.characters - other.characters);
  if (least === undefined) return [];
  const named = least.field === '' ? 'an argument' : `an argument '${least.field}'`;
  const most = [
    ...(least.parts < usualParts ? [`${least.parts} parts`] : []),
    ...(least.characters < usualLength ? [`${least.characters} characters`] : []),
  ];
  return [
    `${rules.length} ${kind} are about '${name}': ${least.isCommand ? 'a command' : named} of more than ${most.join(' or ')} cannot be evaluated against them. Write fewer and wider ones`,
  ];
}

/**
 * Measures the work that the gate counts for each character of an argument. Work is proportional to length, so it
 * matches a call in which this argument has one character and the others none. `field`: its name; empty: the subject.
 */
function workPerCharacter(
  match: (call: LayerCall) => unknown,
  options: { field: string; argumentNames: string[]; isCommand: boolean; agent: string },
): number {
  const { field, argumentNames, isCommand, agent } = options;
  const text = 'x';
  // Empty texts count no work. `name:args` patterns see the argument named '', unless the subject is a command.
  const args = { ...Object.fromEntries(argumentNames.map((each) => [each, ''])), '': '', [field]: text };
  const call = {
    tool: '',
    args,
    risk: 'unknown' as const,
    subject: isCommand ? field : '',
    ...(isCommand && { shell: splitShell(text) }),
  };
  const ready = readyCall(call, { agent });
  let charged = 0;
  // Grants all work, so that the work of all rules is counted.
  const afford = (work: number): boolean => {
    charged += work;
    return true;
  };
  match({ ...ready, subjects: { ...ready.subjects, afford } });
  return charged;
}

/** One warning if the conditions of the rules for a tool may take more steps than a ruling has; else none. */
function conditionWarnings(name: string, rules: readonly Rule[], stepsOf: (rule: Rule) => number): string[] {
  // A call evaluates the rules for its agent, and those for every agent.
  const byAgent = Map.groupBy(rules, ({ agent }) => agent);
  const sumOf = (all: readonly Rule[] = []): number => all.reduce((sum, rule) => sum + stepsOf(rule), 0);
  const shared = sumOf(byAgent.get(undefined));
  const steps = [...byAgent].reduce(
    (most, [agent, all]) => (agent === undefined ? most : Math.max(most, shared + sumOf(all))),
    shared,
  );
  if (steps <= maxConditionWork) return [];
  const about = steps > 1e9 ? 'over 1000000000' : `about ${Math.round(steps)}`;
  return [
    `the conditions of rules about '${name}' take ${about} steps where lists have ${usualItems} items, and those of a ruling share ${maxConditionWork}: ` +
      'such calls cannot be evaluated. Nest fewer loops',
  ];
}

/** About how many steps an expression takes at usual sizes, by the prices of `core/match/condition-cost.ts`. */
function usualSteps(part: Expression | undefined): number {
  if (part === undefined) return 0;
  const { exprKind } = part;
  if (exprKind.case === 'comprehensionExpr') {
    const { iterRange, accuInit, loopCondition, loopStep, result } = exprKind.value;
    const list = iterRange?.exprKind;
    const rounds = list?.case === 'listExpr' ? list.value.elements.length : usualItems;
    const weight = weightOf(loopStep) + weightOf(loopCondition);
    const round = Math.max(4, weight / 5) + usualSteps(loopStep) + usualSteps(loopCondition);
    return usualSteps(iterRange) + usualSteps(accuInit) + usualSteps(result) + rounds * round;
  }
  const inner = partsOf(part).reduce((sum, each) => sum + usualSteps(each), 0);
  if (exprKind.case !== 'callExpr') return inner;
  if (exprKind.value.function !== 'matches') return inner + 0.1;
  const pattern = textOf(exprKind.value.args.at(-1));
  // The size of a computed pattern is not known.
  const size = pattern === undefined ? usualItems : expressionSize(pattern);
  return inner + 20 + size + (size * usualText) / 15;
}
