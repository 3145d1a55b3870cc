import { createServer, type Server, type ServerOptions, type ServerResponse, STATUS_CODES } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { answerClientError } from './client-error.ts';
import { httpProblem } from '../responses/problem-response.ts';

/** How often requests that take too long are looked for, in milliseconds. Node's own 30 seconds would be added to each limit. */
const connectionsCheckingInterval = 1_000;

/** A server of HTTP/1 in front of `fetch`. What is refused before there is a request is a problem, too. */
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
