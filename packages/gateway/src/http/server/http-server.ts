import { createServer, type Server, type ServerOptions, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { getRequestListener } from '@hono/node-server';
import { httpProblem } from '../responses.ts';

const statuses: Readonly<Record<string, [status: number, detail: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'The address and the headers of a request have at most 16 kB.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request did not arrive in time.'],
};

/** How often Node looks for slow requests, in milliseconds. Its default, 30 seconds, would add to each time limit. */
const connectionsCheckingInterval = 1_000;

/** An HTTP/1 server that passes requests to `fetch`. To bytes that are no valid request, it answers with a problem. */
export function createHttpServer(
  fetch: (request: Request, env: never) => Response | Promise<Response>,
  hostname: string,
  options: ServerOptions,
): Server {
  const unreadable = 'The address or the header Host of this request is not valid.';
  const listener = getRequestListener(fetch as Parameters<typeof getRequestListener>[0], {
    hostname,
    errorHandler: () => httpProblem({ status: 400, title: STATUS_CODES[400]!, detail: unreadable }),
  });
  // Node would answer a missing Host without the body of a problem, so `refuse` answers.
  const server = createServer(
    { ...options, connectionsCheckingInterval, requireHostHeader: false },
    (incoming, outgoing) => {
      const { httpVersion, headers } = incoming;
      if (httpVersion === '1.1' && headers.host === undefined)
        refuse(outgoing, 400, 'A request of HTTP/1.1 has a Host.');
      else void listener(incoming, outgoing);
    },
  );
  server.on('clientError', answerClientError);
  server.on('checkExpectation', (_incoming, outgoing: ServerResponse) => {
    refuse(outgoing, 417, 'The only expectation that is met is 100-continue.');
  });
  return server;
}

function refuse(outgoing: ServerResponse, status: number, detail: string): void {
  const body = JSON.stringify({ type: 'about:blank', title: STATUS_CODES[status], status, detail });
  const headers = { 'content-type': 'application/problem+json', 'cache-control': 'no-store', connection: 'close' };
  outgoing.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
}

/** Answers a request that Node could not parse: malformed, too large or too slow. */
function answerClientError(error: NodeJS.ErrnoException, socket: Duplex): void {
  // An answer is impossible: the sender has disconnected, or a response has begun.
  if (error.code === 'ECONNRESET' || !socket.writable || ('bytesWritten' in socket && socket.bytesWritten !== 0)) {
    socket.destroy();
    return;
  }
  const [status, detail] = statuses[error.code ?? ''] ?? [400, 'This is not an HTTP request.'];
  const title = STATUS_CODES[status]!;
  const body = JSON.stringify({ type: 'about:blank', title, status, detail });
  socket.end(
    [
      `HTTP/1.1 ${status} ${title}`,
      'content-type: application/problem+json',
      `content-length: ${Buffer.byteLength(body)}`,
      'connection: close',
      '',
      body,
    ].join('\r\n'),
  );
}

const lookMs = 50;

/** Accepts no new connection and waits for open requests. After `timeoutMs`, it cuts their connections. */
export async function stopServer(server: Server, timeoutMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // A connection that becomes idle later would keep `close` waiting, so this closes idle ones again and again.
  const closeIdle = setInterval(() => server.closeIdleConnections(), lookMs);
  const cut = setTimeout(() => server.closeAllConnections(), timeoutMs);
  await closed;
  clearInterval(closeIdle);
  clearTimeout(cut);
}
