import type { Context } from 'hono';
import type { GatewayContext } from '../gateway-context.ts';
import type { HttpEnv } from '../http-env.ts';
import { problemOf } from '../responses/problem-response.ts';
import { sseResponse } from '../streams/sse-stream.ts';

const encoder = new TextEncoder();
/** A comment, because the parsers of front ends take every event for one of their protocol. */
const heartbeat = encoder.encode(': heartbeat\n\n');

/** Answers with the messages of a protocol as server-sent events. `end`: the data after the last one. */
export function chatResponse(
  context: Context<HttpEnv>,
  gateway: GatewayContext,
  messages: (signal: AbortSignal) => AsyncIterable<object>,
  { headers = {}, end }: { headers?: Record<string, string>; end?: string } = {},
): Response {
  return sseResponse(
    context,
    gateway,
    async (stream) => {
      const send = (data: string): Promise<boolean> => stream.send(encoder.encode(`data: ${data}\n\n`));
      for await (const message of messages(stream.signal)) if (!(await send(JSON.stringify(message)))) return;
      if (end !== undefined) await send(end);
    },
    {},
    { heartbeat, headers },
  );
}

/** Logs why a stream ended early, unless it was the sender's mistake. */
export function logFailure({ log }: GatewayContext): (error: unknown) => void {
  return (error) => {
    if (problemOf(error).code === 'internal') log(`A chat ended early: ${String(error)}`);
  };
}
