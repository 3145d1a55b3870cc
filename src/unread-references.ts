import type { Payload, StorageDriver } from '@temporalio/common';
import { ExternalStorage } from '@temporalio/common';

/**
 * Stands where Temporal's SDK wants to fetch a payload from external storage. Without any, the SDK throws on the
 * first payload that claims to be kept there, before a converter sees it: one signal would repeat a run's task for
 * ever, and one memo would hide the inbox (I5c). Nothing is fetched here and nothing is stored: the claim comes back
 * as a payload that our converter knows for undecodable.
 */
class UnreadReferences extends ExternalStorage {
  constructor() {
    super({ drivers: [noDriver], driverSelector: () => null });
  }

  /** Whatever store a reference names. */
  override getDriver(): StorageDriver {
    return noDriver;
  }
}

const noDriver: StorageDriver = {
  name: 'countersign.none',
  type: 'countersign.none',
  store: () => Promise.reject(new Error('countersign stores no payloads outside of Temporal')),
  retrieve: (_context, claims) => Promise.resolve(claims.map(() => unreadable())),
};

function unreadable(): Payload {
  return { metadata: { encoding: new TextEncoder().encode('countersign/unread-reference') }, data: new Uint8Array() };
}

export const unreadReferences: ExternalStorage = new UnreadReferences();
