import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { Readable } from 'node:stream';
import { listen } from '../../support/listen.ts';

/** The website of a chat, as somebody would write it: its pages, and a proxy to the gateway that says who is signed in. */
export interface FrontEndSite {
  url: string;
  close(): Promise<void>;
}

const kinds: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
};

export async function openFrontEndSite(gatewayUrl: string, headers: Record<string, string>): Promise<FrontEndSite> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-front-ends-'));
  // As people get it: React for development takes several times the work.
  const env = { ...process.env, NODE_ENV: 'production' };
  execFileSync(process.execPath, [join(import.meta.dirname, 'build-front-ends.ts'), folder], { env });
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://site');
    if (/^\/(ag-ui|ai-sdk)\//.test(pathname)) {
      const gone = new AbortController();
      response.once('close', () => gone.abort());
      fetch(new URL(pathname, gatewayUrl), {
        method: request.method!,
        headers: { 'content-type': 'application/json', ...headers },
        ...(request.method === 'POST' && { body: Readable.toWeb(request) as ReadableStream, duplex: 'half' }),
        signal: gone.signal,
      }).then(
        (answer) => {
          response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? '' });
          if (answer.body === null) return response.end();
          return Readable.fromWeb(answer.body as never)
            .on('error', () => response.destroy())
            .pipe(response);
        },
        () => response.destroy(),
      );
      return;
    }
    try {
      const body = readFileSync(join(folder, pathname));
      response.writeHead(200, { 'content-type': kinds[extname(pathname)] ?? 'application/octet-stream' }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  const { url, close } = await listen(server);
  return {
    url,
    close: async () => {
      await close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
