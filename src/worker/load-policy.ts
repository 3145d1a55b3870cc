import { existsSync, readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { decodeUtf8 } from '../policy-file/utf8.ts';
import { formatProblems, parsePolicy } from '../policy-file/parse-policy.ts';
import type { ParsePolicyOptions } from '../policy-file/parse-policy.ts';
import type { Policy } from '../core/policy/policy.ts';
import type { RuleLines } from '../core/policy/rule-place.ts';
import { ProblemError } from '../core/base/problem.ts';

/**
 * Reads a policy from where it was given: a document, its text, or, as a one-line string that ends in `.yaml`, `.yml` or
 * `.json`, a path, for which it also returns the lines of the rules. Throws `policy_invalid` with every problem and its
 * place.
 */
export function loadPolicy(
  source: string | object,
  what: string,
  options: Omit<ParsePolicyOptions, 'file'>,
): { policy: Policy; ruleLines?: RuleLines } {
  const isPath = typeof source === 'string' && /^[^\n]+\.(ya?ml|json)$/.test(source);
  if (isPath && !existsSync(source)) {
    throw new ProblemError({ code: 'policy_invalid', message: `${what}: no file ${resolve(source)}` });
  }
  const file = isPath ? source : what;
  const decoded = isPath ? decodeUtf8(readFileSync(source)) : { text: source };
  const parsed =
    'text' in decoded
      ? parsePolicy(decoded.text, { ...options, file })
      : { problems: [{ ...decoded, file, path: '' }] };
  if ('policy' in parsed) {
    const { policy, lines } = parsed;
    return isPath && lines !== undefined ? { policy, ruleLines: { file: basename(source), lines } } : { policy };
  }
  throw new ProblemError({ code: 'policy_invalid', message: formatProblems(file, parsed.problems) });
}
