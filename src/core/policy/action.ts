export const actions = ['allow', 'ask', 'deny'] as const;
/** A policy's answer to a call, from the most permissive to the least. */
export type Action = (typeof actions)[number];
