import { createInterface } from 'node:readline';
import { LineTerminal } from 'countersign/adapter';
import { readConsoleLine } from 'countersign/card';

/** An answer to one request. */
export type TypedAnswer = { approved: true } | { approved: false; reason?: string };

/** Asks the person at standard input until there is an answer. Returns `nobody` if the input ends without one. */
export type AskPerson = (signal: AbortSignal) => Promise<TypedAnswer | 'nobody'>;

const prompt = '  a/approve/yes/y or d/deny/no/n: ';

/**
 * Asks on a terminal; otherwise the lines of standard input are the answers, in order. The returned function rejects when
 * its `signal` is aborted.
 */
export function createAskPerson(output: NodeJS.WriteStream): AskPerson {
  const nextLine = process.stdin.isTTY && output.isTTY ? terminalLine(output) : pipedLine(output);
  return async (signal) => {
    for (;;) {
      const line = await nextLine(signal);
      if (line === undefined) return 'nobody';
      const answer = readConsoleLine(line);
      if (answer === 'approve') return { approved: true };
      if (answer === 'deny') return { approved: false };
      if (answer === 'skip') return { approved: false, reason: 'skipped' };
      if (line.trim() !== '') output.write('  Please answer a (approve) or d (deny).\n');
    }
  };
}

type NextLine = (signal: AbortSignal) => Promise<string | undefined>;

function terminalLine(output: NodeJS.WriteStream): NextLine {
  const terminal = LineTerminal.of(process.stdin, output);
  return (signal) => terminal.use(signal, (asking) => asking.answer(prompt));
}

function pipedLine(output: NodeJS.WritableStream): NextLine {
  let lines: AsyncIterator<string> | undefined;
  let pending: Promise<IteratorResult<string>> | undefined;
  return async (signal) => {
    lines ??= createInterface({ input: process.stdin })[Symbol.asyncIterator]();
    output.write(prompt);
    // A pending line from an aborted question belongs to the next one.
    pending ??= lines.next();
    const aborted = new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
    const { done, value } = await Promise.race([pending, aborted]);
    pending = undefined;
    output.write('\n');
    return done === true ? undefined : value;
  };
}
