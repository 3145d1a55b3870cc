import type { DevServer } from '../../src/dev-server/start-dev-server.ts';

/**
 * Setup and teardown run in one process, but Jest may load their modules twice, so they share state through the global
 * object.
 */
const shared = globalThis as { countersignTestServer?: DevServer; countersignTestFolder?: string };

export function keepServer(server: DevServer): void {
  shared.countersignTestServer = server;
}

/** The shared folder of the durable tests; the teardown removes it. */
export function keepFolder(folder: string): void {
  shared.countersignTestFolder = folder;
}

export function sharedFolder(): string | undefined {
  return shared.countersignTestFolder;
}

export function takeServer(): DevServer | undefined {
  const server = shared.countersignTestServer;
  delete shared.countersignTestServer;
  return server;
}

/** `HOST:PORT` of the shared server of the durable tests. */
export function sharedAddress(): string {
  const address = process.env.TEMPORAL_ADDRESS;
  if (address === undefined) throw new Error('the shared Temporal server runs only for tests in the durable folders');
  return address;
}
