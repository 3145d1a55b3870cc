import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { json as readJson } from 'node:stream/consumers';
import { listen } from './listen.ts';

export interface ChatRequest {
  method: string | undefined;
  path: string | undefined;
  headers: IncomingHttpHeaders;
  body: {
    model: string;
    stream?: boolean;
    stream_options?: { include_usage?: boolean };
    messages: { role: string; content: unknown; tool_calls?: unknown[]; tool_call_id?: string }[];
    tools?: { type: string; function: { name: string; description?: string; parameters: unknown } }[];
  };
}

export type Answer = (response: ServerResponse, request: ChatRequest) => void | Promise<void>;

export interface ChatServer {
  baseURL: string;
  requests: ChatRequest[];
  /** Replaces the server's answer from now on. */
  answer(next: Answer): void;
  close(): Promise<void>;
}

/** A loopback server that speaks OpenAI's chat completions protocol. Each test sets the answers. */
export async function startChatServer(): Promise<ChatServer> {
  const requests: ChatRequest[] = [];
  let current: Answer = (response) => reply(response, 500, {});
  const server = createServer((incoming, response) => {
    void (async () => {
      const { method, url: path, headers } = incoming;
      const request = { method, path, headers, body: (await readJson(incoming)) as ChatRequest['body'] };
      requests.push(request);
      await current(response, request);
    })();
  });
  // A client may send a request while its idle connection is being closed, and fail.
  server.keepAliveTimeout = 0;
  const { url, close } = await listen(server);
  return {
    baseURL: `${url}/v1`,
    requests,
    answer: (next) => {
      current = next;
    },
    close,
  };
}

export function reply(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

/** Starts an event stream; each chunk becomes one `data:` line. */
export function startStream(response: ServerResponse): { send(...chunks: unknown[]): void; done(): void } {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  return {
    send: (...chunks) => {
      for (const chunk of chunks)
        response.write(`data: ${typeof chunk === 'string' ? chunk : JSON.stringify(chunk)}\n\n`);
    },
    done: () => response.end('data: [DONE]\n\n'),
  };
}

/** One `chat.completion.chunk`. */
export function chunk(delta: object, finishReason: string | null = null): object {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'test-model',
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  };
}

export function usageChunk(promptTokens: number, completionTokens: number): object {
  return {
    ...chunk({}),
    choices: [],
    usage: {
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      total_tokens: promptTokens + completionTokens,
    },
  };
}

/** The start of tool call `index`, or a further piece of it. */
export function toolDelta(index: number, piece: { id?: string; name?: string; arguments?: string }): object {
  const { id, ...call } = piece;
  return chunk({ tool_calls: [{ index, ...(id === undefined ? {} : { id, type: 'function' }), function: call }] });
}

/** A complete answer with one text. */
export const answerText =
  (text: string): Answer =>
  (response) => {
    const stream = startStream(response);
    stream.send(
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: text }),
      chunk({}, 'stop'),
      usageChunk(1, 1),
    );
    stream.done();
  };

/** A complete answer without streaming: text, or tool calls. */
export function completion(message: {
  content?: string;
  calls?: { id: string; name: string; args: object }[];
}): object {
  const calls = message.calls?.map(({ id, name, args }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }));
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'test-model',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: message.content ?? null, ...(calls && { tool_calls: calls }) },
        finish_reason: calls === undefined ? 'stop' : 'tool_calls',
      },
    ],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  };
}
