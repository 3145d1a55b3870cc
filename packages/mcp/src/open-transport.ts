import { type FetchLike, StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { McpServerOptions } from './server-options.ts';

/**
 * A `fetch` whose responses end with an error after `maxBytes`. It opens no stream by GET, through which a server would
 * push messages: it answers with 405, like a server without such a stream.
 */
export function limitedFetch(maxBytes: number): FetchLike {
  return async (url, init) => {
    if ((init?.method ?? 'GET') === 'GET') return new Response(undefined, { status: 405 });
    const answer = await fetch(url, init);
    if (answer.body === null) return answer;
    const { status, statusText, headers } = answer;
    return new Response(answer.body.pipeThrough(limit(maxBytes)), { status, statusText, headers });
  };
}

function limit(maxBytes: number): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
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

/**
 * All callers of `close` wait for the same end of its process. The client does not wait when it closes one that did not
 * open, and a later caller would find nothing to wait for.
 */
class StdioTransport extends StdioClientTransport {
  #closing: Promise<void> | undefined;

  override close(): Promise<void> {
    this.#closing ??= super.close();
    return this.#closing;
  }
}

/** A transport to a server, not yet open. */
export function openTransport(options: McpServerOptions): Transport {
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
