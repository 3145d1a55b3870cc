import type { Readable, Writable } from 'node:stream';
import { createInterface } from 'node:readline';
import { armingMs } from '../text/console-line.ts';

/** The input of a terminal, such as `process.stdin`. A stream without `isTTY` is not a terminal. */
export type TerminalInput = Readable & { isTTY?: boolean; setRawMode?: (isRaw: boolean) => unknown };
/** The output of a terminal, such as `process.stdout`. */
export type TerminalOutput = Writable & { isTTY?: boolean; columns?: number };

/** What a caller of `use` can do with the terminal. Questions resolve to undefined when the input ends. */
export interface Asking {
  readonly columns: number | undefined;
  readonly print: (text: string) => void;
  /**
   * Asks for a line that decides a request. The question appears after `armingMs` without typing. Earlier typing is
   * dropped, and pasted text is refused. Rejects with the signal's reason as soon as it aborts.
   */
  readonly answer: (question: string, signal?: AbortSignal) => Promise<string | undefined>;
  /** Asks for a text, which may be pasted; each line break in it becomes a blank. Rejects as `answer` does. */
  readonly text: (question: string, signal?: AbortSignal) => Promise<string | undefined>;
}

/** An entered line. `hasPasted` is true if a part of the line was pasted. */
interface Entered {
  text: string;
  hasPasted: boolean;
}

/** A terminal that several callers share: `use` gives it to one caller at a time, in the order of the calls. */
export class LineTerminal {
  static readonly #known = new WeakMap<TerminalInput, LineTerminal>();
  /** The terminals on which a question waits for its answer. */
  static readonly #asking = new Set<LineTerminal>();
  readonly #input: TerminalInput;
  readonly #output: TerminalOutput;
  #question = '';
  #last: Promise<unknown> = Promise.resolve();

  private constructor(input: TerminalInput, output: TerminalOutput) {
    this.#input = input;
    this.#output = output;
  }

  /** Returns the terminal of this input; always the same object for the same input. */
  static of(input: TerminalInput, output: TerminalOutput): LineTerminal {
    const known = this.#known.get(input) ?? new LineTerminal(input, output);
    this.#known.set(input, known);
    return known;
  }

  /** Calls a function that writes log lines, and then prints the pending questions again below them. */
  static logBeside(write: () => void): void {
    for (const terminal of LineTerminal.#asking) terminal.#output.write('\n');
    write();
    for (const terminal of LineTerminal.#asking) terminal.#output.write(terminal.#question);
  }

  /**
   * Calls `ask` once the terminal is free. Returns undefined if the input is not a terminal or has ended. Rejects with
   * the signal's reason as soon as it aborts.
   */
  async use<Answer>(signal: AbortSignal, ask: (asking: Asking) => Promise<Answer>): Promise<Answer | undefined> {
    signal.throwIfAborted();
    const stopped = Promise.withResolvers<never>();
    // An abort while nothing awaits this promise must not be an unhandled rejection.
    stopped.promise.catch(() => undefined);
    const stop = (): void => stopped.reject(signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    // Wait for the calls before this one, and let later calls wait for this one.
    const callsBefore = this.#last;
    const done = Promise.withResolvers<void>();
    this.#last = callsBefore.then(() => done.promise);
    const over = new AbortController();
    try {
      await Promise.race([callsBefore, stopped.promise]);
      signal.throwIfAborted();
      if (!this.#isOpen()) return undefined;
      return await Promise.race([ask(this.#askingUntil(over.signal)), stopped.promise]);
    } finally {
      over.abort(signal.reason);
      signal.removeEventListener('abort', stop);
      done.resolve();
    }
  }

  /** Returns the functions that print and ask on the terminal. They throw once `over` has aborted. */
  #askingUntil(over: AbortSignal): Asking {
    const output = this.#output;
    const until = (signal?: AbortSignal): AbortSignal =>
      signal === undefined ? over : AbortSignal.any([over, signal]);
    const print = (text: string): void => {
      over.throwIfAborted();
      output.write(`${text}\n`);
    };
    return {
      columns: output.columns,
      print,
      answer: async (question, signal) => {
        for (;;) {
          const hasTyped = await this.#untilQuiet(until(signal));
          if (hasTyped) print('What was typed before this question does not count.');
          const line = await this.#read(question, until(signal));
          if (line === undefined || !line.hasPasted) return line?.text;
          print('Pasted text is no answer: type it.');
        }
      },
      text: async (question, signal) => {
        for (;;) {
          const line = await this.#read(question, until(signal));
          if (line === undefined || !controls.test(line.text)) return line?.text;
          print('Only Backspace and Ctrl-U edit a line here: write it again.');
        }
      },
    };
  }

  #isOpen(): boolean {
    const [input, output] = [this.#input, this.#output];
    return input.isTTY === true && output.isTTY === true && !input.readableEnded && !input.destroyed;
  }

  /** Drops typed input until `armingMs` pass without any; true if it dropped some, in raw mode also without Enter. */
  #untilQuiet(signal: AbortSignal): Promise<boolean> {
    const input = this.#input;
    signal.throwIfAborted();
    if (!this.#isOpen()) return Promise.resolve(false);
    let hasTyped = false;
    const quiet = Promise.withResolvers<void>();
    const timer = setTimeout(quiet.resolve, armingMs);
    const take = (chunk: Buffer | string): void => {
      hasTyped = true;
      timer.refresh();
      // In raw mode Ctrl-C sends no signal. First emit the event, because on Windows `kill` calls no handler.
      if (chunk.includes(interruptKey) && !process.emit('SIGINT', 'SIGINT')) process.kill(process.pid, 'SIGINT');
    };
    const stop = (): void => quiet.reject(signal.reason);
    input.setRawMode?.(true);
    input.on('data', take).once('end', quiet.resolve).once('error', quiet.resolve).resume();
    signal.addEventListener('abort', stop, { once: true });
    return quiet.promise
      .finally(() => {
        clearTimeout(timer);
        signal.removeEventListener('abort', stop);
        input.off('data', take).off('end', quiet.resolve).off('error', quiet.resolve).pause();
        if (!input.destroyed) input.setRawMode?.(false);
      })
      .then(() => hasTyped);
  }

  /** Reads one line, which the user can edit. If text is pasted, the line ends with the first Enter after the paste. */
  #read(question: string, signal: AbortSignal): Promise<Entered | undefined> {
    const [input, output] = [this.#input, this.#output];
    signal.throwIfAborted();
    // The input may have ended since the last question.
    if (!this.#isOpen()) return Promise.resolve(undefined);
    const marksPastes = input.setRawMode !== undefined && process.env.TERM !== 'dumb';
    const entered = Promise.withResolvers<Entered | undefined>();
    // Open the interface for one question only: it keeps the process alive, and reads lines that answer nothing.
    const lines = createInterface({ input, terminal: false });
    let line: Entered = { text: '', hasPasted: false };
    let isPasting = false;
    const end = (): void => {
      output.write('\n');
      entered.resolve(undefined);
    };
    const stop = (): void => {
      output.write('\n');
      entered.reject(signal.reason);
    };
    lines.on('line', (text) => {
      // Ignore a last line without Enter, at the end of the input.
      if (input.readableEnded) return;
      for (const piece of text.split(pasteMarks)) {
        if (piece === pasteBegin || piece === pasteEnd) isPasting = piece === pasteBegin;
        else line = { text: line.text + piece, hasPasted: line.hasPasted || (isPasting && piece !== '') };
      }
      if (isPasting) line = { ...line, text: `${line.text} ` };
      else entered.resolve(line);
    });
    // A terminal that disconnects causes an error of the input stream.
    lines.once('close', end).once('error', end);
    signal.addEventListener('abort', stop, { once: true });
    this.#question = question;
    LineTerminal.#asking.add(this);
    output.write(`${marksPastes ? '\u001b[?2004h' : ''}${question}`);
    return entered.promise.finally(() => {
      LineTerminal.#asking.delete(this);
      signal.removeEventListener('abort', stop);
      lines.off('close', end).close();
      if (marksPastes) output.write('\u001b[?2004l');
    });
  }
}

const interruptKey = '\u0003';
/** A terminal with xterm's "bracketed paste" turned on writes these marks before and after a paste. */
const pasteBegin = '\u001b[200~';
const pasteEnd = '\u001b[201~';
const pasteMarks = new RegExp(String.raw`(\u001b\[20[01]~)`);
/** The control characters that keys such as arrows leave in a line. */
const controls = new RegExp(String.raw`[\u0000-\u0008\u000a-\u001f\u007f]`);
