import type { Settlement } from './approval.ts';

/** True where another request, `byId`, carries the same call's question on. */
export function isReplaced({ by }: Pick<Settlement, 'by'>): boolean {
  return by === 'edit';
}
