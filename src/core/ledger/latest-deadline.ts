import { openedAtMs } from './escalation.ts';
import type { RequestRecord } from './ledger-state.ts';
import { longestWaitMs } from '../policy/limits.ts';
import type { PolicyLayers } from '../policy/policy.ts';

/**
 * Workflow time at which a call has been asked about as long as it may be, extensions and edits included: what stands in
 * a request's place goes on from its time, and does not begin anew. Null: never.
 */
export function latestDeadlineMs(
  { origin, request }: Pick<RequestRecord, 'origin' | 'request'>,
  layers: PolicyLayers,
): number | null {
  const longestMs = longestWaitMs(layers);
  return longestMs === null ? null : openedAtMs({ request: origin ?? request }) + longestMs;
}
