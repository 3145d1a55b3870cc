import { optionProblem } from '../text/check-call-options.ts';
import { isTooDeep } from '../core/base/canonical-json.ts';
import { formatDuration } from '../core/base/duration.ts';
import { belongsInCeiling, explainShape, type ShapeProblem, prototypeKeys } from './explain-shape.ts';
import { peopleProblems } from './people-problems.ts';
import { normalForm, placedRules, ruleOf } from './normal-form.ts';
import { durationMs, policyShape, type PolicyDocument } from './shape.ts';
import { maxDocumentDepth, readPolicyText, type PolicyText } from './text.ts';
import { defaultMaxTimeoutMs, type Policy } from '../core/policy/policy.ts';
import { compilePolicy, ruleMatches } from '../core/policy/compiled-policy.ts';
import { readyCall } from '../core/policy/ruling.ts';
import type { JsonObject } from '../core/base/tool-call.ts';

/** A problem in a policy, with its place. */
export interface PolicyProblem {
  /** The name of the file, as given in the options. */
  file?: string;
  /** Line and column from 1; absent for a policy given as an object. */
  line?: number;
  column?: number;
  /** One sentence that names the key and its expected value. */
  message: string;
  /** The place in the document, such as `rules[0].pattern`; empty for the whole policy. */
  path: string;
}

/** Options of `parsePolicy`. */
export interface ParsePolicyOptions {
  /** The name of the file, which is repeated in each problem. */
  file?: string;
  /** True for the operator's policy, which alone may hold `max_timeout`, `min_remind`, `prices` and the like. */
  ceiling?: boolean;
  /** The longest time-out of an agent's or a run's policy; null: no limit. At least 24 hours, which is the default. */
  maxTimeoutMs?: number | null;
  /** False: checks only the shape of rules' `examples`, without evaluating them. Default true. */
  triesExamples?: boolean;
}

/** A policy that `parsePolicy` found valid. */
export interface ParsedPolicy {
  policy: Policy;
  /** The line of each of `policy.rules`, from 1; absent for a policy given as an object. */
  lines?: number[];
}

/** The most problems that are returned: a hostile document could have a million. */
const mostProblems = 100;

/**
 * Reads a policy file (YAML 1.2 or JSON), or the document as an object. Strict: an unknown key or option is a problem.
 * Returns at most 100 problems. Never throws.
 *
 * @example
 * ```ts
 * import { parsePolicy } from 'countersign';
 *
 * const parsed = parsePolicy("rules: [{ pattern: 'search_*', action: allow }]");
 * if ('policy' in parsed) console.log(parsed.policy.rules); // [ { pattern: 'search_*', action: 'allow' } ]
 *
 * const refused = parsePolicy('rules: [{ pattern: a, action: alow }]');
 * const [problem] = 'problems' in refused ? refused.problems : [];
 * console.log(problem?.line, problem?.column, problem?.path); // 1 31 rules[0].action
 * console.log(problem?.message); // 'action' must be one of allow, ask, deny, not 'alow'
 * ```
 */
export function parsePolicy(
  source: string | object,
  options: ParsePolicyOptions = {},
): ParsedPolicy | { problems: PolicyProblem[] } {
  const misuse = optionProblem(options, { file: true, ceiling: true, maxTimeoutMs: true, triesExamples: true });
  if (misuse !== undefined) return { problems: [{ message: `parsePolicy: ${misuse}`, path: '' }] };
  const file = options.file === undefined ? {} : { file: options.file };
  const text = typeof source === 'string' ? readPolicyText(source) : undefined;
  if (text !== undefined && 'problems' in text) {
    return { problems: text.problems.map((problem) => ({ ...file, ...problem, path: '' })) };
  }
  const document: unknown = text === undefined ? source : text.value;
  if (isTooDeep(document, maxDocumentDepth)) {
    return { problems: [{ ...file, message: `a policy is at most ${maxDocumentDepth} levels deep`, path: '' }] };
  }
  const shaped = policyShape.safeParse(document);
  const badKeys = prototypeKeys(document);
  const others = shaped.success
    ? [
        ...repeatedIds(shaped.data),
        ...timeoutProblems(shaped.data, options),
        ...priceProblems(shaped.data, options),
        ...peopleProblems(shaped.data, options),
        ...(options.triesExamples === false ? [] : exampleProblems(shaped.data)),
      ]
    : shaped.error.issues.slice(0, mostProblems).flatMap((issue) => explainShape(issue, document));
  // Leave out problems below a key that is refused anyway.
  const found = [...badKeys, ...others.filter(({ path }) => !badKeys.some((bad) => isUnder(path, bad.path)))];
  if (shaped.success && found.length === 0) {
    const lines = text && placedRules(shaped.data).map(({ path }) => text.placeOf(path).line);
    return { policy: normalForm(shaped.data), lines };
  }
  const problems = found.slice(0, mostProblems).map((problem) => ({ ...file, ...placed(problem, text) }));
  return {
    problems: problems.toSorted((one, other) => order(one.line, other.line) || order(one.column, other.column)),
  };
}

/**
 * One line for each problem: `FILE:LINE:COL message`, or `FILE: message (at PATH)` for a policy given as an object.
 *
 * @example
 * ```ts
 * import { formatProblems, parsePolicy } from 'countersign';
 *
 * const text = parsePolicy('rules: 5');
 * if ('problems' in text) console.log(formatProblems('my.yaml', text.problems));
 * // my.yaml:1:8 'rules' must be a list, not 5
 *
 * const object = parsePolicy({ rules: 5 });
 * if ('problems' in object) console.log(formatProblems('mine', object.problems));
 * // mine: 'rules' must be a list, not 5 (at rules)
 * ```
 */
export function formatProblems(file: string, problems: readonly PolicyProblem[]): string {
  return problems
    .map(({ line, column, message, path }) => {
      if (line !== undefined) return `${file}:${line}:${column} ${message}`;
      return `${file}: ${message}${path === '' ? '' : ` (at ${path})`}`;
    })
    .join('\n');
}

function isUnder(path: readonly PropertyKey[], outer: readonly PropertyKey[]): boolean {
  return path.length >= outer.length && outer.every((key, index) => key === path[index]);
}

function repeatedIds(document: PolicyDocument): ShapeProblem[] {
  const pathById = new Map<string, readonly PropertyKey[]>();
  return placedRules(document).flatMap(({ rule: { id }, path }) => {
    const owner = id === undefined ? undefined : pathById.get(id);
    if (id !== undefined && owner === undefined) pathById.set(id, path);
    return owner === undefined ? [] : [{ path: [...path, 'id'], message: `'id' ${id} is taken by ${ruleName(owner)}` }];
  });
}

function ruleName(path: readonly PropertyKey[]): string {
  const number = Number(path.at(-1)) + 1;
  return path.length === 2 ? `rule ${number}` : `rule ${number} of agent ${String(path[1])}`;
}

const ceilingOnly = ['max_timeout', 'min_remind'] as const;

/** Refuses prices outside of a ceiling: a run with a cost limit must not set the prices by which its cost counts. */
function priceProblems({ prices }: PolicyDocument, { ceiling = false }: ParsePolicyOptions): ShapeProblem[] {
  return prices === undefined || ceiling ? [] : [belongsInCeiling(['prices'])];
}

/** The problems of members that only a ceiling may have; without any, those of time-outs longer than permitted. */
function timeoutProblems(
  document: PolicyDocument,
  { ceiling = false, maxTimeoutMs }: ParsePolicyOptions,
): ShapeProblem[] {
  const { timeout, max_timeout: maxTimeout } = document.approval ?? {};
  if (!ceiling) {
    const refused = ceilingOnly.filter((key) => document.approval?.[key] !== undefined);
    if (refused.length > 0) return refused.map((key) => belongsInCeiling(['approval', key]));
  }
  const raisedMs =
    maxTimeoutMs === undefined ? defaultMaxTimeoutMs : Math.max(maxTimeoutMs ?? Infinity, defaultMaxTimeoutMs);
  const longestMs = maxTimeout === undefined ? raisedMs : (durationMs(maxTimeout) ?? Infinity);
  return [
    { timeout, path: ['approval', 'timeout'] },
    ...placedRules(document).map(({ rule, path }) => ({
      timeout: rule.ask?.timeout,
      path: [...path, 'ask', 'timeout'],
    })),
  ].flatMap(({ timeout, path }): ShapeProblem[] => {
    if (timeout === undefined || (durationMs(timeout) ?? Infinity) <= longestMs) return [];
    const remedy =
      timeout === 'never'
        ? `only a ceiling with 'max_timeout: never' permits it`
        : `only a ceiling's 'max_timeout' permits more`;
    return [{ path, message: `'timeout' ${timeout} is over ${formatDuration(longestMs)}; ${remedy}` }];
  });
}

function placed({ path, message, part }: ShapeProblem, text: PolicyText | undefined): PolicyProblem {
  const place = text?.placeOf(path, part) ?? {};
  const written = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('');
  return { ...place, message, path: written.replace(/^\./, '') };
}

function order(one = 0, other = 0): number {
  return one - other;
}

function exampleFault(matched: boolean | { problem: string }): string {
  if (typeof matched === 'object') return `cannot be evaluated: ${matched.problem}`;
  return matched ? 'matches the rule but must not' : 'does not match the rule';
}

/** Tries each of the rules' `examples` as a call of a `write` tool that the rule names, with all counts at 0. */
function exampleProblems(document: PolicyDocument): ShapeProblem[] {
  return placedRules(document).flatMap(({ rule, agent, path }) => {
    const { match = [], not_match: notMatch = [] } = rule.examples ?? {};
    if (match.length + notMatch.length === 0) return [];
    const [compiled] = compilePolicy(
      { version: 1, rules: [ruleOf(rule, agent)], riskDefaults: {}, approval: {} },
      'run',
    ).rules;
    const tool = rule.pattern.split(':', 1)[0]!;
    const check = (example: string | JsonObject, key: string, index: number, expected: boolean): ShapeProblem[] => {
      const call =
        typeof example === 'string'
          ? { tool, args: { subject: example }, risk: 'write' as const, subject: 'subject' }
          : { tool, args: example, risk: 'write' as const };
      const { subjects, facts } = readyCall(call, { agent: agent ?? '' });
      // `named: true`: the example has no tool name of its own, so the rule's name matches.
      const matched = ruleMatches({ rule: compiled!, named: true }, subjects, facts);
      if (matched === expected) return [];
      return [{ path: [...path, 'examples', key, index], message: `this example ${exampleFault(matched)}` }];
    };
    return [
      ...match.flatMap((example, index) => check(example as JsonObject, 'match', index, true)),
      ...notMatch.flatMap((example, index) => check(example as JsonObject, 'not_match', index, false)),
    ];
  });
}
