import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';

/** A server in a test. */
export interface Listening {
  port: number;
  /** `HOST:PORT`. */
  address: string;
  /** For a server that speaks HTTP. */
  url: string;
  /** Ends its connections, and waits until the server is gone. */
  close: () => Promise<void>;
}

/** Lets a server listen on a free port of this machine, unless the options name another place. */
export async function listen(server: Server, { host = '127.0.0.1', port = 0 } = {}): Promise<Listening> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(port, host);
  await once(server, 'listening');
  const { port: own } = server.address() as AddressInfo;
  const address = `${host.includes(':') ? `[${host}]` : host}:${own}`;
  return {
    port: own,
    address,
    url: `http://${address}`,
    close: async () => {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
