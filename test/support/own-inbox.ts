import { randomUUID } from 'node:crypto';
import { createClient } from '../../src/client/client.ts';
import { makeNamespace } from './make-namespace.ts';
import { sharedAddress } from './shared-server.ts';

/** A namespace whose inbox no other test fills. */
export async function makeOwnInbox(): Promise<string> {
  const namespace = `inbox-${randomUUID()}`;
  await makeNamespace(namespace);
  const client = await createClient({ address: sharedAddress(), namespace });
  await client.setUp();
  await client.close();
  return namespace;
}
