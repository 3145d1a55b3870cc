/** Tokens of all model calls, as the models report them; 0 for models that report none. */
export interface Usage {
  inputTokens: number;
  outputTokens: number;
}

export interface ModelUsage extends Usage {
  /** The part of `inputTokens` from the provider's cache. Absent: none, or not reported. */
  cachedInputTokens?: number;
}

/** The sum, at most the largest safe integer. A malformed count, which a nested run's worker may send, counts as 0. */
export function totalUsage(...all: readonly (Usage | undefined)[]): Usage {
  const sum = (name: keyof Usage): number => {
    const counts = all.map((usage) => (Number.isSafeInteger(usage?.[name]) ? Math.max(0, usage![name]) : 0));
    return counts.reduce((total, count) => Math.min(total + count, Number.MAX_SAFE_INTEGER), 0);
  };
  return { inputTokens: sum('inputTokens'), outputTokens: sum('outputTokens') };
}

/** Why an answer of a model may not be whole. */
export type Unfinished = 'length' | 'content-filter' | 'other';

const reasons: Record<Unfinished, string> = {
  length: 'it reached its maximum length',
  'content-filter': "the provider's filter ended it",
  other: 'the provider does not say why it ended',
};

/** Why an answer is not whole, from the AI SDK's `finishReason`; undefined if it is whole. */
export function unfinishedOf(finishReason: string): Unfinished | undefined {
  if (finishReason === 'stop' || finishReason === 'tool-calls') return undefined;
  return isUnfinished(finishReason) ? finishReason : 'other';
}

export function isUnfinished(value: unknown): value is Unfinished {
  return typeof value === 'string' && Object.hasOwn(reasons, value);
}

/** A sentence about an unfinished answer, without its full stop, for people and models. */
export function unfinishedText(why: Unfinished): string {
  return `the answer is not whole: ${reasons[why]}`;
}
