import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getRequestListener } from '@hono/node-server';
import { createMcpHandler } from '@modelcontextprotocol/server';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mcpServer } from '../../packages/mcp/src/index.ts';
import type { OpenToolset, ToolContext, ToolsetListing } from '../../src/agents/definitions.ts';
import { eventually } from '../support/eventually.ts';
import { faultServer, listTools } from './mcp-fault-server.ts';
import { listen } from '../support/listen.ts';

/** The reference server that has something of everything, and servers that cannot be reached. */

const everything = fileURLToPath(import.meta.resolve('@modelcontextprotocol/server-everything/dist/index.js'));
const context = { signal: new AbortController().signal } as ToolContext;

describe('results', () => {
  let opened: OpenToolset;
  let listing: ToolsetListing;
  beforeAll(async () => {
    opened = mcpServer({ name: 'all', command: process.execPath, args: [everything], env: { KEY: 'k' } }).open();
    listing = await opened.list({ fresh: true });
  });
  afterAll(() => opened.close());
  const call = async (tool: string, args: object): Promise<unknown> =>
    listing.tools.find(({ name }) => name === `all__${tool}`)!.execute(args, context);

  test.each<[string, string, object, unknown]>([
    ['text', 'echo', { message: 'hi' }, 'Echo: hi'],
    ['a picture', 'get-tiny-image', {}, expect.stringContaining('\n[image: image/png, 4033 bytes, not passed on]\n')],
    [
      'structured content',
      'get-structured-content',
      { location: 'Chicago' },
      { temperature: 36, conditions: 'Light rain / drizzle', humidity: 82 },
    ],
    [
      'a resource',
      'get-resource-reference',
      { resourceType: 'Text', resourceId: 1 },
      expect.stringMatching(/\[resource: demo:\/\/resource\/dynamic\/text\/1\]\nResource 1: /),
    ],
    [
      'bytes of a resource',
      'get-resource-reference',
      { resourceType: 'Blob', resourceId: 1 },
      expect.stringMatching(/\[resource demo:\/\/resource\/dynamic\/blob\/1: text\/plain, \d+ bytes, not passed on\]/),
    ],
    [
      'links',
      'get-resource-links',
      { count: 1 },
      expect.stringMatching(/\[link: demo:\/\/resource\S+ Blob Resource 1\]/),
    ],
  ])('%s', async (_what, tool, args, result) => {
    expect(await call(tool, args)).toEqual(result);
  });

  test('what the server refuses is an error of the tool', async () => {
    await expect(call('echo', { message: 7 })).rejects.toMatchObject({
      nonRetryable: true,
      message: expect.stringMatching(/^MCP error -32602: /),
    });
  });

  test('the server gets no variable of the worker but those that every program needs', async () => {
    const env = JSON.parse((await call('get-env', {})) as string) as object;
    expect(env).toHaveProperty('KEY', 'k');
    const known = ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER', 'KEY'];
    expect(Object.keys(env).filter((name) => !known.includes(name))).toEqual([]);
  });
});

test.each<[string, Parameters<typeof mcpServer>[0], RegExp]>([
  ['a program that is not there', { name: 'a', command: 'no-such-program' }, /^it cannot be reached \(ENOENT\)/],
  ['one that ends at once', { name: 'a', command: process.execPath, args: ['--eval', '0'] }, /^the connection to it/],
  [
    'one that says nothing',
    { name: 'a', command: process.execPath, args: ['--eval', 'setInterval(() => {}, 1e3)'], startTimeoutMs: 300 },
    /^it did not answer in time/,
  ],
  [
    'one that talks nonsense',
    {
      name: 'a',
      command: process.execPath,
      args: ['--eval', 'setInterval(() => console.log("{}"), 50)'],
      startTimeoutMs: 300,
    },
    /^it did not answer in time/,
  ],
  [
    'an address where nobody listens',
    { name: 'a', url: 'http://127.0.0.1:65535/' },
    /^it cannot be reached \(ECONNREFUSED\)/,
  ],
])('%s: the third attempt comes later', async (_what, options, sentence) => {
  const opened = mcpServer({ ...options, startTimeoutMs: options.startTimeoutMs ?? 1_500 }).open();
  const failures: string[] = [];
  for (let attempt = 0; attempt < 3; attempt++) {
    await opened.list({ fresh: true }).catch((error: Error) => failures.push(error.message));
  }
  expect(failures).toEqual([
    expect.stringMatching(sentence),
    expect.stringMatching(sentence),
    expect.stringMatching(/; it is tried again in 1 s$/),
  ]);
  await opened.close();
});

test('a process that never answered, and heeds no end of its input, has ended when its server is closed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-mcp-'));
  const code = `require('node:fs').writeFileSync('pid', String(process.pid)); setInterval(() => {}, 1e3)`;
  const args = ['--eval', code];
  const opened = mcpServer({ name: 'a', command: process.execPath, args, cwd: folder, startTimeoutMs: 500 }).open();
  await expect(opened.list({ fresh: true })).rejects.toThrow('it did not answer in time');
  const pid = await eventually('the start of the process', () => {
    const file = join(folder, 'pid');
    return existsSync(file) && Number(readFileSync(file, 'utf8'));
  });
  await opened.close();
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  rmSync(folder, { recursive: true });
});

test('a session that the server has forgotten is opened again, once', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-mcp-'));
  listTools(folder, [{ name: 'note' }]);
  const handler = createMcpHandler(() => faultServer(folder, () => undefined));
  let forgets = 0;
  const listener = getRequestListener(async (request) =>
    forgets-- > 0 ? new Response(undefined, { status: 404 }) : handler.fetch(request),
  );
  const server = await listen(createServer((request, response) => void listener(request, response)));
  const opened = mcpServer({ name: 'a', url: `${server.url}/` }).open();
  const names = async (): Promise<string[]> => (await opened.list({ fresh: true })).tools.map(({ name }) => name);
  expect(await names()).toEqual(['a__note']);
  forgets = 1;
  expect(await names()).toEqual(['a__note']);
  forgets = 9;
  await expect(names()).rejects.toThrow('it answered with HTTP 404');
  await opened.close();
  await server.close();
  rmSync(folder, { recursive: true });
});
