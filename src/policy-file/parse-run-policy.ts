import { isTooDeep } from '../core/base/canonical-json.ts';
import { isObject } from '../core/base/json.ts';
import { expressionSize } from '../core/match/expression-size.ts';
import { type ParsedPolicy, type ParsePolicyOptions, type PolicyProblem, parsePolicy } from './parse-policy.ts';
import { maxDocumentDepth } from './text.ts';
import { sensitiveKinds } from '../core/redact/kinds.ts';
import type { Policy, Rule } from '../core/policy/policy.ts';
import type { CeilingRedaction } from '../core/policy/redaction-settings.ts';
import { conditionReads } from './condition-constants.ts';
import { mayRun, type Mode } from '../core/policy/modes.ts';

/** The most characters of a document, as JSON. */
const mostCharacters = 200_000;
/** The maximum number of rules and of globs on single arguments, together. */
const mostRules = 1_000;
/** The most steps of escalation: each notifies people, and all steps of one call may be due at the same time. */
const mostSteps = 100;
/** The maximum number of names of people and groups in all rules, together. */
const mostNames = 1_000;
/** The most characters plus compiled size of all conditions and patterns. To read so much takes a quarter of a second. */
const mostOfExpressions = 60_000;

/**
 * Reads a policy that was sent to a gateway or a run. First checks what reading costs, because the process also serves
 * others. Of `examples`, only the shape is checked.
 */
export function parseRunPolicy(
  document: object,
  options: ParsePolicyOptions = {},
): ParsedPolicy | { problems: PolicyProblem[] } {
  const problem = isTooDeep(document, maxDocumentDepth) ? undefined : costProblem(document);
  return problem === undefined ? parsePolicy(document, { ...options, triesExamples: false }) : { problems: [problem] };
}

/** The first limit that the policy of a run exceeds; undefined if it exceeds none. */
function costProblem(document: object): PolicyProblem | undefined {
  const { length } = JSON.stringify(document);
  if (length > mostCharacters)
    return tooMuch('', `it has ${length} characters of JSON, and may have ${mostCharacters}`);
  const { rules, assess, agents, redact } = document as Record<string, unknown>;
  const blocks = objectsIn(Object.values(isObject(agents) ? agents : {}));
  const all = [rules, assess, ...blocks.map((block) => block['rules'])].flatMap(listOf);
  let rulesAndGlobs = 0;
  let steps = 0;
  let names = 0;
  let sizeOfExpressions = 0;
  for (const { pattern } of objectsIn(isObject(redact) ? redact['patterns'] : undefined)) {
    if (typeof pattern === 'string') sizeOfExpressions += pattern.length + expressionSize(pattern);
  }
  for (const rule of all) {
    const { when, args, ask } = isObject(rule) ? rule : {};
    const { escalate, reviewers, one_of_each: oneOfEach } = isObject(ask) ? ask : {};
    steps += listOf(escalate).length;
    const people = [reviewers, oneOfEach, ...objectsIn(escalate).map(({ to }) => to)];
    names += people.flatMap(listOf).length;
    rulesAndGlobs += 1 + (isObject(args) ? Object.keys(args).length : 0);
    if (typeof when === 'string') sizeOfExpressions += when.length + expressionSize(when);
  }
  if (rulesAndGlobs > mostRules) {
    return tooMuch('rules', `it has ${rulesAndGlobs} rules and globs on arguments, and may have ${mostRules}`);
  }
  if (steps > mostSteps) return tooMuch('rules', `it has ${steps} steps of escalation, and may have ${mostSteps}`);
  if (names > mostNames)
    return tooMuch('rules', `its rules name ${names} people and groups, and may name ${mostNames}`);
  if (sizeOfExpressions > mostOfExpressions) {
    return tooMuch('rules', 'its conditions and patterns are too long, or repeat too much');
  }
  return undefined;
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function objectsIn(value: unknown): Record<string, unknown>[] {
  return listOf(value).filter(isObject);
}

function tooMuch(path: string, what: string): PolicyProblem {
  return { path, message: `the policy of a run is too large: ${what}; larger ones belong in the policy of the agent` };
}

/**
 * The first setting that hides arguments from the reviewers of the ceiling, as a sentence with its place. Only the
 * ceiling and the agent's policy may hide them: a run could otherwise make reviewers decide without seeing arguments.
 */
export function hidingProblem(
  { approval, redact }: Policy,
  ceiling: CeilingRedaction = {},
): { path: string; message: string } | undefined {
  const { redact: isRedacted = true, kinds = sensitiveKinds } = ceiling;
  const settings = [
    {
      path: 'approval.include_arguments',
      setting: 'include_arguments: false',
      hides: approval.includeArguments === false,
    },
    { path: 'approval.redact', setting: 'redact: true', hides: approval.redact === true && !isRedacted },
    { path: 'redact.also', setting: 'also', hides: (redact?.also ?? []).length > 0 },
    { path: 'redact.patterns', setting: 'patterns', hides: (redact?.patterns ?? []).length > 0 },
    { path: 'redact.kinds', setting: 'kinds', hides: (redact?.kinds ?? []).some((kind) => !kinds.includes(kind)) },
  ];
  const found = settings.find(({ hides }) => hides);
  if (found === undefined) return undefined;
  const { path, setting } = found;
  const message = `'${setting}' hides arguments from the reviewers of the ceiling: it belongs in the ceiling or in the agent's policy`;
  return { path, message };
}

/** The inputs of conditions that a tool's worker cannot know, because only the run that sends the call has them. */
const unknownThere = ['metadata', 'counts', 'severity', 'sum'] as const;

/**
 * The ceiling as the second gate applies it, which cannot know whether a rule that reads data of the run matched. An
 * allow or ask of such a rule becomes an ask, because it may have lifted a deny. A deny goes, as its calls never
 * arrive.
 */
export function knownCeiling(ceiling: Policy): Policy {
  return { ...ceiling, rules: ceiling.rules.flatMap(knownRule) };
}

/** The condition variables that a worker does not know for a call that no run has admitted. */
const unknownOutside = [...unknownThere, 'agent', 'caller'] as const;

/**
 * The ceiling for a call that no run has admitted. A rule that is for one agent or reads unknown data is left out. But
 * if such a rule denies, it counts whenever its pattern matches.
 */
export function strictCeiling(ceiling: Policy): Policy {
  const rules = ceiling.rules.flatMap((each) => {
    const { when, agent, ...rule } = each;
    const isKnown = agent === undefined && (when === undefined || !conditionReads(when, unknownOutside));
    if (isKnown) return [each];
    return mayRun(rule.action) ? [] : [rule];
  });
  return { ...ceiling, rules };
}

function knownRule({ when, ...rule }: Rule): Rule[] {
  if (when === undefined) return [rule];
  if (!conditionReads(when, unknownThere)) return [{ ...rule, when }];
  return mayRun(rule.action) ? [{ ...rule, action: 'ask' }] : [];
}

/**
 * Returns the first part of a run's policy or mode that does more than deny, such as `policy.rules[0]`. It is for
 * senders who must not loosen a policy, as at the gateway: a run's policy overrides the agent's, which the sender may
 * not know, so only a denial is certainly not looser.
 */
export function beyondDenying({ policy, mode }: { policy?: Policy; mode?: Mode }): string | undefined {
  if (mode !== undefined) return 'mode';
  if (policy === undefined) return undefined;
  const { version: _, rules, riskDefaults, ...others } = policy;
  const rule = rules.find(({ action }) => mayRun(action));
  if (rule !== undefined) {
    // In the file, each agent has a list of its own.
    const list = rules.filter(({ agent }) => agent === rule.agent);
    const block = rule.agent === undefined ? 'rules' : `agents.${rule.agent}.rules`;
    return `policy.${block}[${list.indexOf(rule)}]`;
  }
  const risk = Object.entries(riskDefaults).find(([, action]) => mayRun(action));
  if (risk !== undefined) return `policy.risk_defaults.${risk[0]}`;
  // Empty maps and lists do nothing. A mode is a text, whose keys are the places of its letters, so it is not empty.
  const other = Object.entries(others).find(([, value]) => Object.keys(value ?? {}).length > 0);
  return other && `policy.${other[0] === 'reviewerKeys' ? 'reviewer_keys' : other[0]}`;
}
