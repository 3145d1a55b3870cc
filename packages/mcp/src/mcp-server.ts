import type { Toolset, OpenToolset, ToolContext, ToolsetListing } from 'countersign';
import { defineToolset, UnknownOutcomeError } from 'countersign';
import { ApplicationFailure } from '@temporalio/common';
import { ProtocolError, SdkError, SdkErrorCode, type Client } from '@modelcontextprotocol/client';
import { checkServerOptions, type McpServerOptions } from './server-options.ts';
import { type ListedTool, listedTools } from './listed-tools.ts';
import { ServerConnection } from './server-connection.ts';
import { serverFailure, resultText, toolResult } from './tool-result.ts';

/**
 * Returns the tools of an MCP server, for the `tools` of an agent. Nothing starts or connects before a run needs it.
 * Each worker has a process or session of its own, which starts again after a failure and ends with the worker.
 * Throws a `DefinitionError`, one sentence, for invalid options.
 *
 * @example
 * ```ts
 * import { defineAgent, scriptedModel } from 'countersign';
 * import { mcpServer } from '@countersign/mcp';
 *
 * const files = mcpServer({ name: 'files', command: 'mcp-server-filesystem', args: ['/srv/reports'] });
 * const clerk = defineAgent({
 *   name: 'clerk',
 *   instructions: 'You keep the reports in order.',
 *   model: scriptedModel([]),
 *   tools: [files],
 *   policy: 'rules: [{ pattern: files__write_file, action: ask }, { pattern: "files__read_*", action: allow }]',
 * });
 * console.log(clerk.toolsets.map(({ name }) => name)); // [ 'files' ]
 * ```
 */
export function mcpServer(options: McpServerOptions): Toolset {
  checkServerOptions(options);
  const { name } = options;
  return defineToolset({ name, open: () => new ServerTools(options) });
}

const defaultTimeoutMs = 60_000;
const defaultStartTimeoutMs = 10_000;
/** The milliseconds that a worker may need around a call, mainly to list the tools again before it. */
const aroundCallMs = 60_000;

class ServerTools implements OpenToolset {
  readonly #options: McpServerOptions;
  readonly #connection: ServerConnection;
  #listing: Promise<ToolsetListing> | undefined;
  #last: ToolsetListing | undefined;

  constructor(options: McpServerOptions) {
    this.#options = options;
    this.#connection = new ServerConnection(options);
  }

  /** Returns the last list, or, with `fresh`, a new one. Callers that come while a request is on its way share it. */
  async list({ fresh }: { fresh: boolean }): Promise<ToolsetListing> {
    if (!fresh && this.#last !== undefined) return this.#last;
    this.#listing ??= this.#readList().finally(() => (this.#listing = undefined));
    return this.#listing;
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  /** Reads the list. If an open connection fails, reads once more on a new one: the old one may have been dead. */
  async #readList(): Promise<ToolsetListing> {
    const { startTimeoutMs = defaultStartTimeoutMs } = this.#options;
    const endsAtMs = Date.now() + startTimeoutMs;
    const wasOpen = this.#connection.isOpen;
    try {
      return await this.#readListUntil(endsAtMs);
    } catch (error) {
      if (!wasOpen || Date.now() >= endsAtMs) throw error;
      return this.#readListUntil(endsAtMs);
    }
  }

  /** Asks the server for its tools, and keeps the list. Rejects if the server has not answered by `endsAtMs`. */
  async #readListUntil(endsAtMs: number): Promise<ToolsetListing> {
    const { name, tools, trusted = false, timeoutMs = defaultTimeoutMs } = this.#options;
    const client = await this.#connection.client(endsAtMs - Date.now());
    // Connecting may have used up the time, and a time-out cannot be negative.
    const listed = await this.#listed(client, Math.max(endsAtMs - Date.now(), 1));
    this.#last = listedTools(listed, {
      server: name,
      ...(tools !== undefined && { tools }),
      trusted,
      attemptMs: timeoutMs + aroundCallMs,
      call: (tool, args, context) => callServer(client, tool, args, { context, timeoutMs, name }),
    });
    return this.#last;
  }

  /** Reads all pages of the server's list. After a failure, drops the connection and rejects with one sentence. */
  async #listed(client: Client, timeout: number): Promise<readonly ListedTool[]> {
    // A server without tools is not asked, because the SDK's client would then print a line.
    if (client.getServerCapabilities()?.tools === undefined) return [];
    const options = { timeout, signal: AbortSignal.timeout(timeout), cacheMode: 'bypass' } as const;
    try {
      return (await client.listTools(undefined, options)).tools;
    } catch (error) {
      const failure = serverFailure(error);
      this.#connection.drop(client, failure);
      throw new Error(failure, { cause: error });
    }
  }
}

/** Calls a tool on the connection that listed it, because on a newer one another tool could have the same name. */
async function callServer(
  client: Client,
  tool: string,
  args: object,
  { context, timeoutMs, name }: { context: ToolContext; timeoutMs: number; name: string },
): Promise<unknown> {
  if (client.transport === undefined) {
    throw ApplicationFailure.nonRetryable(
      `MCP server '${name}': the connection to it has ended; the call was not sent`,
    );
  }
  const answer = await client
    .callTool(
      { name: tool, arguments: args as Record<string, unknown> },
      { signal: context.signal, timeout: timeoutMs },
    )
    .catch((error: unknown) => {
      throw callFailure(error, name);
    });
  if (answer.isError === true) throw ApplicationFailure.nonRetryable(resultText(answer.content) || 'no reason given');
  return toolResult(answer);
}

/** Returns the failure of a call. If the server did not respond, the outcome is unknown: the call may have run. */
function callFailure(error: unknown, name: string): Error {
  if (ProtocolError.isInstance(error))
    return ApplicationFailure.nonRetryable(`MCP error ${error.code}: ${error.message}`);
  const message = `MCP server '${name}': ${serverFailure(error)}`;
  const hasResponded = SdkError.isInstance(error) && error.code === SdkErrorCode.InvalidResult;
  return hasResponded ? ApplicationFailure.nonRetryable(message) : new UnknownOutcomeError(message);
}
