/** Command lines in this process, each with streams, an environment, signals and an exit code of its own. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import { Readable } from 'node:stream';
import { runCommandLine } from '../../../packages/cli/src/run-command-line.ts';

export interface CliOptions {
  /** Merged into this process's environment; undefined removes a variable. */
  env?: Record<string, string | undefined>;
  input?: string;
  cwd?: string;
}

export interface CliResult {
  code: number | null;
  stdout: string;
  stderr: string;
}

interface CommandLine {
  stdout: string;
  stderr: string;
  /** Members that it finds in `process` in place of the real ones. */
  process: Partial<NodeJS.Process>;
}

const commandLines = new AsyncLocalStorage<CommandLine>();
let isReady = false;

/** From now on, code that a command line has called finds that command line's own members in `process`. */
function prepare(): void {
  if (isReady) return;
  isReady = true;
  const real = process;
  const placeOf = (name: string | symbol): object => {
    const own = commandLines.getStore()?.process;
    return own !== undefined && name in own ? own : real;
  };
  globalThis.process = new Proxy(real, {
    get: (_real, name) => Reflect.get(placeOf(name), name) as unknown,
    set: (_real, name, value) => Reflect.set(placeOf(name), name, value),
  });
  // The library of the command line writes to the streams of the real process.
  for (const name of ['stdout', 'stderr'] as const) {
    const write = real[name].write.bind(real[name]);
    real[name].write = (chunk: string | Uint8Array, ...more: []) => {
      const line = commandLines.getStore();
      if (line === undefined) return write(chunk, ...more);
      line[name] += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
      return true;
    };
  }
}

const running = new Set<Promise<unknown>>();
let alone: Promise<unknown> = Promise.resolve();

/**
 * Runs the command line in this process. A process of its own takes a second of processor time: start one (`startCli`)
 * where the process itself is what the test verifies. The current folder is that of the whole process, so a command line
 * with another one runs alone.
 */
export function cli(args: string[], options: CliOptions = {}): Promise<CliResult> {
  prepare();
  const isAlone = options.cwd !== undefined;
  const result = (isAlone ? Promise.allSettled([alone, ...running]) : alone).then(() => run(args, options));
  const ended = result.then(
    () => undefined,
    () => undefined,
  );
  if (isAlone) alone = ended;
  running.add(ended);
  void ended.then(() => running.delete(ended));
  return result;
}

async function run(args: string[], { env, input, cwd }: CliOptions): Promise<CliResult> {
  const line = commandLine(env, input);
  const folder = process.cwd();
  if (cwd !== undefined) process.chdir(cwd);
  try {
    const code = (await commandLines.run(line, () => runCommandLine(args))) ?? Number(line.process.exitCode ?? 0);
    return { code, stdout: line.stdout, stderr: line.stderr };
  } finally {
    if (cwd !== undefined) process.chdir(folder);
  }
}

function commandLine(env: CliOptions['env'] = {}, input = ''): CommandLine {
  const signals = new EventEmitter();
  return {
    stdout: '',
    stderr: '',
    process: {
      env: environment(env),
      stdin: Readable.from(input === '' ? [] : [Buffer.from(input)]) as typeof process.stdin,
      exitCode: undefined,
      on: signals.on.bind(signals) as never,
      once: signals.once.bind(signals) as never,
      off: signals.off.bind(signals) as never,
      removeListener: signals.removeListener.bind(signals) as never,
    },
  };
}

/** The environment of a command that finds no server: it waits less than tests wait for a server that is busy. */
export const noServer = { COUNTERSIGN_CONNECT_TIMEOUT: '1s' };

/** Runs code of the command line that may change its environment, which is that of all tests of this process. */
export function asCommandLine<T>(work: () => Promise<T>): Promise<T> {
  prepare();
  return commandLines.run(commandLine(), work);
}

/** This process's environment with these changes. */
export function environment(changes: Record<string, string | undefined>): NodeJS.ProcessEnv {
  const merged = { ...process.env, ...changes };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== undefined));
}
