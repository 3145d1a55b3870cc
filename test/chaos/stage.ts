/** The server and the workers of a chaos test, which are killed and restarted. */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { BoundChild } from '../../packages/cli/src/dev-server/bound-child.ts';
import { signalGroup, spawnBound } from '../../packages/cli/src/dev-server/bound-child.ts';
import { freePort } from '../../packages/cli/src/dev-server/free-port.ts';
import type { DevServer } from '../../packages/cli/src/dev-server/start-dev-server.ts';
import { startDevServer } from '../../packages/cli/src/dev-server/start-dev-server.ts';
import { startOn } from '../support/start-on.ts';
import type { Disturbance } from './disturbance.ts';
import type { ChaosSchedule } from './schedule.ts';
import { workerCount } from './plan-disturbances.ts';
import type { WorkerSettings } from './worker.ts';

export interface Stage {
  /** The server's address; it stays the same across restarts. */
  address: string;
  /** Ends the processes that the disturbance names, waits for `downMs` and restarts them. */
  disturb(disturbance: Disturbance): Promise<void>;
  /** The error output of worker processes that ended although nobody killed them; each was replaced. */
  crashes: string[];
  /** Ends the workers for good. */
  stopWorkers(): Promise<void>;
  close(): Promise<void>;
}

export interface StageOptions {
  /** Holds the database and what the tools wrote. */
  folder: string;
  /** The file of the workflow bundle. */
  bundlePath: string;
  caches: ChaosSchedule['caches'];
  log: (line: string) => void;
}

export async function openStage({ folder, bundlePath, caches, log }: StageOptions): Promise<Stage> {
  const port = await freePort();
  const start = (): Promise<DevServer> =>
    startOn(port, () => startDevServer({ uiPort: null, port, dbFile: join(folder, 'temporal.db'), log }));
  let server = await start();
  const { address } = server;
  const crashes: string[] = [];
  let launched = 0;
  const settings = (): WorkerSettings => {
    const maxCachedWorkflows = caches[launched++ % caches.length] ?? undefined;
    return { address, folder, bundlePath, ...(maxCachedWorkflows !== undefined && { maxCachedWorkflows }) };
  };
  const workers = Array.from({ length: workerCount }, () => superviseWorker(settings, (why) => crashes.push(why)));
  await Promise.all(workers.map((each) => each.start()));

  const killServer = async (): Promise<void> => {
    server.kill();
    await server.ended;
  };
  const restartServer = async (): Promise<void> => {
    server = await start();
  };
  return {
    address,
    crashes,
    disturb: async ({ kind, worker, downMs }) => {
      const alone = workers[worker % workers.length]!;
      const ended = kind === 'kill_worker' || kind === 'stop_worker' ? [alone] : kind === 'kill_server' ? [] : workers;
      const withServer = kind === 'kill_server' || kind === 'kill_everything';
      await Promise.all([
        ...ended.map((each) => each.end(kind.startsWith('stop_') ? 'SIGTERM' : 'SIGKILL')),
        ...(withServer ? [killServer()] : []),
      ]);
      await sleep(downMs);
      if (withServer) await restartServer();
      await Promise.all(ended.map((each) => each.start()));
    },
    stopWorkers: async () => {
      await Promise.all(workers.map((each) => each.end('SIGTERM')));
    },
    close: async () => {
      await Promise.all(workers.map((each) => each.end('SIGKILL')));
      await server.stop();
    },
  };
}

interface SupervisedWorker {
  /** Resolves when the worker polls. A worker that ends by itself is started again. */
  start(): Promise<void>;
  /** Resolves when the process has ended. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
}

function superviseWorker(settings: () => WorkerSettings, crashed: (why: string) => void): SupervisedWorker {
  const script = fileURLToPath(new URL('./worker.ts', import.meta.url));
  let wanted = false;
  let running: { child: BoundChild; gone: Promise<void> } | undefined;

  const launch = (): Promise<void> => {
    const child = spawnBound(process.execPath, [script, JSON.stringify(settings())], {});
    let errors = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(-2_000)));
    const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
    running = { child, gone };
    return new Promise<void>((resolve) => {
      child.stdout.on('data', (chunk: Buffer) => chunk.toString().includes('ready') && resolve());
      void gone.then(async () => {
        if (!wanted || running?.child !== child) return resolve();
        crashed(errors.trim());
        await sleep(500);
        if (wanted) await launch();
        resolve();
      });
    });
  };
  return {
    start: () => {
      wanted = true;
      return launch();
    },
    end: async (signal) => {
      wanted = false;
      const ending = running;
      if (ending === undefined) return;
      signalGroup(ending.child, signal);
      await ending.gone;
    },
  };
}
