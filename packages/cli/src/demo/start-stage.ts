import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createClient, type CountersignClient } from 'countersign/client';
import { countersignFolder } from '../base/countersign-folder.ts';
import type { DevEvent } from '../dev/dev.ts';
import { type BoundChild, signalGroup, spawnBound } from '../dev-server/bound-child.ts';
import type { CleanUp } from '../dev-server/clean-up.ts';
import { hideOtherServers } from '../dev-server/free-port.ts';

/** `countersign dev` in its own process, with a client and the folder that its agent tidies. */
export interface Stage {
  address: string;
  uiUrl: string;
  pid: number;
  client: CountersignClient;
  /** The URL of the web inbox. Ends with a slash. */
  inboxUrl: string;
  folder: string;
  /** The log of the agent's tools, one line per action. */
  log: string;
  workerPid: number;
  /** Kills the worker by `kill -9`. `pid` is that of the killed worker, `next` that of the worker that replaces it. */
  killWorker(): Promise<{ pid: number; next: Promise<number> }>;
}

export interface StageOptions {
  cleanUp: CleanUp;
  /** Called with the error if `countersign dev` or its worker ends by itself. */
  onEnd: (error: Error) => void;
}

const keptOutput = 4_000;

/** Starts server, worker and gateway for the demo, in a folder that is removed at the end. */
export async function startStage({ cleanUp, onEnd }: StageOptions): Promise<Stage> {
  const tempFolder = await mkdtemp(join(tmpdir(), 'countersign-demo-'));
  cleanUp.add(() => rm(tempFolder, { recursive: true, force: true }));
  // If this process ends without the clean-up, the folder is removed as well.
  process.once('exit', () => rmSync(tempFolder, { recursive: true, force: true }));
  hideOtherServers(tempFolder);
  const folder = join(tempFolder, 'folder');
  cleanUp.check(); // a child that starts after the clean-up has begun would never be stopped
  const { child, ready, worker, killWorker } = startDev({ TIDY_FOLDER: folder }, onEnd);
  const gone = new Promise<unknown>((resolve) => child.once('close', resolve));
  cleanUp.add(async () => {
    signalGroup(child, 'SIGTERM');
    await gone;
  });
  const { address, uiUrl, url: inboxUrl } = await ready;
  // The client is never closed, because the SDK would then throw for a call that it is retrying.
  const client = await createClient({ address });
  return {
    address,
    uiUrl: uiUrl ?? '',
    pid: child.pid ?? 0,
    client,
    inboxUrl,
    folder,
    log: `${folder}.log`,
    workerPid: await worker,
    killWorker,
  };
}

/** Starts `countersign dev` and reads its events. Calls `onEnd` if it or a worker ends, unless by `killWorker`. */
function startDev(env: NodeJS.ProcessEnv, onEnd: (error: Error) => void) {
  const words = ['packages/cli/src/main.ts', 'dev', 'examples/tidy/agent.ts', '--json'];
  const freePorts = ['--port', '--ui-port', '--gateway-port'].flatMap((port) => [port, '0']);
  const child = spawnBound(process.execPath, [...words, ...freePorts], {
    cwd: countersignFolder,
    env: { ...process.env, ...env },
  });
  const ready = Promise.withResolvers<Extract<DevEvent, { event: 'ready' }>>();
  let pid = 0;
  let worker = Promise.withResolvers<number>();
  /** Set by `killWorker` while it waits for the end of the worker. */
  let onKilled: (() => void) | undefined;
  createInterface({ input: child.stdout }).on('line', (line) => {
    const event = JSON.parse(line) as DevEvent;
    switch (event.event) {
      case 'ready':
        return ready.resolve(event);
      case 'worker':
        pid = event.pid;
        return worker.resolve(pid);
      case 'ended':
        return onKilled === undefined ? onEnd(new Error(event.message)) : onKilled();
      case 'broken':
        return onEnd(new Error(event.message));
      case 'changed':
        return undefined;
    }
  });
  endWithReason(child, onEnd);
  const killWorker = async (): Promise<{ pid: number; next: Promise<number> }> => {
    const victim = pid;
    worker = Promise.withResolvers();
    const gone = new Promise<void>((resolve) => (onKilled = resolve));
    process.kill(victim, 'SIGKILL');
    await gone;
    onKilled = undefined;
    return { pid: victim, next: worker.promise };
  };
  return { child, ready: ready.promise, worker: worker.promise, killWorker };
}

/** Calls `onEnd` when the child ends, with the last line that it wrote to standard error as the reason. */
function endWithReason(child: BoundChild, onEnd: (error: Error) => void): void {
  let lastWords = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (lastWords = (lastWords + text).slice(-keptOutput)));
  child.once('error', onEnd);
  child.once('close', () => {
    const last = lastWords.trim().split('\n').at(-1) || 'no output';
    // With --json, an error is one line of JSON.
    const isProblem = /^\{"code":.*\}$/.test(last);
    const { message } = isProblem
      ? (JSON.parse(last) as { message: string })
      : { message: `The development server ended by itself: ${last}` };
    onEnd(new Error(message));
  });
}
