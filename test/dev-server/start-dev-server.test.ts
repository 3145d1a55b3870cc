import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, readdirSync, readlinkSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Client, Connection } from '@temporalio/client';
import { missingSearchAttributes, namespaceRetentionDays } from '../../src/connection/search-attributes.ts';
import {
  findTemporal,
  startDevServer,
  type DevServer,
  type DevServerOptions,
} from '../../packages/cli/src/dev-server/start-dev-server.ts';
import { isRunning } from '../support/child-processes.ts';
import { eventually } from '../support/eventually.ts';
import { listen } from '../support/listen.ts';

let folder: string;
const started: DevServer[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'countersign-dev-server-'));
});

afterEach(async () => {
  await Promise.all(started.splice(0).map((server) => server.stop()));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

async function start(options: DevServerOptions): Promise<DevServer> {
  const server = await startDevServer(options);
  started.push(server);
  return server;
}

async function withClient<T>(
  server: DevServer,
  work: (client: Client, connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = await Connection.connect({ address: server.address });
  try {
    return await work(new Client({ connection, namespace: server.namespace }), connection);
  } finally {
    await connection.close();
  }
}

describe('a dev server', () => {
  test('listens on free loopback ports, with UI, namespace, search attributes and retention', async () => {
    const server = await start({ namespace: 'trial', retentionDays: 7 });
    expect(server.address).toMatch(/^127\.0\.0\.1:\d+$/);
    expect(server.uiUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect((await fetch(String(server.uiUrl))).status).toBe(200);
    await withClient(server, async (_client, connection) => {
      expect(await missingSearchAttributes(connection, 'trial')).toEqual([]);
      expect(await namespaceRetentionDays(connection, 'trial')).toBe(7);
    });
  });

  test('keeps a run and its unread signal across kill -9, with a database file in a new folder', async () => {
    const dbFile = join(folder, 'state', 'temporal.db');
    const first = await start({ uiPort: null, dbFile });
    expect(first.uiUrl).toBeNull();
    await withClient(first, async (client) => {
      await client.workflow.start('waits', { workflowId: 'waiting', taskQueue: 'nobody', args: ['input'] });
      await client.workflow.getHandle('waiting').signal('decide', { requestId: 'r', approved: true });
    });
    first.kill();
    await first.ended;
    const second = await start({ uiPort: null, dbFile });
    await withClient(second, async (client, connection) => {
      expect((await client.workflow.getHandle('waiting').describe()).status.name).toBe('RUNNING');
      const { events } = await client.workflow.getHandle('waiting').fetchHistory();
      expect(events?.map((event) => event.workflowExecutionSignaledEventAttributes?.signalName)).toContain('decide');
      expect(await missingSearchAttributes(connection, 'default')).toEqual([]);
      expect(await namespaceRetentionDays(connection, 'default')).toBe(30);
    });
  });

  test.each([
    ['that panics without its listener', 'panic: runtime error\n\ngoroutine 1 [running]:\n\tservice.go:277 +0x287'],
    ['that finds its port taken', 'listen tcp 127.0.0.1:1: bind: address already in use\nshutting down'],
  ])('starts another process in place of one %s', async (_case, trace) => {
    const mark = await mkdtemp(join(folder, 'lost-port-'));
    const binary = join(mark, 'temporal');
    const first = `if mkdir "${mark}/tried" 2>/dev/null; then printf '%b\\n' '${trace}' >&2; exit 2; fi`;
    await writeFile(binary, `#!/bin/sh\n${first}\nexec "${await findTemporal()}" "$@"\n`, { mode: 0o755 });
    const server = await start({ uiPort: null, binary });
    expect(await isRunning(server.pid)).toBe(true);
  });

  test('leaves no process after stop, which can be called again', async () => {
    const server = await start({ uiPort: null });
    expect(await isRunning(server.pid)).toBe(true);
    await Promise.all([server.stop(), server.stop()]);
    expect(await isRunning(server.pid)).toBe(false);
    await server.stop();
    await server.ended;
  });

  test.each(['SIGKILL', 'SIGINT'] as const)('ends with the process that started it, ended by %s', async (signal) => {
    const holder = spawn(process.execPath, [join(import.meta.dirname, 'hold-server.ts')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [firstLine] = (await once(holder.stdout.setEncoding('utf8'), 'data')) as [string];
    const serverProcess = Number(firstLine);
    expect(await isRunning(serverProcess)).toBe(true);
    holder.kill(signal);
    await eventually('the end of the server', async () => !(await isRunning(serverProcess)));
  });
});

describe('a dev server that cannot start reports it in one sentence', () => {
  test('port taken', async () => {
    const { port, close } = await listen(createServer());
    const sentence = (flag: string): object => ({
      code: 'server_unreachable',
      message: `The Temporal dev server did not start: port ${port} is taken: stop what listens there or choose another with ${flag}.`,
    });
    await expect(start({ port })).rejects.toMatchObject(sentence('--port'));
    await expect(start({ uiPort: port })).rejects.toMatchObject(sentence('--ui-port'));
    await close();
  });

  test('database file below a path that is not a folder', async () => {
    await writeFile(join(folder, 'file'), '');
    await expect(start({ uiPort: null, dbFile: join(folder, 'file', 'temporal.db') })).rejects.toMatchObject({
      code: 'server_unreachable',
      message: expect.stringMatching(
        /did not start: the folder of the database file, .*file, cannot be made \(\w+\)\.$/,
      ),
    });
  });

  test('database file that is not a database', async () => {
    const dbFile = join(folder, 'text.db');
    await writeFile(dbFile, 'this is text and no database at all, however long it may go on'.repeat(50));
    await expect(start({ uiPort: null, dbFile })).rejects.toMatchObject({
      code: 'server_unreachable',
      message: expect.stringMatching(/did not start: .*not a database/),
    });
  });

  test.each([
    [
      'ends at once, with a reason',
      'echo "first line" >&2\necho "the reason" >&2\nexit 1',
      /did not start: the reason$/,
    ],
    [
      'panics each time',
      "printf 'panic: no listener\\n\\ngoroutine 1:\\n\\tservice.go:277\\n' >&2\nexit 2",
      /did not start: panic: no listener$/,
    ],
    ['ends at once, without one', 'exit 3', /did not start: the process ended before it answered$/],
  ])('binary that %s', async (_case, script, message) => {
    const binary = join(folder, 'broken');
    await writeFile(binary, `#!/bin/sh\n${script}\n`);
    await chmod(binary, 0o755);
    await expect(start({ binary })).rejects.toMatchObject({
      code: 'server_unreachable',
      message: expect.stringMatching(message),
    });
  });

  test('binary that does not exist', async () => {
    await expect(start({ binary: join(folder, 'missing') })).rejects.toMatchObject({
      code: 'server_unreachable',
      message: expect.stringMatching(/did not start: .*ENOENT/),
    });
  });
});

test("Temporal's UI answers under this machine's names only, and its HTTP API answers no page", async () => {
  const server = await start({});
  const { port } = new URL(server.uiUrl!);
  const statusOf = async (host: string, method = 'GET'): Promise<number> => {
    const path = '/api/v1/namespaces/default/workflows';
    const [response] = (await once(
      request({ host: '127.0.0.1', port, path, method, headers: { host } }).end(),
      'response',
    )) as [IncomingMessage];
    response.resume();
    return response.statusCode!;
  };
  // The UI does not know the namespace at once.
  await eventually("Temporal's UI", async () => (await statusOf(`127.0.0.1:${port}`)) === 200);
  expect(await statusOf(`localhost:${port}`)).toBe(200);
  // Node refuses to pass some headers on; a refusal that nobody catches ends the process.
  for (const header of ['Trailer: x', 'TE: trailers', 'Proxy-Authorization: x', 'Keep-Alive: x']) {
    const socket = connect(Number(port), '127.0.0.1');
    socket.write(`GET / HTTP/1.1\r\nHost: localhost:${port}\r\n${header}\r\nConnection: close\r\n\r\n`);
    expect([header, (await text(socket)).split('\r\n')[0]]).toEqual([header, 'HTTP/1.1 200 OK']);
  }
  for (const host of ['evil.example', `evil.example:${port}`, `127.0.0.1.evil.example:${port}`, '127.0.0.1']) {
    expect([host, await statusOf(host), await statusOf(host, 'POST')]).toEqual([host, 403, 403]);
  }
  const others = listeningPorts(server.pid).filter((each) => each !== Number(new URL(`x://${server.address}`).port));
  for (const each of others) {
    const socket = connect(each, '127.0.0.1');
    socket.end(`GET /api/v1/namespaces HTTP/1.1\r\nHost: localhost:${each}\r\nConnection: close\r\n\r\n`);
    // What speaks no HTTP ends the connection, at the latest because nothing more comes.
    const [status = ''] = (await text(socket).catch(() => '')).split('\r\n');
    // 404 is that of the metrics.
    if (status.startsWith('HTTP/')) expect(status).toMatch(/ 40[34] /);
  }
});

/** The TCP ports on which a process listens at 127.0.0.1, by /proc; none where that is missing. */
function listeningPorts(pid: number): number[] {
  if (!existsSync(`/proc/${pid}/fd`)) return [];
  const sockets = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return /socket:\[(\d+)\]/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
      } catch {
        return [];
      }
    }),
  );
  return readFileSync(`/proc/${pid}/net/tcp`, 'utf8')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(
      ([, local = '', , state, , , , , , inode]) =>
        state === '0A' && local.startsWith('0100007F') && sockets.has(inode!),
    )
    .map(([, local]) => parseInt(local!.split(':')[1]!, 16));
}
