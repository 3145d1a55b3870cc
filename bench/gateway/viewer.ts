import { once } from 'node:events';
import { get } from 'node:http';
import { connect } from 'node:net';
import { writtenIn } from './letters.ts';

/** The ages of what one viewer got, in milliseconds. */
export interface Ages {
  /** For each recorded event, the time since the Temporal server wrote it. */
  events: number[];
  /** For each update, the time since the model wrote its newest token. */
  tokens: number[];
}

/** Watches a run over a connection of its own until the stream ends. Resolves `open` once it is connected. */
export function view(url: URL, ages: Ages): { open: Promise<void>; ended: Promise<void> } {
  const open = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const request = get(url, { agent: false, headers: { accept: 'text/event-stream' } }, (response) => {
    if (response.statusCode !== 200) return ended.reject(new Error(`the gateway answered ${response.statusCode}`));
    open.resolve();
    let text = '';
    response.setEncoding('utf8');
    response.on('data', (chunk: string) => {
      const blocks = (text + chunk).split('\n\n');
      text = blocks.pop()!;
      for (const block of blocks) note(block, ages);
    });
    response.on('end', ended.resolve);
    response.on('error', ended.reject);
  });
  request.on('error', (error) => {
    open.reject(error);
    ended.reject(error);
  });
  return { open: open.promise, ended: ended.promise };
}

/** Asks for a stream and never reads it. */
export async function block(url: URL): Promise<() => void> {
  const socket = connect(Number(url.port), url.hostname);
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.pause();
  socket.write(`GET ${url.pathname} HTTP/1.1\r\nhost: ${url.host}\r\naccept: text/event-stream\r\n\r\n`);
  return () => socket.destroy();
}

function note(block: string, ages: Ages): void {
  const nowMs = Date.now();
  const data = /^data: (.*)$/m.exec(block)?.[1];
  if (data === undefined) return;
  const { type, at, delta } = JSON.parse(data) as { type?: string; at?: string; delta?: string };
  const written = type === 'RawResponseEvent' ? writtenIn(delta ?? '').at(-1) : undefined;
  if (written !== undefined) ages.tokens.push(nowMs - written);
  else if (type !== undefined && type !== 'RawResponseEvent') ages.events.push(nowMs - Date.parse(at!));
}
