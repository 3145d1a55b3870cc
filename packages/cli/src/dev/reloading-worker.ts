import { setTimeout as sleep } from 'node:timers/promises';
import type { DeclaredWorker } from 'countersign/dev';
import { WatchedFiles } from './watched-files.ts';
import { runMessage, type WorkerArguments, type WorkerMessage } from './worker-message.ts';
import { fileURLToPath } from 'node:url';
import { signalGroup, spawnBound } from '../dev-server/bound-child.ts';

export type WorkerEvent =
  | { event: 'worker'; agents: string[]; pid: number }
  | { event: 'changed'; files: string[] }
  /** With `kept`, the previous worker goes on. */
  | { event: 'broken'; message: string; kept: boolean }
  | { event: 'ended'; message: string };

/** The longest wait for a replaced worker to end. Then the next one starts, and both run until the old calls end. */
const retiringMs = 2_000;
/** A worker that ends by itself sooner than this is not restarted, because it would end again. */
const soonMs = 5_000;
const stopTimeoutMs = 5_000;

/** A worker that is replaced by a new process whenever a file changes that its module needs. */
export class ReloadingWorker {
  readonly #words: WorkerArguments;
  readonly #tell: (event: WorkerEvent) => void;
  readonly #log: (text: string) => void;
  readonly #children = new Set<WorkerChild>();
  readonly #stopping = new AbortController();
  #serving: WorkerChild | undefined;
  #declared: DeclaredWorker | undefined;

  constructor(words: WorkerArguments, options: { tell: (event: WorkerEvent) => void; log: (text: string) => void }) {
    this.#words = words;
    this.#tell = options.tell;
    this.#log = options.log;
  }

  /** The agents and the policy of the last worker that started; undefined before the first one. */
  get declared(): DeclaredWorker | undefined {
    return this.#declared;
  }

  /** Starts a worker, and the next one whenever it is needed, until `stop`. */
  async run(): Promise<void> {
    try {
      for (;;) {
        const files = await this.#replace();
        await this.#untilNeeded(files);
      }
    } catch (error) {
      if (!this.#stopping.signal.aborted) throw error;
    }
  }

  /** Ends all workers, also those that were replaced and still finish a call. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    for (const child of this.#children) child.retire();
    const timer = setTimeout(() => this.#killAll(), stopTimeoutMs);
    await Promise.all([...this.#children].map(({ ended }) => ended));
    clearTimeout(timer);
  }

  /** Starts a worker, which replaces the present one unless it is broken or outdated. Returns the files to watch. */
  async #replace(): Promise<WatchedFiles> {
    const next = this.#start();
    const { files } = next;
    const loading = new AbortController();
    const outdated = files.changed(AbortSignal.any([loading.signal, this.#stopping.signal]));
    outdated.catch(() => undefined); // it rejects when it is aborted
    const loaded = await Promise.race([next.loaded, outdated.then(() => undefined)]);
    loading.abort();
    // A file changed while the worker was loading, so this worker is not used.
    if (loaded === undefined) {
      next.kill();
      return files;
    }
    if ('failed' in loaded) {
      next.kill();
      // The broken worker may not know all its files, so those of the previous worker are watched, too.
      if (this.#serving !== undefined) files.addOf(this.#serving.files);
      this.#tell({ event: 'broken', message: loaded.failed, kept: this.#serving !== undefined });
      return files;
    }
    await this.#retire();
    this.#stopping.signal.throwIfAborted();
    this.#serving = next;
    this.#declared = loaded;
    next.run();
    this.#tell({ event: 'worker', agents: loaded.agents, pid: next.pid });
    return files;
  }

  /** Waits until files change or the worker ends. A worker that ends soon by itself is not replaced before a change. */
  async #untilNeeded(files: WatchedFiles): Promise<void> {
    const waiting = new AbortController();
    const changed = files.changed(AbortSignal.any([waiting.signal, this.#stopping.signal]));
    changed.catch(() => undefined); // it rejects when it is aborted
    const startedAt = performance.now();
    try {
      const isChanged = changed.then(() => undefined);
      const ended = await Promise.race([isChanged, this.#serving?.ended ?? isChanged]);
      if (ended !== undefined) {
        this.#stopping.signal.throwIfAborted();
        this.#serving = undefined;
        this.#tell({ event: 'ended', message: ended.message });
        if (ended.isKilled || performance.now() - startedAt > soonMs) return;
      }
      this.#tell({ event: 'changed', files: await changed });
    } finally {
      waiting.abort();
    }
  }

  #start(): WorkerChild {
    const child = startWorkerChild(this.#words, this.#log);
    this.#children.add(child);
    void child.ended.then(() => this.#children.delete(child));
    return child;
  }

  async #retire(): Promise<void> {
    const old = this.#serving;
    if (old === undefined) return;
    this.#serving = undefined;
    old.retire();
    await Promise.race([old.ended, sleep(retiringMs, undefined, { ref: false })]);
  }

  #killAll(): void {
    for (const child of this.#children) child.kill();
  }
}

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
    // An error of `send` is ignored, because `ended` reports a process that has just ended.
    run: () => child.connected && child.send(runMessage, () => undefined),
    retire: () => signalGroup(child, 'SIGTERM'),
    kill: () => signalGroup(child, 'SIGKILL'),
  };
}
