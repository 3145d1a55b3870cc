import { z } from 'zod';
import { parseDuration } from '../core/base/duration.ts';
import { finite, text } from './shape-values.ts';

/** `advisor` of a policy, or of a rule. */
export const advisor = z
  .strictObject({
    name: text(64).describe('As the worker names it in `advisors`.'),
    may_approve: z
      .boolean()
      .optional()
      .describe('Whether it may approve calls, but never one that destroys or cannot be undone. Default false.'),
    timeout: finite
      .refine(isBounded, 'must be from 1s to 10m: the call waits for the answer')
      .optional()
      .describe('How long its answer may take. Default 30s.'),
  })
  .describe('Consulted before reviewers are asked.');

/** What is no duration has a problem of its own. */
function isBounded(value: string): boolean {
  const parsed = parseDuration(value);
  if (!('durationMs' in parsed) || parsed.durationMs === null) return true;
  return parsed.durationMs >= 1_000 && parsed.durationMs <= 600_000;
}
