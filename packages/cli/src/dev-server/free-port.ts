import { type AddressInfo, createServer } from 'node:net';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The address of the loopback interface, where these servers listen. */
export const loopback = '127.0.0.1';

/** Returns a TCP port of the loopback interface that was free a moment ago. */
export async function freePort(): Promise<number> {
  const port = await tryListening(0);
  if (typeof port !== 'number') throw new Error('the system gave no free port', { cause: port });
  return port;
}

/** True if this process can listen on `port` of the loopback interface now. */
export async function isPortFree(port: number): Promise<boolean> {
  return typeof (await tryListening(port)) === 'number';
}

export async function isPortTaken(port: number, host = loopback): Promise<boolean> {
  const found = await tryListening(port, host);
  return typeof found !== 'number' && found.code === 'EADDRINUSE';
}

/** Listens on a port for a moment. Returns the port, or the error. */
function tryListening(port: number, host = loopback): Promise<number | NodeJS.ErrnoException> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', resolve);
    server.listen(port, host, () => {
      const { port: found } = server.address() as AddressInfo;
      server.close(() => resolve(found));
    });
  });
}

/** Hides the user's Temporal cluster: deletes this process's variables `TEMPORAL_…`, sets an empty configuration. */
export function hideOtherServers(folder: string): void {
  for (const name of Object.keys(process.env)) if (name.startsWith('TEMPORAL_')) delete process.env[name];
  process.env.TEMPORAL_CONFIG_FILE = join(folder, 'temporal.toml');
  writeFileSync(process.env.TEMPORAL_CONFIG_FILE, '[profile.default]\n');
}
