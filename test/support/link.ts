import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A network link to a server, which a test cuts and mends. */
export interface Link {
  address: string;
  cut(): Promise<void>;
  mend(): Promise<void>;
  close(): Promise<void>;
}

/** Passes connections on to a server at `HOST:PORT`. */
export async function openLink(address: string): Promise<Link> {
  const [host, port] = address.split(':') as [string, string];
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy());
  };
  let server: Server | undefined;
  const listen = async (own: number): Promise<number> => {
    server = createServer((near) => {
      const far = connect(Number(port), host);
      keep(near).pipe(keep(far)).pipe(near);
    }).listen(own, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const own = await listen(0);
  const cut = async (): Promise<void> => {
    const closed = server === undefined ? undefined : once(server, 'close');
    server?.close();
    for (const socket of sockets) socket.destroy();
    await closed;
    server = undefined;
  };
  return { address: `127.0.0.1:${own}`, cut, mend: async () => void (await listen(own)), close: cut };
}
