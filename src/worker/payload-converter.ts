/** The payload converter of a worker outside its workflows: it passes permits to the second gate. */
import type { PayloadConverter } from '@temporalio/common';
import { claimsPermit, Permitted, permitIn } from '../core/base/permit-metadata.ts';
import { payloadConverter as own } from '../workflows/sandbox/payload-converter.ts';

export const payloadConverter: PayloadConverter = {
  toPayload: (value) => own.toPayload(value),
  // oxlint-disable-next-line no-unnecessary-type-parameters -- the interface is Temporal's
  fromPayload: <T>(payload: Parameters<PayloadConverter['fromPayload']>[0]): T => {
    const value = own.fromPayload<T>(payload);
    // The second gate refuses an unreadable permit.
    return claimsPermit(payload.metadata) ? (new Permitted(value, permitIn(payload.metadata) ?? {}) as T) : value;
  },
};
