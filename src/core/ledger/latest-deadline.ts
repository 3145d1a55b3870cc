import { openedAtMs } from './escalation.ts';
import type { RequestRecord } from './ledger-state.ts';
import { longestWaitMs } from '../policy/limits.ts';
import type { PolicyLayers } from '../policy/policy.ts';

/**
 * Workflow time by which the question about a call has to end, extensions and edits included; null: never. A request
 * that replaces another continues its time, and does not start anew.
 */
export function latestDeadlineMs(
  { origin, request }: Pick<RequestRecord, 'origin' | 'request'>,
  layers: PolicyLayers,
): number | null {
  const longestMs = longestWaitMs(layers);
  return longestMs === null ? null : openedAtMs({ request: origin ?? request }) + longestMs;
}
