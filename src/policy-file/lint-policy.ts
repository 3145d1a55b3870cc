import { checkCallOptions } from '../text/check-call-options.ts';
import type { CompiledRule } from '../core/policy/compiled-policy.ts';
import { compileFor } from './condition-constants.ts';
import { absentReads } from './absent-reads.ts';
import { conditionWarnings, equalitiesOf } from './condition-problem.ts';
import { Comparisons, globCovers } from './globs-overlap.ts';
import { looksLike } from '../text/look-alikes.ts';
import { visibleText } from '../text/visible-text.ts';
import { budgetWarnings } from './lint-budget.ts';
import { isAlwaysGiven, type KnownNames, type PolicyWarning } from './lint-names.ts';
import { lateSteps } from './lint-channels.ts';
import { patternWarnings } from './lint-patterns.ts';
import { hidingProblem } from './parse-run-policy.ts';
import { type Policy, type Rule, defaultMinRemindMs } from '../core/policy/policy.ts';
import { type Directory, groupOf, membersOfOne, personKeyIn, personOf } from '../core/people/directory.ts';

/**
 * Warnings about a valid policy: rules that a later rule always overrides, and grants that these offer in vain; denies
 * and asks that cannot be evaluated if an argument is absent; people and groups that the directory lacks; steps after
 * the time-out; time-outs that allow; and an agent's denies that a run can lift. `of`: whose policy it is; default
 * `run`. `known`: what the worker has. `ceiling`: the operator's policy above it. Throws `arguments_invalid` for an
 * unknown option, but never for a policy.
 *
 * @example
 * ```ts
 * import { lintPolicy, parsePolicy } from 'countersign';
 *
 * const parsed = parsePolicy('rules: [{ pattern: rm, action: deny }, { pattern: "*", action: allow }]');
 * const warnings = 'policy' in parsed ? lintPolicy(parsed.policy) : [];
 * for (const { message } of warnings) console.log(message);
 * // rule run#1 can never decide: rule run#2 matches all it matches, and comes later
 * ```
 */
export function lintPolicy(
  policy: Policy,
  options: { of?: 'ceiling' | 'agent' | 'run'; known?: KnownNames; ceiling?: Policy } = {},
): PolicyWarning[] {
  checkCallOptions('lintPolicy', options, { of: true, known: true, ceiling: true });
  const { of = 'run', known, ceiling } = options;
  if (known !== undefined) {
    const names = { tools: true, required: true, prefixes: true, agents: true, advisors: true } as const;
    checkCallOptions('lintPolicy: known', known, names);
  }
  const rules = rulesOf(policy, of);
  const comparisons = new Comparisons();
  const ofRules = rules.flatMap(({ rule, index, compiled: own }): PolicyWarning[] => {
    const about = (message: string): PolicyWarning => ({ index, rule: own.id, message });
    const over = overriding(rules, index, comparisons);
    const found: PolicyWarning[] = [];
    if (over !== undefined) found.push(about(shadowed(own, over.compiled)));
    else {
      const before = allowedBefore(rules, index, comparisons);
      if (before !== undefined)
        found.push(about(`rule ${own.id} is not needed: rule ${before} matches all it matches, and comes before it`));
      const denied = deniedInPart(rules, index, comparisons);
      if (denied !== undefined)
        found.push(about(`rule ${own.id} allows some of what rule ${denied} denies, because it comes later`));
    }
    found.push(...mistakes(rules[index]!));
    const { pattern } = own;
    const isGiven = (name: string): boolean =>
      known !== undefined && !('problem' in pattern) && isAlwaysGiven(pattern.name, name, known);
    for (const problem of [...absentReads(rule, isGiven), ...evadedComparisons(rule)])
      found.push(about(`rule ${own.id} ${problem}`));
    const { remindMs } = rule.ask ?? {};
    if (of !== 'ceiling' && remindMs !== undefined && remindMs < defaultMinRemindMs) {
      found.push(about(`rule ${own.id} reminds more often than a ceiling admits by default: its 'min_remind' counts`));
    }
    if (of !== 'ceiling' && escalatesFast(rule)) {
      found.push(
        about(`rule ${own.id} escalates faster than a ceiling admits by default: its 'min_remind' lies between steps`),
      );
    }
    for (const problem of lateSteps(rule, policy, of, ceiling)) found.push(about(`rule ${own.id} ${problem}`));
    if (rule.ask?.onTimeout === 'allow') found.push(about(`rule ${own.id} ${onTimeoutAllowClause(of)}`));
    if (of === 'agent' && rule.action === 'deny') {
      found.push(
        about(
          `rule ${own.id} denies in an agent's policy, where a run's own policy can lift it: put it in the ceiling`,
        ),
      );
    }
    return found;
  });
  const hiding = of === 'run' ? hidingProblem(policy) : undefined;
  return [
    ...ofRules,
    ...(policy.approval.onTimeout === 'allow'
      ? [{ message: `'approval.on_timeout' ${onTimeoutAllowClause(of)}` }]
      : []),
    ...(hiding === undefined
      ? []
      : [{ message: `below a ceiling a run with this policy is refused: ${hiding.message}` }]),
    ...budgetWarnings(policy.rules, policy.assess ?? [], comparisons),
    ...(comparisons.isCut ? [{ message: tooManyRules }] : []),
    ...lintPeople(policy, (index) => rules[index]!.compiled.id, of === 'ceiling'),
  ];
}

const tooManyRules =
  'the policy has too many rules to compare all of them with each other, so warnings about some may be missing';

/** Warnings about rules that deny or ask in vain: in the notation of another system, always failing, or too costly. */
export function lintProtection(policy: Policy, of: 'ceiling' | 'agent' | 'run'): PolicyWarning[] {
  const rules = rulesOf(policy, of);
  return [
    ...rules.filter(({ rule }) => rule.action !== 'allow').flatMap(mistakes),
    ...budgetWarnings(policy.rules, policy.assess ?? [], new Comparisons()),
  ];
}

function rulesOf(policy: Policy, of: 'ceiling' | 'agent' | 'run'): Listed[] {
  const compiled = compileFor(policy, of).rules;
  return policy.rules.map((rule, index) => ({ rule, index, compiled: compiled[index]! }));
}

function mistakes({ rule, index, compiled: { id } }: Listed): PolicyWarning[] {
  const found = [...patternWarnings(rule), ...(rule.when === undefined ? [] : conditionWarnings(rule.when))];
  return found.map((problem) => ({ index, rule: id, message: `rule ${id} ${problem}` }));
}

/** Says, as a clause, when `on_timeout: allow` lets a call run: the conditions that `askTermsOf` checks. */
function onTimeoutAllowClause(of: 'ceiling' | 'agent' | 'run'): string {
  const others =
    of === 'ceiling' ? 'each other policy of the run says so' : 'the ceiling and each other policy of the run say so';
  return `lets an unanswered call run, if its severity is safe or low and its risk is read_only or write, and if ${others}: else it is denied`;
}

/** What a pair of rules costs in `Comparisons`: a few tests, as most pairs are about tools with different names. */
const costOfPair = 4;

interface Listed {
  rule: Rule;
  index: number;
  compiled: CompiledRule;
}

/** The first later rule that matches every call of this rule; undefined if there is none, or too much to compare. */
function overriding(rules: readonly Listed[], index: number, comparisons: Comparisons): Listed | undefined {
  const { rule, compiled } = rules[index]!;
  for (let at = index + 1; at < rules.length; at += 1) {
    const later = rules[at]!;
    if (!comparisons.afford(costOfPair)) return undefined;
    if (covers(later.rule, later.compiled, rule, compiled)) return later;
  }
  return undefined;
}

/** The id of an earlier allow rule that covers this allow rule, with only allow rules between; undefined if none. */
function allowedBefore(rules: readonly Listed[], index: number, comparisons: Comparisons): string | undefined {
  const { rule, compiled } = rules[index]!;
  for (let at = index; at >= 0 && rules[at]!.rule.action === 'allow'; at -= 1) {
    const earlier = rules[at]!;
    if (!comparisons.afford(costOfPair)) return undefined;
    if (at < index && covers(earlier.rule, earlier.compiled, rule, compiled)) return earlier.compiled.id;
  }
  return undefined;
}

/** The id of an earlier deny rule that matches some calls of this allow rule, while neither rule covers the other. */
function deniedInPart(rules: readonly Listed[], index: number, comparisons: Comparisons): string | undefined {
  const { rule, compiled } = rules[index]!;
  const ownArgs = compiled.pattern.args;
  if (rule.action !== 'allow' || ownArgs === undefined) return undefined;
  for (let place = 0; place < index; place += 1) {
    const { rule: earlier, compiled: earlierCompiled } = rules[place]!;
    const { pattern } = earlierCompiled;
    if (!comparisons.afford(costOfPair)) return undefined;
    if (earlier.action !== 'deny' || 'problem' in pattern || pattern.args === undefined) continue;
    const agents = [rule.agent, earlier.agent].filter((agent) => agent !== undefined);
    if (new Set(agents).size > 1 || !('name' in compiled.pattern)) continue;
    if (globCovers(pattern.args, ownArgs) || globCovers(ownArgs, pattern.args)) continue;
    if (comparisons.overlap(pattern.name, compiled.pattern.name) && comparisons.overlap(pattern.args, ownArgs))
      return earlierCompiled.id;
  }
  return undefined;
}

/** Warnings about comparisons that a value of another type evades: CEL calls it unequal, and reports no error. */
function evadedComparisons({ when, action }: Rule): string[] {
  return (when === undefined ? [] : equalitiesOf(when)).flatMap(({ operator, differ, argument }) => {
    if (differ !== undefined) {
      return [`compares a ${differ[0]} and a ${differ[1]} with ${operator}, and they are never equal`];
    }
    if (argument === undefined) return [];
    const { name, kind } = argument;
    if (action === 'allow' && operator === '!=') {
      return [`allows a '${name}' that is no ${kind}, because it is unequal: ${typeTest(name, kind)} too`];
    }
    if (action === 'allow' || operator === '!=' || kind === 'text') return [];
    return [
      `passes over a '${name}' that is no ${kind}, such as a text, because it is unequal: match it with args too`,
    ];
  });
}

function typeTest(name: string, kind: string): string {
  return kind === 'text' ? `test args.${name}.matches(…)` : `match it with args`;
}

/** The warning about a rule that a later one, `over`, always overrides. */
function shadowed(rule: CompiledRule, over: CompiledRule): string {
  if (over.action === 'deny' && rule.ask?.always !== undefined && rule.ask.always !== false) {
    return `rule ${rule.id} offers grants for calls that rule ${over.id} denies: a grant never touches a deny`;
  }
  if (over.action === rule.action)
    return `rule ${rule.id} is not needed: rule ${over.id} matches all it matches, and comes later`;
  return `rule ${rule.id} can never decide: rule ${over.id} matches all it matches, and comes later`;
}

/** True if `wide` certainly matches every call that `narrow` matches; false if that is unknown. */
function covers(wide: Rule, wideCompiled: CompiledRule, narrow: Rule, narrowCompiled: CompiledRule): boolean {
  const { pattern: widePattern } = wideCompiled;
  const { pattern: narrowPattern } = narrowCompiled;
  if ('problem' in widePattern || 'problem' in narrowPattern) return false;
  // For a list, an allow rule must match every element, and any other rule at least one.
  const readsValues = widePattern.args !== undefined || Object.keys(wide.args ?? {}).length > 0;
  if (readsValues && wide.action === 'allow' && narrow.action !== 'allow') return false;
  if (wide.agent !== undefined && wide.agent !== narrow.agent) return false;
  if (wide.when !== undefined && wide.when !== narrow.when) return false;
  const fields = Object.entries(wide.args ?? {});
  if (fields.some(([name, glob]) => !Object.hasOwn(narrow.args ?? {}, name) || narrow.args![name] !== glob))
    return false;
  if (!globCovers(widePattern.name, narrowPattern.name)) return false;
  if (widePattern.args === undefined) return true;
  return narrowPattern.args !== undefined && globCovers(widePattern.args, narrowPattern.args);
}

/** Warnings about reviewers: people and groups that the directory lacks, and unusable keys. */
function lintPeople(policy: Policy, ruleIdAt: (index: number) => string, isCeiling: boolean): PolicyWarning[] {
  const { directory, reviewerKeys = {}, revoked = { people: [] } } = policy;
  const people = Object.entries(directory?.people ?? {});
  const unknownReviewers = policy.rules.flatMap(({ ask }, index): PolicyWarning[] => {
    if (ask === undefined) return [];
    const { reviewers = [], oneOfEach = [], escalate = [] } = ask;
    const names = new Set([...reviewers, ...oneOfEach, ...escalate.flatMap(({ to }) => to)]);
    const rule = ruleIdAt(index);
    return [...names].flatMap((name) => {
      const unknown = whyUnknown(name, directory, isCeiling);
      return unknown === undefined ? [] : [{ index, rule, message: `rule ${rule} ${unknown}` }];
    });
  });
  const keyEntries = Object.entries(reviewerKeys);
  const keyOf = personKeyIn(directory);
  const isUnknown = (id: string) => directory !== undefined && personOf(directory, id, keyOf) === undefined;
  const keysOfPeople = new Set(people.flatMap(([, { keys }]) => keys));
  const unusedKeys = keyEntries.filter(
    ([id, { operator, signsFor }]) => !operator && signsFor === undefined && !keysOfPeople.has(id),
  );
  const unknownSignedFor = keyEntries.flatMap(([id, { signsFor = [] }]) =>
    signsFor.flatMap((name) => {
      const unknown = name === '*' ? undefined : whyUnknown(name, directory, isCeiling, 'signs for');
      return unknown === undefined ? [] : [{ message: `key '${id}' ${unknown}` }];
    }),
  );
  return [
    ...unknownReviewers,
    ...unknownSignedFor,
    ...revoked.people.filter(isUnknown).map((id) => ({
      message: `revoked: the directory does not know '${id}', so other ids of that person still count`,
    })),
    ...lookAlikeWarnings(people.map(([name]) => name)),
    ...unusedKeys.map(([id]) => ({ message: `key '${id}' belongs to no person in the directory: it signs nothing` })),
    ...people
      .filter(([, { keys }]) => !isCeiling && keys.length > 0)
      .map(([name]) => ({ message: `the keys of '${name}' do not count: only those in the ceiling's directory do` })),
  ];
}

/** Says, as a clause, why a name is unknown; undefined if it is known or, without a directory here, may be. */
function whyUnknown(name: string, directory: Directory | undefined, isCeiling: boolean, verb = 'asks') {
  const isGroup = groupOf(name) !== undefined;
  if (directory === undefined) {
    return isCeiling && isGroup ? `${verb} '${name}', and the policy has no directory` : undefined;
  }
  if (isGroup) {
    const isEmpty = membersOfOne(directory, name).length === 0;
    return isEmpty ? `${verb} '${name}', and that group is empty in the directory` : undefined;
  }
  const isKnown = personOf(directory, name) !== undefined;
  return isKnown ? undefined : `${verb} '${name}', and the directory does not have that person`;
}

/** The warnings about people of a directory whose names look alike. */
function lookAlikeWarnings(names: readonly string[]): PolicyWarning[] {
  const seen = new Map<string, string>();
  return names.flatMap((name): PolicyWarning[] => {
    const look = looksLike(name);
    const other = seen.get(look);
    if (other === undefined) {
      seen.set(look, name);
      return [];
    }
    return [{ message: `'${visibleText(name)}' looks like '${visibleText(other)}', and the directory has both` }];
  });
}

function escalatesFast({ ask }: Rule): boolean {
  const timesMs = new Set((ask?.escalate ?? []).map(({ afterMs }) => afterMs));
  const inOrderMs = [0, ...timesMs].toSorted((one, other) => one - other);
  return inOrderMs.some((timeMs, index) => index > 0 && timeMs - inOrderMs[index - 1]! < defaultMinRemindMs);
}
