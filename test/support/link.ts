import { connect, createServer, type Socket } from 'node:net';
import { listen } from './listen.ts';

/** A network link to a server, which a test cuts and mends. */
export interface Link {
  address: string;
  cut(): void;
  mend(): void;
  close(): Promise<void>;
}

/** Passes connections on to a server at `HOST:PORT`. A link that is cut keeps its port, and ends what connects to it. */
export async function openLink(address: string): Promise<Link> {
  const [host, port] = address.split(':') as [string, string];
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('close', () => sockets.delete(socket)).on('error', () => socket.destroy());
  };
  let isCut = false;
  const server = createServer((near) => {
    keep(near);
    if (isCut) {
      near.resetAndDestroy();
      return;
    }
    const far = connect(Number(port), host);
    near.pipe(keep(far)).pipe(near);
  });
  const { address: own, close } = await listen(server);
  const cut = (): void => {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  };
  return {
    address: own,
    cut,
    mend: () => {
      isCut = false;
    },
    close: async () => {
      cut();
      await close();
    },
  };
}
