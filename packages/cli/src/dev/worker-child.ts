import { fileURLToPath } from 'node:url';
import type { DeclaredWorker } from 'countersign/dev';
import { signalGroup, spawnBound } from '../dev-server/bound-child.ts';
import { WatchedFiles } from './watched-files.ts';
import { type WorkerArguments, type WorkerMessage, runMessage } from './worker-message.ts';

const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
const main = fileURLToPath(new URL(`./worker-main.${extension}`, import.meta.url));
const keptOutput = 4_000;

/** How the process of a worker ended. `isKilled` is true after `kill -9`. */
export interface WorkerEnd {
  message: string;
  isKilled: boolean;
}

export interface WorkerChild {
  readonly pid: number;
  /** The files that the module needs, as far as they are known. */
  readonly files: WatchedFiles;
  /** Resolves with the agents and policy once the worker can run, or with the reason why it cannot. */
  readonly loaded: Promise<DeclaredWorker | { failed: string }>;
  /** Resolves when the process has ended. */
  readonly ended: Promise<WorkerEnd>;
  run(): void;
  /** Asks the worker to accept no more work. Running calls may end first. */
  retire(): void;
  kill(): void;
}

/** Starts the process of a worker. `log` receives what the process writes. */
export function startWorkerChild(words: WorkerArguments, log: (text: string) => void): WorkerChild {
  const child = spawnBound(process.execPath, [main, JSON.stringify(words)], { messages: true });
  const files = new WatchedFiles();
  let lastWords = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      lastWords = (lastWords + text).slice(-keptOutput);
      log(text);
    });
  }
  const ended = new Promise<WorkerEnd>((resolve) => {
    child.once('error', (error) => resolve({ message: `The worker did not start: ${error.message}`, isKilled: false }));
    child.once('close', (_code, signal) => {
      const isKilled = signal === 'SIGKILL';
      const last = lastWords.trim().split('\n').at(-1) || 'no output';
      const message = isKilled ? 'The worker was killed.' : `The worker ended by itself: ${last}`;
      resolve({ message, isKilled });
    });
  });
  const loaded = Promise.withResolvers<DeclaredWorker | { failed: string }>();
  child.on('message', (message) => {
    const received = message as WorkerMessage;
    if ('file' in received) files.add(received.file, received.state);
    else loaded.resolve('ready' in received ? received.ready : received);
  });
  void ended.then(({ message }) => loaded.resolve({ failed: message }));
  return {
    pid: child.pid ?? 0,
    files,
    loaded: loaded.promise,
    ended,
    // The error of `send` is ignored: if the process has just ended, `ended` reports that.
    run: () => child.connected && child.send(runMessage, () => undefined),
    retire: () => signalGroup(child, 'SIGTERM'),
    kill: () => signalGroup(child, 'SIGKILL'),
  };
}
