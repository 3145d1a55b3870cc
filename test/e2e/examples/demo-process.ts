import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isRunning } from '../../support/child-processes.ts';

const main = fileURLToPath(new URL('../../../packages/cli/src/demo/main.ts', import.meta.url));

export interface DemoProcessOptions {
  input?: string;
  env?: NodeJS.ProcessEnv;
}

export type DemoLine = { event: string } & Record<string, unknown>;

/** `npm run demo` as a child process with its own temporary folder, in which it must leave nothing. */
export class DemoProcess {
  readonly #child;
  readonly #temporary = mkdtempSync(join(tmpdir(), 'countersign-test-demo-'));
  stdout = '';
  stderr = '';

  constructor(words: string[], options: DemoProcessOptions = {}) {
    const { OPENAI_API_KEY: _key, OPENAI_BASE_URL: _url, COUNTERSIGN_MODEL: _model, ...env } = process.env;
    this.#child = spawn(process.execPath, [main, ...words], {
      env: { ...env, ...options.env, TMPDIR: this.#temporary, NO_COLOR: '1' },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.#child.stdout.on('data', (chunk: Buffer) => (this.stdout += chunk.toString()));
    this.#child.stderr.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
    if (options.input !== undefined) this.#child.stdin.end(options.input);
  }

  /** The events printed so far, with --json. */
  get events(): DemoLine[] {
    const whole = this.stdout.slice(0, this.stdout.lastIndexOf('\n') + 1);
    return whole.split('\n').flatMap((line) => (line.startsWith('{') ? [JSON.parse(line) as DemoLine] : []));
  }

  eventsOf(name: string): DemoLine[] {
    return this.events.filter(({ event }) => event === name);
  }

  interrupt(): void {
    this.#child.kill('SIGINT');
  }

  /** Waits for the end and returns the exit code. */
  async ended(): Promise<number | null> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, 'close');
    return this.#child.exitCode;
  }

  /** Processes that it named and that still run, and the files in its temporary folder. */
  async left(): Promise<unknown[]> {
    const pids = this.events.flatMap(({ pid }) => (typeof pid === 'number' ? [pid] : []));
    const running = await Promise.all(pids.map(async (pid) => ((await isRunning(pid)) ? [pid] : [])));
    return [...running.flat(), ...readdirSync(this.#temporary)];
  }

  /** Call at the end of a test, whatever its result. */
  async dispose(): Promise<void> {
    this.interrupt();
    await this.ended();
    rmSync(this.#temporary, { recursive: true, force: true });
  }
}
