import { setTimeout as sleep } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport, type Transport, type FetchLike } from '@modelcontextprotocol/client';
import { serverFailure } from './tool-result.ts';
import type { McpServerOptions } from './server-options.ts';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const firstDelayMs = 1_000;
const longestDelayMs = 60_000;
/** A connection that lasted this long does not count as a failure: the next one opens without a delay. */
const steadyMs = 60_000;
const goodbyeMs = 2_000;

/**
 * A worker's connection to one MCP server. It opens at first use. After it has ended, the next use opens it again: the
 * first time at once, then after 1, 2, 4 seconds and so on, up to a minute. The client offers the server no roots,
 * sampling or elicitation, so a server that requests one of them gets an error.
 */
export class ServerConnection {
  readonly #options: McpServerOptions;
  #opening: Promise<Client> | undefined;
  #open: Client | undefined;
  #failures = 0;
  #openAtMs = 0;
  #failure = '';
  #closing = new AbortController();
  readonly #ending = new Set<Promise<unknown>>();

  constructor(options: McpServerOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#opening !== undefined;
  }

  /** Returns the client of an open connection. Rejects with one sentence after at most `timeoutMs`. */
  async client(timeoutMs: number): Promise<Client> {
    const waitMs = Math.max(this.#openAtMs - Date.now(), 0);
    // If the delay takes more than half of the time, the rest may not suffice to connect.
    if (this.#opening === undefined && waitMs > timeoutMs / 2) {
      throw new Error(`${this.#failure}; it is tried again in ${Math.ceil(waitMs / 1_000)} s`);
    }
    this.#opening ??= this.#connect(waitMs, timeoutMs - waitMs);
    return this.#opening;
  }

  /** Drops a broken connection, so that the next call opens another one. */
  drop(client: Client, failure: string): void {
    if (client === this.#open) this.#failed(failure);
    this.#end(client.transport);
  }

  /** Ends the process or session of the server. A later call opens the connection again. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#closing = new AbortController();
    const client = await this.#opening?.catch(() => undefined);
    this.#opening = undefined;
    this.#open = undefined;
    this.#end(client?.transport);
    this.#failures = 0;
    this.#openAtMs = 0;
    await Promise.all(this.#ending);
  }

  /** Opens a connection after `waitMs`. Rejects if it does not open in time; the next attempt is then delayed. */
  async #connect(waitMs: number, timeoutMs: number): Promise<Client> {
    const { signal } = this.#closing;
    const client = new Client({ name: 'countersign', version: '0.1.0' }, { capabilities: {} });
    const transport = openTransport(this.#options);
    try {
      await sleep(waitMs, undefined, { signal });
      const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      await client.connect(transport, { timeout: timeoutMs, signal: limit });
    } catch (error) {
      this.#failed(serverFailure(error));
      this.#end(transport);
      throw new Error(this.#failure, { cause: error });
    }
    const openedAtMs = Date.now();
    this.#open = client;
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- a client has no other way
    client.onclose = () => {
      if (client !== this.#open) return;
      if (Date.now() - openedAtMs >= steadyMs) this.#failures = 0;
      this.#failed('the connection to it has ended');
    };
    return client;
  }

  /** Notes a failure, and when the next connection may open: at once after the first, then after doubling delays. */
  #failed(failure: string): void {
    const delayMs = this.#failures === 0 ? 0 : Math.min(firstDelayMs * 2 ** (this.#failures - 1), longestDelayMs);
    this.#opening = undefined;
    this.#open = undefined;
    this.#failures++;
    this.#failure = failure;
    this.#openAtMs = Date.now() + delayMs;
  }

  /** Ends a connection in the background. A process that does not end by itself is killed. */
  #end(transport: Transport | undefined): void {
    if (transport === undefined) return;
    const ending = goodbye(transport)
      .then(() => transport.close())
      .catch(() => undefined)
      .finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }
}

/** Ends the session of an HTTP server, which would otherwise keep it. */
async function goodbye(transport: Transport): Promise<void> {
  if (!(transport instanceof StreamableHTTPClientTransport)) return;
  const ended = transport.terminateSession().catch(() => undefined);
  await Promise.race([ended, sleep(goodbyeMs, undefined, { ref: false })]);
}

/**
 * Returns a `fetch` whose responses fail after `maxBytes`. For a GET, by which the MCP client would open a stream for
 * the server's own messages, it sends nothing and returns status 405.
 */
export function limitedFetch(maxBytes: number): FetchLike {
  return async (url, init) => {
    if ((init?.method ?? 'GET') === 'GET') return new Response(undefined, { status: 405 });
    const response = await fetch(url, init);
    if (response.body === null) return response;
    const { status, statusText, headers } = response;
    return new Response(response.body.pipeThrough(byteLimit(maxBytes)), { status, statusText, headers });
  };
}

function byteLimit(maxBytes: number): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let bytes = 0;
  return new TransformStream({
    transform: (chunk, controller) => {
      bytes += chunk.byteLength;
      if (bytes > maxBytes) controller.error(new Error(`an answer has more than ${maxBytes} bytes`));
      else controller.enqueue(chunk);
    },
  });
}

/** The longest message that a server may send, in bytes. */
const longestMessage = 16 * 1024 * 1024;

/** Each `close` waits until the process has ended, even if the client has called the first `close` without waiting. */
class StdioTransport extends StdioClientTransport {
  #closing: Promise<void> | undefined;

  override close(): Promise<void> {
    this.#closing ??= super.close();
    return this.#closing;
  }
}

/** Creates the transport to a process or a URL. Neither starts nor connects anything yet. */
function openTransport(options: McpServerOptions): Transport {
  if ('command' in options) {
    const { command, args = [], env, cwd, stderr = 'ignore' } = options;
    return new StdioTransport({
      command,
      args: [...args],
      env: { ...env },
      ...(cwd !== undefined && { cwd }),
      stderr,
      maxBufferSize: longestMessage,
    });
  }
  const { url, headers = {}, auth } = options;
  return new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { ...headers } },
    fetch: limitedFetch(longestMessage),
    ...(auth !== undefined && { authProvider: { token: async () => auth() } }),
  });
}
