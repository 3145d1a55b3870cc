import { createInterface } from 'node:readline/promises';
import { setTimeout as sleep } from 'node:timers/promises';

/** How long input from before the question is discarded: it cannot be an answer. */
const typedAheadMs = 100;

/** True if questions can be asked here. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stdout.isTTY;
}

/** Asks on the terminal. True only for `yes`: Enter alone, Ctrl-C, Ctrl-D and anything else mean no. */
export async function confirm(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stdout, terminal: true });
  const closed = new Promise<string>((resolve) => lines.once('close', () => resolve('')));
  try {
    await sleep(typedAheadMs);
    lines.write(null, { ctrl: true, name: 'u' });
    const answer = await Promise.race([lines.question(`${question} Type yes to go on: `), closed]);
    return answer.trim().toLowerCase() === 'yes';
  } finally {
    lines.close();
  }
}
