/** The payload converter for activities. It keeps the permit in a payload, for `activities/second-gate.ts`. */
import type { PayloadConverter } from '@temporalio/common';
import { claimsPermit, Permitted, permitIn } from '../core/base/permit-metadata.ts';
import { payloadConverter as own } from '../workflows/sandbox/payload-converter.ts';

export const payloadConverter: PayloadConverter = {
  toPayload: (value) => own.toPayload(value),
  // oxlint-disable-next-line no-unnecessary-type-parameters -- the interface is Temporal's
  fromPayload: <T>(payload: Parameters<PayloadConverter['fromPayload']>[0]): T => {
    const value = own.fromPayload<T>(payload);
    // An unreadable permit becomes an empty one, which the second gate refuses.
    return claimsPermit(payload.metadata) ? (new Permitted(value, permitIn(payload.metadata) ?? {}) as T) : value;
  },
};
