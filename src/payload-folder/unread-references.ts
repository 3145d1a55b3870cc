import type { Payload, StorageDriver } from '@temporalio/common';
import { ExternalStorage } from '@temporalio/common';
import { unreadEncoding } from '../core/base/undecodable.ts';

/**
 * Stands where Temporal's SDK wants to fetch a payload from external storage and there is none. The SDK by itself
 * throws on the first payload that claims to be kept there, before a converter sees it: one signal would repeat a
 * run's task for ever, and one memo would hide the inbox (I5c). Nothing is fetched here and nothing is stored: the
 * claim comes back as a payload that our converter knows for undecodable.
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

export const noDriver: StorageDriver = {
  name: 'countersign.none',
  type: 'countersign.none',
  store: () => Promise.reject(new Error('countersign stores no payloads outside of Temporal')),
  retrieve: (_context, claims) => Promise.resolve(claims.map(() => unreadPayload('elsewhere'))),
};

/**
 * What a reference is read as that is not followed. `elsewhere`: kept in a store that is not configured here; `gone`:
 * its file is missing or damaged; `forged`: nobody with the key of the payload folder wrote it.
 */
export function unreadPayload(why: 'elsewhere' | 'gone' | 'forged'): Payload {
  const text = new TextEncoder();
  return { metadata: { encoding: text.encode(unreadEncoding) }, data: text.encode(why) };
}

export const unreadReferences: ExternalStorage = new UnreadReferences();
