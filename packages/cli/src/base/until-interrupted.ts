const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** npm forwards a terminal's Ctrl-C to a program that has received it already, so one press arrives twice. */
const samePressMs = 1_000;

/**
 * Resolves with the first signal that asks this process to end. A later one ends the process at once, as by default.
 */
export function untilInterrupted(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const stop = (signal: NodeJS.Signals): void => {
      resolve(signal);
      const letGo = (): void => {
        for (const each of signals) process.removeListener(each, stop);
      };
      setTimeout(letGo, samePressMs).unref();
    };
    for (const each of signals) process.on(each, stop);
  });
}
