/** Failure types that cross from the tool activity to the run: how a call that was admitted did not end well. */

/** The second gate refused before the tool started (I1). */
export const secondGateTypes = [
  'forbidden',
  'digest_mismatch',
  'denied_by_policy',
  'undecodable',
  'arguments_invalid',
  'definition_changed',
] as const;

/**
 * The second gate found that this worker has another definition of the tool than the one that was admitted (I8). The
 * failure's second detail is a `ChangedDefinition`.
 */
export const definitionChangedType = 'definition_changed';

/** The worker left while the tool ran: it may have happened (I7). */
export const outcomeUnknownType = 'outcome_unknown';

/** All by which a worker says so, Temporal's own included. */
export const leftInMidCallTypes: readonly string[] = [outcomeUnknownType, 'WorkerShutdown'];

/**
 * A payload is kept in external storage and could not be read: whatever needed it was not started, and may be tried
 * again (`src/payload-folder`).
 */
export const payloadUnreadType = 'payload_unread';

/** What came of an activity could not be written to external storage: it ran. */
export const payloadNotKeptType = 'payload_not_kept';

/** The tool itself threw. */
export const toolFailedType = 'tool_failed';

/** First of the details of what the second gate refused, so that no author's failure passes for one of those. */
export const refusedBySecondGate = 'refused by the second gate';
