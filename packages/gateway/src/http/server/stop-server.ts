import type { Server } from 'node:http';

/** How often idle connections are closed, in milliseconds. */
const lookMs = 50;

/** Takes no new connection, and waits until all requests are answered; after `timeoutMs`, cuts those that are not. */
export async function stopServer(server: Server, timeoutMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const closeIdle = setInterval(() => server.closeIdleConnections(), lookMs);
  const cut = setTimeout(() => server.closeAllConnections(), timeoutMs);
  await closed;
  clearInterval(closeIdle);
  clearTimeout(cut);
}
