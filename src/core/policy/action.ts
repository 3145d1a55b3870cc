export const actions = ['allow', 'ask', 'deny'] as const;
/** A policy's answer to a call, from the most permissive to the least. */
export type Action = (typeof actions)[number];

/** True if a call with this answer may run: at once, or once somebody has approved it. */
export function mayRun(action: Action): boolean {
  switch (action) {
    case 'allow':
    case 'ask':
      return true;
    case 'deny':
      return false;
  }
}
