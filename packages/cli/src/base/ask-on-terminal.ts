import type { Asking } from 'countersign/adapter';

export function canAsk(): boolean {
  return process.stdin.isTTY && process.stdout.isTTY;
}

/** Returns the result of `ask`; `interrupted` after Ctrl-C; undefined without a terminal, or if its input has ended. */
export async function askOnTerminal<Answer>(
  ask: (asking: Asking) => Promise<Answer>,
): Promise<Answer | 'interrupted' | undefined> {
  // This module is loaded late, so that --help does not wait for it.
  const { LineTerminal } = await import('countersign/adapter');
  const interrupted = new AbortController();
  const interrupt = (): void => interrupted.abort();
  process.on('SIGINT', interrupt);
  try {
    return await LineTerminal.of(process.stdin, process.stdout).use(interrupted.signal, ask);
  } catch (error) {
    if (!interrupted.signal.aborted) throw error;
    return 'interrupted';
  } finally {
    process.off('SIGINT', interrupt);
  }
}

/** Asks on the terminal. Returns true only for `yes`: Enter, Ctrl-C, Ctrl-D and anything else mean no. */
export async function confirm(question: string): Promise<boolean> {
  const answer = await askOnTerminal((asking) => asking.answer(`${question} Type yes to go on: `));
  return answer?.trim().toLowerCase() === 'yes';
}
