import { isTooDeep } from '../core/base/canonical-json.ts';
import { isObject } from '../core/base/json.ts';
import { expressionSize } from '../core/match/expression-size.ts';
import { type ParsedPolicy, type ParsePolicyOptions, type PolicyProblem, parsePolicy } from './parse-policy.ts';
import { maxDocumentDepth } from './text.ts';

/** The longest document, as JSON. */
const mostCharacters = 200_000;
/** The maximum number of rules and of globs on single arguments, together. */
const mostRules = 1_000;
/** The maximum number of steps of escalation, together. Each notifies people, and those of one call may be due at once. */
const mostSteps = 100;
/** The maximum number of names of people and groups in all rules, together. */
const mostNames = 1_000;
/** The maximum sum over all conditions and patterns of redaction of their length and of the size of their regular expressions. Reading so much takes a quarter of a second. */
const mostOfExpressions = 60_000;

/**
 * Reads the policy that somebody sends to a gateway or gives a run. Like `parsePolicy`, but it first checks what reading
 * will cost: the process that reads it serves others. Examples are for files: here only their shape is checked.
 */
export function parseRunPolicy(
  document: object,
  options: ParsePolicyOptions = {},
): ParsedPolicy | { problems: PolicyProblem[] } {
  const problem = isTooDeep(document, maxDocumentDepth) ? undefined : costProblem(document);
  return problem === undefined ? parsePolicy(document, { ...options, triesExamples: false }) : { problems: [problem] };
}

function costProblem(document: object): PolicyProblem | undefined {
  const { length } = JSON.stringify(document);
  if (length > mostCharacters)
    return tooMuch('', `it has ${length} characters of JSON, and may have ${mostCharacters}`);
  const { rules, assess, agents, redact } = document as Record<string, unknown>;
  const blocks = isObject(agents) ? Object.values(agents) : [];
  const lists = [rules, assess, ...blocks.map((block) => (isObject(block) ? block['rules'] : undefined))];
  const all = lists.flatMap((list): unknown[] => (Array.isArray(list) ? list : []));
  let rulesAndGlobs = 0;
  let steps = 0;
  let names = 0;
  let sizeOfExpressions = 0;
  for (const { pattern } of objectsIn(isObject(redact) ? redact['patterns'] : undefined)) {
    if (typeof pattern === 'string') sizeOfExpressions += pattern.length + expressionSize(pattern);
  }
  for (const each of all) {
    const { when, args, ask } = isObject(each) ? each : {};
    const { escalate, reviewers, one_of_each: oneOfEach } = isObject(ask) ? ask : {};
    steps += lengthOf(escalate);
    const people = [reviewers, oneOfEach, ...objectsIn(escalate).map(({ to }) => to)];
    names += people.reduce((sum: number, list) => sum + lengthOf(list), 0);
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

function lengthOf(list: unknown): number {
  return Array.isArray(list) ? list.length : 0;
}

function objectsIn(list: unknown): Record<string, unknown>[] {
  return Array.isArray(list) ? list.filter(isObject) : [];
}

function tooMuch(path: string, what: string): PolicyProblem {
  return { path, message: `the policy of a run is too large: ${what}; larger ones belong in the policy of the agent` };
}
