import { StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { limitedFetch } from './limited-fetch.ts';
import type { McpServerOptions } from './server-options.ts';

/** The longest message that a server may send, in bytes. */
const longestMessage = 16 * 1024 * 1024;

/**
 * All who close it wait for the same end of its process. The client does not wait when it closes one that did not open, and
 * whoever closes it after that would find nothing to wait for.
 */
class StdioTransport extends StdioClientTransport {
  #closing: Promise<void> | undefined;

  override close(): Promise<void> {
    this.#closing ??= super.close();
    return this.#closing;
  }
}

/** A way to a server that is not open yet. */
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
