import { setTimeout as sleep } from 'node:timers/promises';
import { PassThrough } from 'node:stream';
import { armingMs } from '../../src/text/console-line.ts';
import { eventually } from '../support/eventually.ts';

/** A terminal on which a test types. */
export class TypedTerminal {
  readonly input = Object.assign(new PassThrough(), { isTTY: true });
  readonly output = Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
  #shown = '';
  #read = 0;

  constructor() {
    this.output.on('data', (chunk: Buffer) => (this.#shown += chunk.toString()));
  }

  get shown(): string {
    return this.#shown;
  }

  /** Waits until the terminal shows it, after what was waited for before. */
  async shows(text: string | RegExp): Promise<string> {
    return eventually(
      () => `${text} on the terminal, after ${this.#shown.slice(this.#read)}`,
      () => {
        const rest = this.#shown.slice(this.#read);
        const at = typeof text === 'string' ? rest.indexOf(text) : rest.search(text);
        if (at === -1) return undefined;
        this.#read += at + 1;
        return rest;
      },
    );
  }

  /** At once, whether it counts or not. */
  typeNow(text: string): void {
    this.input.write(text);
  }

  /** Types lines that count: each after the next question has stood long enough. */
  async answers(...lines: (string | ((shown: string) => string))[]): Promise<void> {
    for (const line of lines) {
      const shown = await this.shows('[s]kip: ');
      await sleep(armingMs + 20);
      this.typeNow(`${typeof line === 'string' ? line : line(shown)}\n`);
    }
  }
}
