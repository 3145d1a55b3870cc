/** Tokens of all model calls, as the models report them; 0 for models that report none. */
export interface Usage {
  inputTokens: number;
  outputTokens: number;
}

/** Of one model call. */
export interface ModelUsage extends Usage {
  /** Those of `inputTokens` that the provider read from its cache. Absent: none, or it does not say. */
  cachedInputTokens?: number;
}

/**
 * The sum, at most the largest safe integer. What a nested run says of itself comes from another worker: what is no number
 * counts as none.
 */
export function totalUsage(...all: readonly (Usage | undefined)[]): Usage {
  const sum = (name: keyof Usage): number => {
    const counts = all.map((usage) => (Number.isSafeInteger(usage?.[name]) ? Math.max(0, usage![name]) : 0));
    return counts.reduce((total, count) => Math.min(total + count, Number.MAX_SAFE_INTEGER), 0);
  };
  return { inputTokens: sum('inputTokens'), outputTokens: sum('outputTokens') };
}
