/** What the model is told in the place of a tool's result (contract section 4). */
import type { Settlement } from './approval.ts';
import { formatDuration } from './duration.ts';

export const sentences = {
  deniedByPolicy: (tool: string, reason?: string): string => `Denied: ${reason ?? `Policy denies '${tool}'`}`,
  tooManyPending: 'Denied: Too many pending approval requests.',
  unknownOutcome: 'Unknown: the tool was started but its outcome is not known. Do not assume that it did nothing.',
  failed: (message: string): string => `Error: ${message}`,
} as const;

/** What the model is told when a request was settled without the tool running. */
export function settledSentence(settlement: Settlement, timeoutMs: number | null): string {
  const { outcome, reason } = settlement;
  // A timeout is never reported as a human's denial, nor the other way round (I15).
  if (outcome === 'expired') return `Denied: no decision within ${formatDuration(timeoutMs ?? 0)}`;
  if (outcome === 'cancelled') return `Cancelled: ${reason ?? 'the run was cancelled'}`;
  return `Denied: ${reason === undefined || reason.trim() === '' ? 'User denied' : reason}`;
}
