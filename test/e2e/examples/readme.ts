import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** The commands in the `sh` blocks of a page, one per line, in order. */
export function shellLinesOf(page: string): string[] {
  return blocksOf(page, 'sh').flatMap((block) => block.split('\n').filter((line) => line !== ''));
}

/** The fenced blocks of one language in a page, in order. */
export function blocksOf(page: string, language: string): string[] {
  const text = readFileSync(join(root, page), 'utf8');
  return [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)].flatMap(([, name, block = '']) =>
    name === language ? [block] : [],
  );
}

/** Runs a command line in a shell at the root of the repository, in its own process group. */
export class ShellCommand {
  readonly #child;
  stdout = '';
  stderr = '';

  constructor(alias: string, command: string, env: NodeJS.ProcessEnv) {
    this.#child = spawn('bash', ['-O', 'expand_aliases', '-c', `${alias}\n${command}`], {
      cwd: root,
      env,
      detached: true,
    });
    this.#child.stdin.end();
    this.#child.stdout.on('data', (chunk: Buffer) => (this.stdout += chunk.toString()));
    this.#child.stderr.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()));
  }

  /** Waits for the end and returns the exit code. */
  async ended(): Promise<number | null> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, 'close');
    return this.#child.exitCode;
  }

  /** Sends Ctrl-C as a terminal does: to the whole group. */
  async interrupt(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) process.kill(-this.#child.pid!, 'SIGINT');
    await this.ended();
  }
}
