import { once } from 'node:events';
import type { Server } from 'node:http';
import { type Socket, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { serve } from '@hono/node-server';
import { afterEach, expect, test } from 'vitest';
import { Hono } from 'hono';
import type { GatewayContext, HttpEnv } from '../../../packages/gateway/src/http/gateway-context.ts';
import {
  sseFrame,
  type SseStream,
  sseResponse,
  type StreamLimits,
} from '../../../packages/gateway/src/http/streams/sse-stream.ts';
import { eventually } from '../../support/eventually.ts';
import { openSse } from './sse-client.ts';

/** What one stream does for a viewer that reads, and against one that does not. */

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

interface Stage {
  url: URL;
  port: number;
  stop: AbortController;
  lines: string[];
}

/** A server whose only page is a stream. */
async function openStage(
  write: (stream: SseStream) => Promise<void>,
  limits: Partial<StreamLimits> = {},
  keyOf?: (url: string) => string,
): Promise<Stage> {
  const stop = new AbortController();
  const lines: string[] = [];
  const gateway = { stopping: stop.signal, log: (line: string) => lines.push(line) } as unknown as GatewayContext;
  const app = new Hono<HttpEnv>();
  app.get('/', (context) => {
    if (keyOf !== undefined) {
      const key = keyOf(context.req.url);
      context.set('principal', { id: key, key, roles: [], groups: [], via: 'token' });
    }
    return sseResponse(context, gateway, write, limits);
  });
  app.onError((error) => new Response(error.message, { status: 429 }));
  const listening = Promise.withResolvers<number>();
  const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, ({ port }) => listening.resolve(port));
  closing.push(() => {
    stop.abort();
    server.close();
    (server as Server).closeAllConnections();
  });
  const port = await listening.promise;
  return { url: new URL(`http://127.0.0.1:${port}/`), port, stop, lines };
}

/** A viewer that asks, and then does not read. */
async function openBlocked(port: number): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  closing.push(() => socket.destroy());
  await once(socket, 'connect');
  socket.pause();
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
  return socket;
}

/** Sends until the stream is over, and counts. */
function sender(frame: Uint8Array) {
  const sent = { frames: 0, isOver: false };
  const write = async (stream: SseStream): Promise<void> => {
    while (await stream.send(frame)) sent.frames += 1;
    sent.isOver = true;
  };
  return { sent, write };
}

const large = sseFrame('large', 'x'.repeat(100_000));

test('frames come in order, however large; heartbeats come between them', async () => {
  const go = Promise.withResolvers<void>();
  const { url } = await openStage(
    async (stream) => {
      await stream.send(sseFrame('one', { n: 1 }, 'a.1.0'));
      await stream.send(large);
      await go.promise;
      await stream.send(sseFrame('two', { n: 2 }));
    },
    { heartbeatMs: 20 },
  );
  const viewer = await openSse(url);
  await eventually('heartbeats', () => viewer.events.filter(({ event }) => event === 'heartbeat').length > 2);
  go.resolve();
  await viewer.ended;
  expect(viewer.events.filter(({ event }) => event !== 'heartbeat')).toEqual([
    { event: 'one', id: 'a.1.0', data: { n: 1 } },
    { event: 'large', data: 'x'.repeat(100_000) },
    { event: 'two', data: { n: 2 } },
  ]);
});

test('a viewer that does not read costs what the socket takes, and is cut off', async () => {
  const { sent, write } = sender(large);
  const { port } = await openStage(write, { stalledMs: 300 });
  const socket = await openBlocked(port);
  await eventually('the stream is over', () => sent.isOver);
  // What the kernel and the socket buffer, and no more.
  expect(sent.frames).toBeGreaterThan(0);
  expect(sent.frames * large.length).toBeLessThan(20_000_000);
  const gone = once(socket, 'close');
  socket.on('error', () => undefined);
  socket.resume();
  await gone;
});

test('a viewer that goes ends its stream', async () => {
  const { sent, write } = sender(sseFrame('tick', {}));
  const { url } = await openStage(write);
  const viewer = await openSse(url);
  await eventually('it reads', () => viewer.events.length > 10);
  await viewer.close();
  await eventually('the stream is over', () => sent.isOver);
});

test('a gateway that stops ends the streams at once, also of viewers that do not read', async () => {
  const { sent, write } = sender(large);
  const { port, stop } = await openStage(write);
  await openBlocked(port);
  let before = -1;
  await eventually('the viewer is stuck', () => {
    const isStuck = sent.frames > 0 && sent.frames === before;
    before = sent.frames;
    return isStuck;
  });
  stop.abort();
  await eventually('the stream is over', () => sent.isOver);
});

test('a stream does not last for ever, and a gateway has a bounded number of them', async () => {
  const wait = (stream: SseStream) =>
    new Promise<void>((resolve) => stream.signal.addEventListener('abort', () => resolve()));
  const { url } = await openStage(wait, { longestMs: 300, most: 1 });
  const viewer = await openSse(url);
  expect((await fetch(url)).status).toBe(429);
  await viewer.ended;
  const next = await openSse(url);
  expect(next.status).toBe(200);
  await next.ended;
});

test('one person cannot take the streams of all others', async () => {
  const wait = (stream: SseStream) =>
    new Promise<void>((resolve) => stream.signal.addEventListener('abort', () => resolve()));
  const keyOf = (url: string): string => new URL(url).search;
  const { url } = await openStage(wait, { longestMs: 1_000, most: 10, mostOfOne: 2 }, keyOf);
  const [eve, ann] = [new URL('?eve', url), new URL('?ann', url)];
  const viewers = [await openSse(eve), await openSse(eve)];
  expect((await fetch(eve)).status).toBe(429);
  viewers.push(await openSse(ann));
  await Promise.all(viewers.map(({ ended }) => ended));
  const next = await openSse(eve);
  expect(next.status).toBe(200);
  await next.ended;
});

test('what fails ends the stream and is logged', async () => {
  const { url, lines } = await openStage(() => Promise.reject(new Error('no such thing')));
  await (
    await openSse(url)
  ).ended;
  expect(lines).toEqual(['A stream ended early: Error: no such thing']);
});

test('HEAD answers with the headers and takes no stream', async () => {
  let written = 0;
  const wait = (stream: SseStream) => {
    written += 1;
    return new Promise<void>((resolve) => stream.signal.addEventListener('abort', () => resolve()));
  };
  const { url } = await openStage(wait, { longestMs: 1_000, most: 1 });
  for (let time = 0; time < 3; time += 1) {
    const response = await fetch(url, { method: 'HEAD' });
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
  }
  expect(written).toBe(0);
  const viewer = await openSse(url);
  expect(viewer.status).toBe(200);
  await viewer.ended;
});

test('a stream of HTTP/1.0 has no chunks', async () => {
  const { url } = await openStage((stream) => stream.send(sseFrame('one', {})).then(() => undefined));
  const { port, pathname } = new URL(url);
  const socket = connect(Number(port), '127.0.0.1');
  socket.write(`GET ${pathname} HTTP/1.0\r\nhost: 127.0.0.1:${port}\r\n\r\n`);
  const answer = await text(socket);
  expect(answer).not.toMatch(/transfer-encoding/i);
  expect(answer.split('\r\n\r\n')[1]).toBe('retry: 1000\n\nevent: one\ndata: {}\n\n');
});
