import type { Readable, Writable } from 'node:stream';
import { createInterface, type Interface } from 'node:readline';
import { armingMs } from '../text/console-line.ts';

/** A stream from a terminal, such as `process.stdin`. One without `isTTY` is no terminal. */
export type TerminalInput = Readable & { isTTY?: boolean };
/** A stream to a terminal, such as `process.stdout`. */
export type TerminalOutput = Writable & { isTTY?: boolean; columns?: number };

/** What a caller can do while it has the terminal. */
export interface Asking {
  readonly columns: number | undefined;
  print(text: string): void;
  /** The next line that counts; undefined at the end of the input. */
  line(question: string): Promise<string | undefined>;
}

const unneeded = 'No answer is needed here any more: it was settled elsewhere, its time is over, or the worker stops.';

/** A terminal that callers share: each has it alone, first come, first served. */
export class LineTerminal {
  static readonly #known = new WeakMap<TerminalInput, LineTerminal>();
  /** The terminals that ask a question now. */
  static readonly #asking = new Set<LineTerminal>();
  readonly #input: TerminalInput;
  readonly #output: TerminalOutput;
  #question = '';
  #last: Promise<unknown> = Promise.resolve();

  private constructor(input: TerminalInput, output: TerminalOutput) {
    this.#input = input;
    this.#output = output;
  }

  /** The same one for the same input. */
  static of(input: TerminalInput, output: TerminalOutput): LineTerminal {
    const known = this.#known.get(input) ?? new LineTerminal(input, output);
    this.#known.set(input, known);
    return known;
  }

  /** Writes lines of a log. A question that stands on the terminal is asked again below them. */
  static logBeside(write: () => void): void {
    for (const terminal of LineTerminal.#asking) terminal.#output.write('\n');
    write();
    for (const terminal of LineTerminal.#asking) terminal.#output.write(terminal.#question);
  }

  /**
   * Calls `ask` once the terminal is free. Undefined if it is no terminal, or has ended. Rejects with the signal's reason as
   * soon as it aborts.
   */
  async use<Answer>(signal: AbortSignal, ask: (asking: Asking) => Promise<Answer>): Promise<Answer | undefined> {
    signal.throwIfAborted();
    const stopped = Promise.withResolvers<never>();
    stopped.promise.catch(() => undefined);
    const stop = (): void => stopped.reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    const before = this.#last;
    const done = Promise.withResolvers<void>();
    this.#last = before.then(() => done.promise);
    let isAsked = false;
    try {
      await Promise.race([before, stopped.promise]);
      signal.throwIfAborted();
      isAsked = this.#isOpen();
      if (!isAsked) return undefined;
      return await this.#askNow(stopped.promise, ask);
    } catch (error) {
      if (signal.aborted && isAsked) this.#print(`\n${unneeded}`);
      throw error;
    } finally {
      signal.removeEventListener('abort', stop);
      done.resolve();
    }
  }

  async #askNow<Answer>(stopped: Promise<never>, ask: (asking: Asking) => Promise<Answer>): Promise<Answer> {
    const output = this.#output;
    // Closed after each turn: an open interface would keep the process alive, and collect lines that answer no question.
    const lines = createInterface({ input: this.#input, terminal: false });
    let isOver = false;
    const asking: Asking = {
      columns: output.columns,
      print: (text) => this.#print(text),
      line: async (question) => {
        // The input may have ended between two questions.
        if (!this.#isOpen()) return undefined;
        this.#question = question;
        LineTerminal.#asking.add(this);
        const line = await nextLine(lines, output, question).finally(() => LineTerminal.#asking.delete(this));
        // Never resolves once the turn is over: undefined would mean that the input has ended.
        return isOver ? new Promise(() => undefined) : line;
      },
    };
    try {
      return await Promise.race([ask(asking), stopped]);
    } finally {
      isOver = true;
      LineTerminal.#asking.delete(this);
      lines.close();
    }
  }

  #isOpen(): boolean {
    const [input, output] = [this.#input, this.#output];
    return input.isTTY === true && output.isTTY === true && !input.readableEnded && !input.destroyed;
  }

  #print(text: string): void {
    this.#output.write(`${text}\n`);
  }
}

/** Lines that came before the question, or just after it, do not count: they were typed for something else. */
function nextLine(lines: Interface, output: TerminalOutput, question: string): Promise<string | undefined> {
  output.write(question);
  let quietFromMs = performance.now();
  return new Promise((resolve) => {
    const settle = (line?: string): void => {
      lines.off('line', take).off('close', end).off('error', end);
      resolve(line);
    };
    const end = (): void => settle();
    const take = (line: string): void => {
      const nowMs = performance.now();
      if (nowMs - quietFromMs >= armingMs) return settle(line);
      quietFromMs = nowMs;
      output.write(`Too fast to be meant for this request. ${question}`);
    };
    // A terminal that goes away is an error of the stream.
    lines.on('line', take).once('close', end).once('error', end);
  });
}
