import { createServer } from 'node:net';

/** The only interface on which anything here listens. */
export const loopback = '127.0.0.1';

/** A TCP port of the loopback interface that was free a moment ago. */
export async function freePort(): Promise<number> {
  const port = await tryListening(0);
  if (port === undefined) throw new Error('the system gave no free port');
  return port;
}

/** True if `port` of the loopback interface can be listened on now. */
export async function isPortFree(port: number): Promise<boolean> {
  return (await tryListening(port)) !== undefined;
}

function tryListening(port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen(port, loopback, () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : undefined));
    });
  });
}
