const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Resolves with the first signal that asks this process to end; a second one ends it at once, as by default. */
export function untilInterrupted(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const stop = (signal: NodeJS.Signals): void => {
      for (const each of signals) process.removeListener(each, stop);
      resolve(signal);
    };
    for (const each of signals) process.on(each, stop);
  });
}
