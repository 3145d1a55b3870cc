import { z } from 'zod';
import { durationSentence, parseDuration } from '../core/base/parse-duration.ts';

/** A duration of a channel file, such as `30s`, as milliseconds. `longest` is one too; `never` is none. */
export function durationShape(longest: string): z.ZodType<number, string> {
  const longestMs = msOf(longest) ?? Infinity;
  return z.string().transform((text, context) => {
    const durationMs = msOf(text);
    if (durationMs !== undefined && durationMs <= longestMs) return durationMs;
    const sentence = durationSentence.replace(', or never', '');
    context.addIssue(durationMs === undefined ? sentence : `must be at most ${longest}`);
    return z.NEVER;
  });
}

function msOf(text: string): number | undefined {
  const parsed = parseDuration(text);
  return 'durationMs' in parsed ? (parsed.durationMs ?? undefined) : undefined;
}
