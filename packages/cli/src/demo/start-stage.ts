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
  /** The process id of `countersign dev`. */
  pid: number;
  client: CountersignClient;
  /** The URL of the web inbox. Ends with a slash. */
  inboxUrl: string;
  folder: string;
  /** The log of the agent's tools, one line per action. */
  log: string;
  /** The process id of the first worker. */
  workerPid: number;
  /** Kills the worker by `kill -9`. Resolves when it is gone, with its process id and that of its successor. */
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
  const home = await mkdtemp(join(tmpdir(), 'countersign-demo-'));
  cleanUp.add(() => rm(home, { recursive: true, force: true }));
  // The folder is also removed if this process ends before the orderly clean-up.
  process.once('exit', () => rmSync(home, { recursive: true, force: true }));
  hideOtherServers(home);
  const folder = join(home, 'folder');
  cleanUp.check();
  const { child, ready, worker, killWorker } = startDev({ TIDY_FOLDER: folder }, onEnd);
  const gone = new Promise<unknown>((resolve) => child.once('close', resolve));
  cleanUp.add(async () => {
    signalGroup(child, 'SIGTERM');
    await gone;
  });
  const { address, uiUrl, url: inboxUrl } = await ready;
  // The client is never closed: a call that is being retried would throw from a timer of the SDK.
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

/** Starts `countersign dev` and follows it. `onEnd`: called if it or its worker ends, except by `killWorker`. */
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
  let killed: (() => void) | undefined;
  createInterface({ input: child.stdout }).on('line', (line) => {
    const event = JSON.parse(line) as DevEvent;
    switch (event.event) {
      case 'ready':
        return ready.resolve(event);
      case 'worker':
        pid = event.pid;
        return worker.resolve(pid);
      case 'ended':
        return killed === undefined ? onEnd(new Error(event.message)) : killed();
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
    const gone = new Promise<void>((resolve) => (killed = resolve));
    process.kill(victim, 'SIGKILL');
    await gone;
    killed = undefined;
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
    const isProblem = /^\{"code":.*\}$/.test(last);
    onEnd(
      new Error(
        isProblem
          ? (JSON.parse(last) as { message: string }).message
          : `The development server ended by itself: ${last}`,
      ),
    );
  });
}
