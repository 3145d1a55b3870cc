import { fileURLToPath } from 'node:url';
import { signalGroup, spawnBound } from '../dev-server/bound-child.ts';
import { WatchedFiles } from './watched-files.ts';
import { type WorkerArguments, type WorkerMessage, runMessage } from './worker-message.ts';

/** Under Node 24 our sources run uncompiled, elsewhere compiled. */
const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
const main = fileURLToPath(new URL(`./worker-main.${extension}`, import.meta.url));
const keptOutput = 4_000;

/** A worker in a process of its own. */
export interface WorkerChild {
  readonly pid: number;
  /** What its module needs, as far as it is known. */
  readonly files: WatchedFiles;
  /** Resolves with the names of its agents when it could run, or with one sentence about why it cannot. */
  readonly loaded: Promise<{ agents: string[] } | { failed: string }>;
  /** Resolves with one sentence when the process has ended. */
  readonly ended: Promise<string>;
  run(): void;
  /** Asks it to take no more work; what runs in it may end first. */
  retire(): void;
  kill(): void;
}

/** Starts the process. `log` gets what it and its module write to their outputs. */
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
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(`The worker did not start: ${error.message}`));
    child.once('close', () => resolve(`The worker ended by itself: ${lastLine(lastWords)}`));
  });
  const loaded = Promise.withResolvers<{ agents: string[] } | { failed: string }>();
  child.on('message', (message) => {
    const told = message as WorkerMessage;
    if ('file' in told) files.add(told.file, told.state);
    else loaded.resolve('ready' in told ? told.ready : told);
  });
  void ended.then((failed) => loaded.resolve({ failed }));
  return {
    pid: child.pid ?? 0,
    files,
    loaded: loaded.promise,
    ended,
    // It may have ended just now, which `ended` tells.
    run: () => child.connected && child.send(runMessage, () => undefined),
    retire: () => signalGroup(child, 'SIGTERM'),
    kill: () => signalGroup(child, 'SIGKILL'),
  };
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) || 'it said nothing';
}
