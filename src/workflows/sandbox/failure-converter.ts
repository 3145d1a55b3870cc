/** Puts messages and stack traces into a payload, which a codec encrypts: history would have them in clear. */
import { DefaultFailureConverter } from '@temporalio/common';

export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
