/** Why an answer of a model may not be whole. */
export type Unfinished = 'length' | 'content-filter' | 'other';

const whys: Record<Unfinished, string> = {
  length: 'it reached its maximum length',
  'content-filter': "the provider's filter ended it",
  other: 'the provider does not say why it ended',
};

/** `finishReason`: as the AI SDK unifies what providers say. Undefined: the answer is whole. */
export function unfinishedOf(finishReason: string): Unfinished | undefined {
  if (finishReason === 'stop' || finishReason === 'tool-calls') return undefined;
  return isUnfinished(finishReason) ? finishReason : 'other';
}

export function isUnfinished(value: unknown): value is Unfinished {
  return typeof value === 'string' && Object.hasOwn(whys, value);
}

/** A sentence without its full stop, for people and models. */
export function unfinishedText(why: Unfinished): string {
  return `the answer is not whole: ${whys[why]}`;
}
