const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** npm passes a terminal's Ctrl-C on to a program that got it already: one press arrives twice. */
const samePressMs = 1_000;

/** Resolves with the first signal that asks this process to end; a later one ends it at once, as by default. */
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
