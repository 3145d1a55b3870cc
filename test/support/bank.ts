import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The bank of `examples/upgrade`, as an HTTP server. */
export interface Bank {
  url: string;
  /** The charges that it made, as `ORDER AMOUNT`. */
  charges: string[];
  /** Orders for which it was asked. */
  asked: Set<string>;
  /** While true, it answers 503 for orders whose id begins with `closed`. */
  isClosed: boolean;
  close(): Promise<void>;
}

/** For an order whose id begins with `slow`, the first request gets no answer. */
export async function openBank(): Promise<Bank> {
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const { orderId, amount } = JSON.parse(body) as { orderId: string; amount: number };
      const isFirst = !bank.asked.has(orderId);
      bank.asked.add(orderId);
      if (orderId.startsWith('slow') && isFirst) return;
      if (orderId.startsWith('closed') && bank.isClosed) {
        response.writeHead(503).end();
        return;
      }
      bank.charges.push(`${orderId} ${amount}`);
      response.end(`receipt-of-${orderId}`);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const bank: Bank = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    charges: [],
    asked: new Set(),
    isClosed: false,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return bank;
}
