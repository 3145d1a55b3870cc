import { z } from 'zod';
import { compilePattern } from './matching.ts';
import { durationSentence, parseDuration } from './parse-duration.ts';
import { actions, maxPendingBound } from './policy.ts';
import { isWellFormed } from './well-formed.ts';

/**
 * The form of a policy file. Messages continue the name of the key: `'max_pending' must be …`.
 * `policyShape` is strict: a key that is not here is a problem.
 */
const text = (longest: number) =>
  z
    .string()
    .min(1, 'must not be empty')
    .max(longest, `must have at most ${longest} characters`)
    .refine(isWellFormed, 'holds half a surrogate pair');

const pattern = z.string().superRefine((value, context) => {
  const compiled = compilePattern(value);
  if ('problem' in compiled) context.addIssue({ code: 'custom', message: compiled.problem });
});

const duration = z.string(durationSentence).superRefine((value, context) => {
  const parsed = parseDuration(value);
  if ('problem' in parsed) context.addIssue({ code: 'custom', message: parsed.problem });
});

const action = z.enum(actions);

const rule = z.strictObject({
  // What is reported for a rule without an id must not be claimed by one that has one.
  id: text(100)
    .refine(
      (id) => !/^(ceiling|agent|run)(\..*)?#\d+$/su.test(id),
      'must not look like LAYER#N, the id of rules without one',
    )
    .optional(),
  pattern,
  action,
  reason: text(1_000).optional(),
});

const pendingSentence = `must be a whole number from 1 to ${maxPendingBound}: the ids of all open requests fit one search attribute`;

export const policyShape = z.strictObject({
  version: z.literal(1).optional(),
  rules: z.array(rule).optional(),
  risk_defaults: z
    .strictObject({ read_only: action.optional(), write: action.optional(), destructive: action.optional() })
    .optional(),
  approval: z
    .strictObject({
      timeout: duration.optional(),
      max_timeout: duration.optional(),
      max_pending: z.int(pendingSentence).min(1, pendingSentence).max(maxPendingBound, pendingSentence).optional(),
    })
    .optional(),
});

export type PolicyDocument = z.infer<typeof policyShape>;

/** Keys of the language that this version does not serve, by the key of the map they stand in (`''` for the top). */
export const notYetSupported: Record<string, readonly string[]> = {
  '': ['mode', 'agents', 'assess', 'redact', 'directory', 'channels', 'advisor', 'limits', 'mcp', 'reviewer_keys'],
  rules: ['when', 'args', 'ask', 'examples'],
  approval: [
    'on_timeout',
    'max_retries_after_deny',
    'include_arguments',
    'redact',
    'batch',
    'denied_as',
    'max_irreversible_per_run',
  ],
};
