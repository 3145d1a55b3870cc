import { createServer, type ServerResponse } from 'node:http';
import { json as readJson } from 'node:stream/consumers';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { anthropic } from './anthropic.ts';
import { deepseek } from './deepseek.ts';
import { geminiOpenAI } from './gemini-openai.ts';
import { google } from './google.ts';
import { mistral } from './mistral.ts';
import { openaiChat } from './openai-chat.ts';
import { openaiResponses } from './openai-responses.ts';
import type { GivenTurn, WireEvent, WireProtocol, WireTurn } from './wire-protocol.ts';
import { listen } from '../../support/listen.ts';

export type { WireTurn } from './wire-protocol.ts';

export interface WireServer {
  /** Built with the provider's real AI SDK package, pointing at this server. */
  model: LanguageModelV4;
  /** Bodies of the requests that were accepted. */
  requests: unknown[];
  /** Why requests were refused with 400. */
  refusals: string[];
  close(): Promise<void>;
}

export type WireFormat = (typeof wireFormats)[number];
export const wireFormats = [
  'anthropic',
  'google',
  'mistral',
  'openai-chat',
  'openai-responses',
  'deepseek',
  'gemini-openai',
] as const;

const protocols: Readonly<Record<WireFormat, WireProtocol>> = {
  anthropic,
  google,
  mistral,
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
  deepseek,
  'gemini-openai': geminiOpenAI,
};

/**
 * A loopback server that stands in for a provider: it answers the n-th request that keeps the provider's rules for
 * transcripts with the n-th turn, and any other one with 400, as the provider does.
 */
export async function startWireServer(format: WireFormat, turns: readonly WireTurn[]): Promise<WireServer> {
  const protocol = protocols[format];
  const thinks = turns.some(({ reasoning }) => reasoning !== undefined);
  const requests: unknown[] = [];
  const refusals: string[] = [];
  const given: GivenTurn[] = [];

  function answer(path: string, body: unknown, response: ServerResponse): void {
    const problem = protocol.check(body, given);
    if (problem !== undefined) {
      refusals.push(problem);
      return reply(response, 400, protocol.refusal(problem));
    }
    const number = requests.length;
    requests.push(body);
    const turn = turns[number];
    if (turn === undefined) return reply(response, 500, protocol.refusal('The wire server has no further turn.'));
    const next = give(protocol, turn, { number, thinks, request: body });
    given.push(next);
    if (protocol.wantsStream(body, path)) return stream(response, protocol.events(next));
    reply(response, 200, protocol.whole(next));
  }

  const server = createServer((request, response) => {
    const path = request.url ?? '';
    if (!protocol.path.test(path)) return reply(response, 404, {});
    void readJson(request)
      .then((body) => answer(path, body, response))
      .catch((error: unknown) => {
        // A check that cannot read a body at all.
        refusals.push(String(error));
        reply(response, 400, protocol.refusal(String(error)));
      });
  });
  // A client may send a request while its idle connection is being closed, and fail.
  server.keepAliveTimeout = 0;
  const { url, close } = await listen(server);
  return {
    model: protocol.createModel(url, thinks),
    requests,
    refusals,
    close,
  };
}

function give(
  protocol: WireProtocol,
  turn: WireTurn,
  { number, thinks, request }: { number: number; thinks: boolean; request: unknown },
): GivenTurn {
  const mayThink = protocol.letsThink?.(request) ?? true;
  const reasoning = mayThink ? turn.reasoning : undefined;
  const signs = reasoning !== undefined || (thinks && protocol.signsEveryTurn === true);
  return {
    number,
    reasoning,
    text: turn.text ?? '',
    calls: (turn.calls ?? []).map((call, index) => ({
      ...call,
      id: turn.callId ?? protocol.callId(number, index, thinks),
    })),
    finish: turn.finish,
    // Base64, as providers write them; a client that changes a character of it is found out.
    signature: signs
      ? Buffer.from(`signature of turn ${number}, which only this server gave`).toString('base64')
      : undefined,
    request,
  };
}

function reply(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

function stream(response: ServerResponse, events: readonly WireEvent[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  for (const { event, data } of events) {
    const name = event === undefined ? '' : `event: ${event}\n`;
    response.write(`${name}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`);
  }
  response.end();
}
