import { type IncomingHttpHeaders, type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import { type ServerOptions, createServer as createSecureServer } from 'node:https';
import { text } from 'node:stream/consumers';
import type { ApprovalDetails } from '../../../src/contract.ts';
import { listen } from '../../support/listen.ts';
import { startOn } from '../../support/start-on.ts';
import { requestDetails } from '../../support/requests.ts';

/** A request as a receiver in a test got it. */
export interface Hit {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface Reply {
  status: number;
  headers?: Record<string, string>;
  /** A value is sent as JSON, a text as it is. */
  body?: unknown;
}

/** An HTTP server on this machine that answers as a test says, and keeps what it got. */
export interface Receiver {
  readonly url: string;
  readonly port: number;
  readonly hits: Hit[];
  /** How many connections there were: also those that ended before their request had come. */
  readonly connections: () => number;
  /** Hits with this method. */
  got(method: string): Hit[];
  close: () => Promise<void>;
}

/** `answer` may take its time; undefined means 204. Each connection serves one request. */
export async function openReceiver(
  answer: (hit: Hit) => Promise<Reply | undefined> | Reply | undefined,
  { host = '127.0.0.1', port = 0, tls }: { host?: string; port?: number; tls?: ServerOptions } = {},
): Promise<Receiver> {
  const hits: Hit[] = [];
  const respond = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const { method = '', url: path = '', headers } = incoming;
    // A worker that starts looks whether the receiver is there.
    if (method === 'HEAD') return void outgoing.writeHead(204, { connection: 'close' }).end();
    const hit = { method, path, headers, body: await text(incoming) };
    hits.push(hit);
    const { status, headers: more = {}, body } = (await answer(hit)) ?? { status: 204 };
    outgoing.writeHead(status, { connection: 'close', ...more });
    outgoing.end(body === undefined || typeof body === 'string' ? body : JSON.stringify(body));
  };
  const listener = (incoming: IncomingMessage, outgoing: ServerResponse): void => void respond(incoming, outgoing);
  let connections = 0;
  const { address, ...listening } = await startOn(port, () => {
    const server = tls === undefined ? createServer(listener) : createSecureServer(tls, listener);
    return listen(
      server.on('connection', () => (connections += 1)),
      { host, port },
    );
  });
  return {
    url: `${tls === undefined ? 'http' : 'https'}://${address}`,
    port: listening.port,
    hits,
    connections: () => connections,
    got: (wanted) => hits.filter(({ method }) => method === wanted),
    close: listening.close,
  };
}

/** A request as a channel gets it. */
export function sampleRequest(more: Partial<ApprovalDetails> = {}): ApprovalDetails {
  return requestDetails({
    requestId: 'a'.repeat(32),
    arguments: { to: 'bob', amount: 5 },
    assessment: { severity: 'medium', reasons: ['it pays'] } as never,
    agentName: 'tester',
    contextSummary: 'Pay bob.',
    rule: 'pay',
    reason: 'rule 1 asks',
    requestedAt: '2030-01-31T12:00:00.000Z',
    deadline: '2030-01-31T12:05:00.000Z',
    ...more,
  });
}

/** The contexts with which a run calls a channel. */
export const notifyContext = (signal = new AbortController().signal) => ({
  step: { kind: 'asked' as const },
  key: 'run-1/1/asked',
  attempt: 1,
  requests: [],
  signal,
});
