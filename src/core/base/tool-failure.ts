/** Types of failures by which the second gate refuses a call before the tool starts (I1). */
export const secondGateTypes = [
  'forbidden',
  'digest_mismatch',
  'denied_by_policy',
  'undecodable',
  'arguments_invalid',
  'definition_changed',
  'preview_changed',
  'tool_unavailable',
] as const;

/** The worker's definition of the tool is not the one admitted (I8). The second detail is a `ChangedDefinition`. */
export const definitionChangedType = 'definition_changed';

/** The tool's preview is not the one that reviewers saw. The second detail is a `ChangedDefinition` with `changes`. */
export const previewChangedType = 'preview_changed';

/** The worker stopped while the tool ran: its effect may have happened (I7). */
export const outcomeUnknownType = 'outcome_unknown';

/** All failure types that mean an unknown outcome, including Temporal's own. */
export const leftInMidCallTypes: readonly string[] = [outcomeUnknownType, 'WorkerShutdown'];

/** A payload in external storage could not be read: the activity that needed it did not start, and may be retried. */
export const payloadUnreadType = 'payload_unread';

/** The result of an activity could not be encoded or stored: the activity itself ran. */
export const payloadNotKeptType = 'payload_not_kept';

/** The tool ran, and its check withheld the result from the model. The message says why. */
export const resultWithheldType = 'result_withheld';

/** The tool itself threw an error. */
export const toolFailedType = 'tool_failed';

/** The first detail of a refusal by the second gate. It tells the refusal from a failure that the tool throws. */
export const refusedBySecondGate = 'refused by the second gate';

/** The source of failures that workers of the TypeScript SDK report. An operator's failure has another source. */
export const workerSource = 'TypeScriptSDK';

/** The first detail of a channel's own error. After any other failure of a channel's activity, the call is retried. */
export const thrownByChannel = 'thrown by the channel';
