/** The values from which the form of a policy file is made. Their messages continue the name of the key. */
import { instantMs } from '../core/messages/control.ts';
import { z } from 'zod';
import { durationSentence, parseDuration } from '../core/base/duration.ts';
import { isWellFormed } from '../core/base/text.ts';

export const text = (longest: number) =>
  z
    .string()
    .min(1, 'must not be empty')
    .max(longest, `must have at most ${longest} characters`)
    .refine(isWellFormed, 'holds half a surrogate pair');

export const checked = (check: (value: string) => object) =>
  z.string().superRefine((value, context) => {
    const found = check(value) as { problem?: string };
    if (found.problem !== undefined) context.addIssue({ code: 'custom', message: found.problem });
  });

export const duration = z.string(durationSentence).superRefine((value, context) => {
  const parsed = parseDuration(value);
  if ('problem' in parsed) context.addIssue({ code: 'custom', message: parsed.problem });
});
const finiteSentence = 'must be a whole number and a unit, such as 30s, 5m, 1h or 1d';
export const finite = duration.refine((value) => value !== 'never', finiteSentence);
export const interval = finite.refine(
  (value) => !value.endsWith('ms'),
  'must be 1s or more: each reminder is an activity',
);
export const count = (least: number, most: number, why = '') => {
  const sentence = `must be a whole number from ${least} to ${most}${why}`;
  return z.int(sentence).min(least, sentence).max(most, sentence);
};

const dayPattern = /^\d{4}-\d{2}-\d{2}$/;

/** When a day in UTC begins, or an instant with its offset is; undefined for other texts. */
export function startMs(text: string): number | undefined {
  return instantMs(dayPattern.test(text) ? `${text}T00:00:00Z` : text);
}
