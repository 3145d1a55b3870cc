import { isTooDeep } from './canonical-json.ts';
import { formatDuration } from './duration.ts';
import { explainShape, type ShapeProblem } from './explain-shape.ts';
import { parseDuration } from './parse-duration.ts';
import { policyShape, type PolicyDocument } from './policy-shape.ts';
import { maxDocumentDepth, readPolicyText, type PolicyText } from './policy-text.ts';
import { defaultMaxTimeoutMs, type Policy } from './policy.ts';

/** What is wrong with a policy, and where. */
export interface PolicyProblem {
  /** As given in the options. */
  file?: string;
  /** Line and column from 1; absent for a policy that was given as an object. */
  line?: number;
  column?: number;
  /** Names the key and what it must be. */
  message: string;
  /** Such as `rules[0].pattern`; empty for the whole. */
  path: string;
}

export interface ParsePolicyOptions {
  /** Repeated in each problem. */
  file?: string;
  /** True for the operator's policy, the only one in which `max_timeout` is allowed. Default false. */
  ceiling?: boolean;
  /**
   * For the policy of an agent or a run: the ceiling's `maxTimeoutMs`. A time-out over it, or over 24 hours where it
   * is shorter, is refused; when a run asks, the smaller of what the layers say applies. Default 24 hours.
   */
  maxTimeoutMs?: number | null;
}

/** More than anybody reads; a hostile document could have a million. */
const mostProblems = 100;

/**
 * Reads a policy: the text of a policy file (YAML 1.2 or JSON), or the document as an object. Strict: an unknown key
 * is a problem, and so is a key of the language that this version does not serve. Total: never throws.
 */
export function parsePolicy(
  source: string | object,
  options: ParsePolicyOptions = {},
): { policy: Policy } | { problems: PolicyProblem[] } {
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
  const found = shaped.success
    ? [...repeatedIds(shaped.data), ...timeoutProblems(shaped.data, options)]
    : shaped.error.issues.flatMap((issue) => explainShape(issue, document));
  if (shaped.success && found.length === 0) return { policy: normalForm(shaped.data) };
  const problems = found.slice(0, mostProblems).map((problem) => ({ ...file, ...placed(problem, text) }));
  return {
    problems: problems.toSorted((one, other) => order(one.line, other.line) || order(one.column, other.column)),
  };
}

/** One line a problem: `FILE:LINE:COL message`, or `FILE: message (at PATH)` where there was no text. */
export function formatProblems(file: string, problems: readonly PolicyProblem[]): string {
  return problems
    .map(({ line, column, message, path }) => {
      if (line !== undefined) return `${file}:${line}:${column} ${message}`;
      return `${file}: ${message}${path === '' ? '' : ` (at ${path})`}`;
    })
    .join('\n');
}

function repeatedIds({ rules = [] }: PolicyDocument): ShapeProblem[] {
  const first = new Map<string, number>();
  return rules.flatMap(({ id }, index) => {
    if (id === undefined || !first.has(id)) {
      if (id !== undefined) first.set(id, index);
      return [];
    }
    return [{ path: ['rules', index, 'id'], message: `'id' ${id} is taken by rule ${first.get(id)! + 1}` }];
  });
}

function timeoutProblems(
  { approval = {} }: PolicyDocument,
  { ceiling = false, maxTimeoutMs }: ParsePolicyOptions,
): ShapeProblem[] {
  const { timeout, max_timeout: written } = approval;
  if (written !== undefined && !ceiling) {
    const message = `'max_timeout' belongs in the ceiling, the policy given to createWorker`;
    return [{ path: ['approval', 'max_timeout'], message, part: 'key' }];
  }
  const raisedMs =
    maxTimeoutMs === undefined ? defaultMaxTimeoutMs : Math.max(maxTimeoutMs ?? Infinity, defaultMaxTimeoutMs);
  const longestMs = written === undefined ? raisedMs : (milliseconds(written) ?? Infinity);
  if (timeout === undefined || (milliseconds(timeout) ?? Infinity) <= longestMs) return [];
  const remedy =
    timeout === 'never'
      ? `only a ceiling with 'max_timeout: never' permits it`
      : `only a ceiling's 'max_timeout' permits more`;
  return [
    { path: ['approval', 'timeout'], message: `'timeout' ${timeout} is over ${formatDuration(longestMs)}; ${remedy}` },
  ];
}

function normalForm({ rules = [], risk_defaults: riskDefaults = {}, approval = {} }: PolicyDocument): Policy {
  const { timeout, max_timeout: maxTimeout, max_pending: maxPending } = approval;
  return {
    version: 1,
    rules,
    riskDefaults,
    approval: {
      ...(timeout !== undefined && { timeoutMs: milliseconds(timeout) }),
      ...(maxTimeout !== undefined && { maxTimeoutMs: milliseconds(maxTimeout) }),
      ...(maxPending !== undefined && { maxPending }),
    },
  };
}

/** Of a duration that the shape has checked. */
function milliseconds(duration: string): number | null {
  const parsed = parseDuration(duration);
  return 'durationMs' in parsed ? parsed.durationMs : 0;
}

function placed({ path, message, part }: ShapeProblem, text: PolicyText | undefined): PolicyProblem {
  const place = text?.placeOf(path, part) ?? {};
  const written = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('');
  return { ...place, message, path: written.replace(/^\./, '') };
}

function order(one = 0, other = 0): number {
  return one - other;
}
