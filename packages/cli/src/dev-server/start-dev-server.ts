import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { randomUUID, randomInt } from 'node:crypto';
import { mkdir, access, constants } from 'node:fs/promises';
import { dirname, delimiter, join } from 'node:path';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { searchAttributes, withFileLock } from 'countersign/adapter';
import { ProblemError } from 'countersign/base';
import { signalGroup, spawnBound, type BoundChild } from './bound-child.ts';
import { freePort, isPortFree, loopback } from './free-port.ts';
import { downloadTemporal, type PinnedTemporal, pinnedTemporal, checkTemporal } from './pinned-temporal.ts';

const readyTimeoutMs = 60_000;
const pollIntervalMs = 50;
const dayMs = 86_400_000;

interface StartingServer {
  address: string;
  namespace: string;
  retentionDays: number;
  /** The names of the search attributes that must exist. */
  attributes: readonly string[];
  /** The address of Temporal's UI; null if the server has no UI. */
  ui: { host: string; port: number } | null;
  ended: Promise<void>;
}

/** Tries to prepare the server until all of its parts answer. Throws if its process ends, or after 60 s. */
async function whenReady(server: StartingServer): Promise<void> {
  const deadline = performance.now() + readyTimeoutMs;
  const gone = server.ended.then(() => true);
  for (;;) {
    try {
      return await prepare(server);
    } catch (error) {
      const hasEnded = await Promise.race([gone, sleep(pollIntervalMs, false)]);
      if (hasEnded) throw new Error('the process ended before it answered', { cause: error });
      if (performance.now() > deadline) throw new Error(`no answer in ${readyTimeoutMs / 1_000} s`, { cause: error });
    }
  }
}

/** Sets for how long closed runs are kept. Throws while the server, a search attribute or the UI is not ready. */
async function prepare({ address, namespace, retentionDays, attributes, ui }: StartingServer): Promise<void> {
  const connection = await Connection.connect({ address, connectTimeout: '1s' });
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    const missing = attributes.find((name) => !(name in (customAttributes ?? {})));
    if (missing !== undefined) throw new Error(`search attribute ${missing} is not there yet`);
    await connection.workflowService.updateNamespace({
      namespace,
      config: { workflowExecutionRetentionTtl: msToTs(retentionDays * dayMs) },
    });
    if (ui !== null) {
      const socket = connect(ui);
      await once(socket, 'connect');
      socket.destroy();
    }
  } finally {
    await connection.close();
  }
}

/** Headers that a proxy must not pass on, because they are about one connection, or Node refuses to send them. */
const connectionHeaders = [
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

export interface DevServerOptions {
  /** The port of the gRPC service. Default: a free one, as for 0. */
  port?: number;
  /** The port of Temporal's UI; null for no UI. Default: a free one, as for 0. */
  uiPort?: number | null;
  /** The SQLite file that keeps the server's state across restarts. Default: in memory. */
  dbFile?: string;
  namespace?: string;
  /** The days for which closed runs are kept. Default: 30. */
  retentionDays?: number;
  /** The search attributes to register, by name. Default: those of `contract.ts`. */
  attributes?: Readonly<Record<string, 'KEYWORD_LIST' | 'DATETIME'>>;
  /** The path of the Temporal CLI. Default: the result of `findTemporal`. */
  binary?: string;
  /** Called with lines about progress while the CLI is downloaded or built. */
  log?: (line: string) => void;
}

export interface DevServer {
  /** The address for a client, `127.0.0.1:PORT`. */
  address: string;
  namespace: string;
  uiUrl: string | null;
  pid: number;
  binary: string;
  /** Resolves when the process has ended, for any reason. */
  ended: Promise<void>;
  /** Asks the server to end, and waits for that. It can be called again. */
  stop(): Promise<void>;
  kill(): void;
}

const stopTimeoutMs = 15_000;
const freePortTries = 3;
const keptOutput = 16_384;
const panicLine = /^panic: .*$/m;

/** Starts a server on the loopback interface, which ends with this process. Throws `server_unreachable`. */
export async function startDevServer(options: DevServerOptions = {}): Promise<DevServer> {
  const binary = options.binary ?? (await findTemporal({ log: options.log }));
  const { namespace = 'default', retentionDays = 30, attributes = searchAttributes, dbFile } = options;
  const settings: Settings = { namespace, retentionDays, attributes, dbFile };
  if (dbFile !== undefined) await makeFolderOf(dbFile);
  for (let attempt = 1; ; attempt += 1) {
    const port = await choosePort(options.port, '--port');
    const uiPort = options.uiPort === null ? null : await choosePort(options.uiPort, '--ui-port');
    try {
      return await launch(binary, port, uiPort, settings);
    } catch (error) {
      // Other ports are tried if another process has taken a free port before the server listened on it.
      if (attempt === freePortTries || !lostPort(error as Error)) throw error;
    }
  }
}

/** The settings of the server, without ports, which each attempt chooses anew. */
type Settings = Required<Pick<DevServerOptions, 'namespace' | 'retentionDays' | 'attributes'>> & { dbFile?: string };

/**
 * True if the server ended because another process had taken one of its ports. The server then says so, or it panics
 * (temporalio/cli#667). The cause of the error has the output of the server as its message: see `launch`.
 */
function lostPort({ cause }: Error): boolean {
  const { message: output, cause: error } = cause as Error;
  const text = `${output}\n${(error as Error | undefined)?.message}`;
  return text.includes('address already in use') || panicLine.test(output);
}

async function makeFolderOf(dbFile: string): Promise<void> {
  const folder = dirname(dbFile);
  await mkdir(folder, { recursive: true }).catch((error: NodeJS.ErrnoException) => {
    throw unreachable(`the folder of the database file, ${folder}, cannot be made (${error.code}).`, error);
  });
}

/** Returns the asked port, or a free one for 0 and undefined. Throws if it is taken: `flag` names another. */
async function choosePort(asked: number | undefined, flag: string): Promise<number> {
  if (!asked) return freePort();
  if (await isPortFree(asked)) return asked;
  throw unreachable(`port ${asked} is taken: stop what listens there or choose another with ${flag}.`);
}

/** Starts the server and waits until it is ready. If that fails, ends it, and throws an error with its last output. */
async function launch(binary: string, port: number, uiPort: number | null, settings: Settings): Promise<DevServer> {
  const { namespace, retentionDays, attributes } = settings;
  const ui = uiPort === null ? null : { host: hiddenLoopback(), port: await freePort() };
  const child = spawnBound(binary, serverArguments(port, ui, await freePort(), settings), {});
  let output = '';
  child.stdout.resume(); // a full pipe would block the server
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(-keptOutput);
  });
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
    child.once('error', (error) => {
      output += error.message;
      resolve();
    });
  });
  const address = `${loopback}:${port}`;
  let closeUi: (() => void) | undefined;
  try {
    if (uiPort !== null && ui !== null) closeUi = await guardUi(uiPort, ui);
    await whenReady({ address, namespace, retentionDays, attributes: Object.keys(attributes), ui, ended });
  } catch (error) {
    closeUi?.();
    await stop(child, ended);
    const reason = panicLine.exec(output)?.[0] ?? output.trim().split('\n').at(-1);
    throw unreachable(reason || (error as Error).message, new Error(output, { cause: error }));
  }
  void ended.then(closeUi);
  return {
    address,
    namespace,
    uiUrl: uiPort === null ? null : `http://${loopback}:${uiPort}`,
    // A server that is ready has started, so its process has an id.
    pid: child.pid as number,
    binary,
    ended,
    stop: () => stop(child, ended),
    kill: () => signalGroup(child, 'SIGKILL'),
  };
}

/** Returns the arguments of the server. `ui`: the address for Temporal's UI; null for none. */
function serverArguments(
  port: number,
  ui: { host: string; port: number } | null,
  httpPort: number,
  { namespace, attributes, dbFile }: Settings,
): string[] {
  const cliTypes = { KEYWORD_LIST: 'KeywordList', DATETIME: 'Datetime' } as const;
  const server = ['server', 'start-dev', '--ip', loopback, '--port', String(port), '--log-level', 'error'];
  const uiFlags = ui === null ? ['--headless'] : ['--ui-ip', ui.host, '--ui-port', String(ui.port)];
  // Countersign does not need the HTTP service, so the service answers only to a random host name. Otherwise a web page
  // could send a signal: it would reach the service by its own host name, made to lead to this machine.
  const hosts = JSON.stringify([`${randomUUID()}.invalid`]);
  const http = ['--http-port', String(httpPort), '--dynamic-config-value', `frontend.httpAllowedHosts=${hosts}`];
  const state = dbFile === undefined ? [] : ['--db-filename', dbFile];
  const registered = Object.entries(attributes).flatMap(([name, type]) => [
    '--search-attribute',
    `${name}=${cliTypes[type]}`,
  ]);
  return [...server, ...uiFlags, ...http, ...state, '--namespace', namespace, ...registered];
}

async function stop(child: BoundChild, ended: Promise<void>): Promise<void> {
  signalGroup(child, 'SIGTERM');
  const timer = setTimeout(() => signalGroup(child, 'SIGKILL'), stopTimeoutMs);
  await ended;
  clearTimeout(timer);
}

function unreachable(why: string, cause?: unknown): ProblemError {
  const message = `The Temporal dev server did not start: ${why}`;
  return new ProblemError({ code: 'server_unreachable', message }, { cause });
}

/**
 * Serves Temporal's UI only to requests for a host name of this machine, until the returned function is called. The UI
 * answers to every name, so a web page whose name leads to this machine (DNS rebinding) could read and answer requests.
 */
async function guardUi(port: number, ui: { host: string; port: number }): Promise<() => void> {
  const hosts = new Set([loopback, 'localhost', '[::1]'].map((name) => `${name}:${port}`));
  const server = createServer((incoming, response) => {
    if (hosts.has(incoming.headers.host?.toLowerCase() ?? '')) passOn(incoming, response, ui);
    else response.writeHead(403, { 'content-type': 'text/plain' }).end(`Open http://${loopback}:${port}\n`);
  });
  server.listen(port, loopback);
  await once(server, 'listening');
  // The UI must not keep the process alive.
  server.unref();
  return () => {
    server.close();
    server.closeAllConnections();
  };
}

/** Passes a request on to the UI, and its response back. If the UI does not answer, the status is 502. */
function passOn(incoming: IncomingMessage, response: ServerResponse, ui: { host: string; port: number }): void {
  const { method, url: path } = incoming;
  const headers = Object.fromEntries(
    Object.entries(incoming.headers).filter(([name]) => !connectionHeaders.includes(name)),
  );
  const toUi = request({ ...ui, method, path, headers }, (fromUi) => {
    response.writeHead(fromUi.statusCode ?? 502, fromUi.headers);
    fromUi.pipe(response);
  });
  toUi.on('error', () => {
    if (!response.headersSent) response.writeHead(502);
    response.end();
  });
  response.on('close', () => toUi.destroy());
  incoming.pipe(toUi);
}

/** Returns a random loopback address, which no web page can guess; `loopback` where the system has no other. */
function hiddenLoopback(): string {
  if (process.platform !== 'linux' && process.platform !== 'win32') return loopback;
  return `127.${randomInt(1, 255)}.${randomInt(1, 255)}.${randomInt(1, 255)}`;
}

export interface FindTemporalOptions {
  /** The environment, with `PATH` and the `COUNTERSIGN_…` variables. Default: that of this process. */
  env?: NodeJS.ProcessEnv;
  /** Called with lines about skipped binaries and the download. Default: silent. */
  log?: (line: string) => void;
  /** A signal that aborts a download. */
  signal?: AbortSignal;
  /** Called if no CLI is found. A clone builds one at `pinned.binary`, or returns the reason why that fails. */
  build?: (pinned: PinnedTemporal, why: string) => Promise<string | undefined>;
}

const remedy =
  'Install the temporal CLI (https://docs.temporal.io/cli), or set TEMPORAL_ADDRESS to a server that runs.';

/**
 * Returns the absolute path of the Temporal CLI: `COUNTERSIGN_TEMPORAL_BINARY`, else `temporal` on PATH or in the
 * cache, else a download into the cache. Throws `server_unreachable` with advice on installation.
 */
export async function findTemporal(options: FindTemporalOptions = {}): Promise<string> {
  const { env = process.env, log = () => undefined, signal, build } = options;
  if (env.COUNTERSIGN_TEMPORAL_BINARY) return namedBinary(env.COUNTERSIGN_TEMPORAL_BINARY, env);
  const onPath = await findOnPath('temporal', env);
  if (onPath !== undefined) {
    const check = await checkTemporal(onPath, env);
    if (check.usable) return onPath;
    log(`Skipping ${onPath}, which ${check.reason}.`);
  }
  const pinned = pinnedTemporal(env);
  const { binary, cacheFolder } = pinned;
  if ((await checkTemporal(binary, env)).usable) return binary;
  await mkdir(cacheFolder, { recursive: true });
  const onWait = (holder: string): void => log(`Waiting for process ${holder}, which is getting the Temporal server.`);
  return withFileLock(join(cacheFolder, 'lock'), { onWait, signal }, async () => {
    // Another process may have made the binary while this one waited for the lock.
    if ((await checkTemporal(binary, env)).usable) return binary;
    const download = await downloadTemporal(pinned, { env, log, signal });
    if (download.downloaded) return binary;
    const why = `no temporal on PATH that fits, and ${download.reason}`;
    const whyUnbuilt = build === undefined ? '' : await build(pinned, why);
    if (whyUnbuilt === undefined) return binary;
    const message = `No Temporal dev server: ${why}${whyUnbuilt && `; and ${whyUnbuilt}`}. ${remedy}`;
    throw new ProblemError({ code: 'server_unreachable', message });
  });
}

async function namedBinary(path: string, env: NodeJS.ProcessEnv): Promise<string> {
  const check = await checkTemporal(path, env);
  if (check.usable) return path;
  const message = `COUNTERSIGN_TEMPORAL_BINARY names ${path}, which ${check.reason}: point it at the temporal CLI or unset it.`;
  throw new ProblemError({ code: 'server_unreachable', message });
}

/** Returns the path of a program; undefined if no folder of PATH has it. */
export async function findOnPath(name: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const file = process.platform === 'win32' ? `${name}.exe` : name;
  for (const folder of (env.PATH ?? '').split(delimiter)) {
    if (folder === '') continue; // it would stand for the current folder
    const path = join(folder, file);
    const isExecutable = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isExecutable) return path;
  }
  return undefined;
}
