import { createInterface } from 'node:readline/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { readTypedAnswer, type TypedAnswer } from './read-typed-answer.ts';

/** Asks the person at standard input until there is an answer. Returns `nobody` if the input ends without one. */
export type AskPerson = (signal: AbortSignal) => Promise<TypedAnswer | 'nobody'>;

const prompt = '  a/approve/yes/y or d/deny/no/n: ';
/** How long input from before the question is discarded: it cannot be an answer. */
const typedAheadMs = 100;

/**
 * On a terminal, asks with an editable line; otherwise the lines of standard input are the answers, in order. The
 * returned function rejects when its `signal` is aborted.
 */
export function createAskPerson(output: NodeJS.WritableStream): AskPerson {
  const nextLine = process.stdin.isTTY ? terminalLine(output) : pipedLine(output);
  return async (signal) => {
    for (;;) {
      const line = await nextLine(signal);
      if (line === undefined) return 'nobody';
      const answer = readTypedAnswer(line);
      if (typeof answer !== 'string') return answer;
      if (answer !== '') output.write(`  ${answer}\n`);
    }
  };
}

type NextLine = (signal: AbortSignal) => Promise<string | undefined>;

function terminalLine(output: NodeJS.WritableStream): NextLine {
  return async (signal) => {
    const lines = createInterface({ input: process.stdin, output, terminal: true });
    // In raw mode, Ctrl-C reaches readline as a key, and this process gets no signal.
    lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
    const closed = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)));
    try {
      await sleep(typedAheadMs, undefined, { signal });
      lines.write(null, { ctrl: true, name: 'u' });
      return await Promise.race([lines.question(prompt, { signal }), closed]);
    } finally {
      lines.close();
    }
  };
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
