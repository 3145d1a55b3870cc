import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { request } from 'node:http';
import { expect, test } from 'vitest';
import { builtInbox } from '../../../packages/gateway/src/http/inbox/built-inbox.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { openGatewayWorld } from '../../support/gateway-world.ts';

/** The files of the web inbox, as the gateway serves them. */

const world = forAllTests(() => openGatewayWorld({ worker: false }));

/** A request whose path is sent as it is: `fetch` resolves `..` by itself. */
function statusOf(path: string): Promise<{ status: number; text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>();
  const { hostname, port } = new URL(world.gateway.url);
  request({ hostname, port, path }, (response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (part: string) => (text += part));
    response.on('end', () => resolve({ status: response.statusCode!, text }));
  })
    .once('error', reject)
    .end();
  return promise;
}

test('the start page leads to the inbox', async () => {
  for (const path of ['/', '/inbox']) {
    const response = await fetch(new URL(path, world.gateway.url), { redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([302, '/inbox/']);
  }
});

test('every view is the same page, which browsers ask for again', async () => {
  const pages = await Promise.all(
    ['/inbox/', '/inbox/requests/a/b', '/inbox/?tool=x'].map((path) => world.call('GET', path)),
  );
  const texts = await Promise.all(pages.map((page) => page.text()));
  expect(new Set(texts).size).toBe(1);
  expect(texts[0]).toContain('<div id="app">');
  for (const { status, headers } of pages) {
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(headers.get('cache-control')).toBe('no-cache');
    expect(headers.get('content-security-policy')).toContain(`script-src 'self'`);
  }
  const again = await world.call('GET', '/inbox/', undefined, { 'if-none-match': pages[0]!.headers.get('etag')! });
  expect(again.status).toBe(304);
});

test('hashed files are kept for good, in the encoding that the browser takes', async () => {
  const page = await (await world.call('GET', '/inbox/')).text();
  const paths = [...page.matchAll(/(?:src|href)="(\/inbox\/assets\/[^"]+)"/g)].map(([, path]) => path!);
  expect(paths.length).toBeGreaterThanOrEqual(2);
  for (const path of paths) {
    const bodies = await Promise.all(
      ['br', 'gzip', 'identity'].map(async (encoding) => {
        const response = await world.call('GET', path, undefined, { 'accept-encoding': encoding });
        expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
        expect(response.headers.get('content-encoding')).toBe(encoding === 'identity' ? null : encoding);
        return response.text();
      }),
    );
    expect(new Set(bodies).size).toBe(1);
  }
});

test.each([
  '/inbox/../package.json',
  '/inbox/%2e%2e/package.json',
  '/inbox/..%2f..%2fpackage.json',
  '/inbox/assets/../../package.json',
  '/inbox/assets/..%5c..%5cpackage.json',
  '/inbox//etc/passwd',
  '/inbox/assets/none.js',
  '/inbox/constructor',
])('no path leads out of the folder: %s', async (path) => {
  const { status, text } = await statusOf(path);
  expect(text).not.toContain('"countersign"');
  expect(text).not.toContain('root:');
  // The page of a view, or nothing.
  expect(status === 404 || text.includes('<div id="app">')).toBe(true);
});

test('the page has no script or style of its own, and refers to no other server', async () => {
  const page = await (await world.call('GET', '/inbox/')).text();
  expect(page).not.toMatch(/<style|style=|<script(?![^>]* src=)|\son\w+=|https?:\/\//);
});

/** The most bytes of all files. */
const mostBytes = 150_000;

test('all files together have at most 150 kB, gzipped', async () => {
  const folder = await builtInbox(() => undefined);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));
  const bytes = files
    .filter((file) => statSync(file).isFile())
    .map((file) => gzipSync(readFileSync(file)).length)
    .reduce((sum, size) => sum + size, 0);
  expect(bytes).toBeGreaterThan(5_000);
  expect(bytes).toBeLessThanOrEqual(mostBytes);
});
