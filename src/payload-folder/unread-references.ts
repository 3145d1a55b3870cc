import type { StorageDriver } from '@temporalio/common';
import { ExternalStorage } from '@temporalio/common';
import { unreadPayload } from '../connection/unread-payload.ts';

/**
 * Used if no external storage is configured. By default Temporal's SDK throws on the first payload that claims to be in
 * external storage, before a converter sees it: one signal would make a run's task retry for ever, and one memo would
 * hide the inbox (I5c). This class fetches and stores nothing: it replaces the reference with a payload that our
 * converter reads as undecodable.
 */
class UnreadReferences extends ExternalStorage {
  constructor() {
    super({ drivers: [noDriver], driverSelector: () => null });
  }

  /** The same driver for any store that a reference names. */
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

export const unreadReferences: ExternalStorage = new UnreadReferences();
