/** The gateway in a process of its own. It answers each message of its parent with its figures since the last one. */
import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { Connection } from '@temporalio/client';
import { createClient } from '../../src/client/client.ts';
import { repeatedCalls } from '../../src/client/server/session.ts';
import { startGateway } from '../../packages/gateway/src/index.ts';

/** The gateway's work since it last sent figures. */
export interface GatewayFigures {
  /** Calls to the Temporal server. */
  calls: number;
  /** The most memory of the process, in bytes. */
  peakBytes: number;
  /** Connections that have not taken what was sent to them, now. */
  blocked: number;
  /** Connections that are open now. */
  open: number;
}

const [address = '', taskQueue = ''] = process.argv.slice(2);
const sockets = new Set<Socket>();
let figures = { calls: 0, peakBytes: 0 };

subscribe('http.server.request.start', (message) => {
  const { socket } = message as { socket: Socket };
  sockets.add(socket);
  socket.once('close', () => sockets.delete(socket));
});
const connection = await Connection.connect({
  address,
  // As our own connections: a page of a history may be large.
  channelArgs: { 'grpc.max_receive_message_length': 128 * 1024 * 1024 },
  interceptors: [
    (options, nextCall) => {
      figures.calls += 1;
      return nextCall(options) as never;
    },
    ...repeatedCalls,
  ],
});
const client = await createClient({ connection, address, taskQueue });
const gateway = await startGateway({ client, port: 0 });

setInterval(() => {
  figures.peakBytes = Math.max(figures.peakBytes, process.memoryUsage.rss());
}, 50);
process.on('message', () => {
  const blocked = [...sockets].filter(({ writableLength }) => writableLength > 0).length;
  process.send!({ ...figures, blocked, open: sockets.size } satisfies GatewayFigures);
  figures = { calls: 0, peakBytes: 0 };
});
process.on('disconnect', () => process.exit());
process.send!(gateway.url);
