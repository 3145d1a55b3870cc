/** Puts the messages and stack traces of failures into payloads, so that a codec encrypts them, too. */
import { DefaultFailureConverter } from '@temporalio/common';

export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
