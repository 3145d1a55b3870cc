import { fileURLToPath } from 'node:url';
import type { DeclaredWorker } from 'countersign/dev';
import { signalGroup, spawnBound } from '../dev-server/bound-child.ts';
import { WatchedFiles } from './watched-files.ts';
import { type WorkerArguments, type WorkerMessage, runMessage } from './worker-message.ts';

/** Under Node 24 the sources run uncompiled, elsewhere compiled. */
const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
const main = fileURLToPath(new URL(`./worker-main.${extension}`, import.meta.url));
const keptOutput = 4_000;

/** How a worker ended: one sentence, and whether it was killed (`kill -9`). */
export interface WorkerEnd {
  message: string;
  isKilled: boolean;
}

export interface WorkerChild {
  readonly pid: number;
  /** The files that its module needs, as far as known. */
  readonly files: WatchedFiles;
  /** Resolves with its agents and policy once it can run, or with one sentence about why it cannot. */
  readonly loaded: Promise<DeclaredWorker | { failed: string }>;
  /** Resolves when the process has ended. */
  readonly ended: Promise<WorkerEnd>;
  run(): void;
  /** Asks it to accept no more work; running calls may end first. */
  retire(): void;
  kill(): void;
}

/** Starts the process. `log` receives the output of the process and its module. */
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
    // The process may have just ended, which `ended` reports.
    run: () => child.connected && child.send(runMessage, () => undefined),
    retire: () => signalGroup(child, 'SIGTERM'),
    kill: () => signalGroup(child, 'SIGKILL'),
  };
}
