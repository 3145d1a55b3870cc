import { afterEach } from 'vitest';
import { startWireServer, type WireServer } from './wire-server.ts';

/** Starts wire servers for the tests of a file, and closes them after each test. Call it at the top of the file. */
export function wireServersOfTests(): typeof startWireServer {
  const open: WireServer[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((server) => server.close()));
  });
  return async (format, turns) => {
    const server = await startWireServer(format, turns);
    open.push(server);
    return server;
  };
}
