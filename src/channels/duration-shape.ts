import { z } from 'zod';
import { durationSentence, parseDuration } from '../core/base/duration.ts';

/** A duration of a channel file, such as `30s`, as milliseconds. `longest` is a duration, too. `never` is not valid. */
export function durationShape(longest: string): z.ZodType<number, string> {
  const sentence = durationSentence.replace(', or never', '');
  return shapeOf((durationMs) =>
    durationMs === undefined ? sentence : durationMs > msOf(longest)! ? `must be at most ${longest}` : undefined,
  );
}

/** A duration with a least and a greatest value, as milliseconds. All three arguments are durations. */
export function durationBetween(least: string, most: string, example: string): z.ZodType<number, string> {
  const sentence = `must be a duration from ${least} to ${most}, such as ${example}`;
  return shapeOf((durationMs = 0) => (durationMs < msOf(least)! || durationMs > msOf(most)! ? sentence : undefined));
}

function shapeOf(problemOf: (durationMs: number | undefined) => string | undefined): z.ZodType<number, string> {
  return z.string().transform((text, context) => {
    const durationMs = msOf(text);
    const problem = problemOf(durationMs);
    if (problem === undefined) return durationMs!;
    context.addIssue(problem);
    return z.NEVER;
  });
}

function msOf(text: string): number | undefined {
  const parsed = parseDuration(text);
  return 'durationMs' in parsed ? (parsed.durationMs ?? undefined) : undefined;
}
