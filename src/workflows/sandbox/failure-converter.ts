/**
 * A failure converter that puts messages and stack traces into a payload, so that a codec encrypts them too. Without it
 * a tool's error message stands in clear text in history.
 */
import { DefaultFailureConverter } from '@temporalio/common';

export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
