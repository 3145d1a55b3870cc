import { type AddressInfo, createServer } from 'node:net';

/** The only interface on which anything here listens. */
export const loopback = '127.0.0.1';

/** A TCP port of the loopback interface that was free a moment ago. */
export async function freePort(): Promise<number> {
  const port = await tryListening(0);
  if (typeof port !== 'number') throw new Error('the system gave no free port', { cause: port });
  return port;
}

/** True if `port` of the loopback interface can be listened on now. */
export async function isPortFree(port: number): Promise<boolean> {
  return typeof (await tryListening(port)) === 'number';
}

/** True if somebody listens on `port` already. */
export async function isPortTaken(port: number, host = loopback): Promise<boolean> {
  const found = await tryListening(port, host);
  return typeof found !== 'number' && found.code === 'EADDRINUSE';
}

/** The port, or why it cannot be listened on. */
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
