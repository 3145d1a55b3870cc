import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { loopback } from './free-port.ts';

/**
 * Answers on a port of the loopback interface with Temporal's UI, which itself answers under any name: by a name that is
 * made to point at this machine (DNS rebinding), any web page could read runs and answer requests there. Requests whose
 * `Host` is not this machine's get 403. Resolves once it listens.
 */
export async function guardUi(port: number, ui: { host: string; port: number }): Promise<() => void> {
  const hosts = new Set([loopback, 'localhost', '[::1]'].map((name) => `${name}:${port}`));
  const server = createServer((asked, answer) => {
    if (hosts.has(asked.headers.host?.toLowerCase() ?? '')) passOn(asked, answer, ui);
    else answer.writeHead(403, { 'content-type': 'text/plain' }).end(`Open http://${loopback}:${port}\n`);
  });
  server.listen(port, loopback);
  await once(server, 'listening');
  // A UI that is shown keeps no process alive.
  server.unref();
  return () => {
    server.close();
    server.closeAllConnections();
  };
}

/** What concerns one connection, and what Node refuses to pass on. */
const ofConnection = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
];

function passOn(asked: IncomingMessage, answer: ServerResponse, ui: { host: string; port: number }): void {
  const { method, url: path } = asked;
  const headers = Object.fromEntries(Object.entries(asked.headers).filter(([name]) => !ofConnection.includes(name)));
  const passed = request({ ...ui, method, path, headers }, (response) => {
    answer.writeHead(response.statusCode ?? 502, response.headers);
    response.pipe(answer);
  });
  passed.on('error', () => {
    if (!answer.headersSent) answer.writeHead(502);
    answer.end();
  });
  answer.on('close', () => passed.destroy());
  asked.pipe(passed);
}

/** An address that no web page can guess, where each of 127.0.0.0/8 is this machine's: on Linux and on Windows. */
export function hiddenLoopback(): string {
  if (process.platform !== 'linux' && process.platform !== 'win32') return loopback;
  return `127.${randomInt(1, 255)}.${randomInt(1, 255)}.${randomInt(1, 255)}`;
}
