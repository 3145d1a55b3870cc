/** Resolves when `changed` does, `signal` aborts, or `afterMs` milliseconds are over. Leaves no listener and no timer behind. */
export function changedOrAborted(changed: Promise<void>, signal: AbortSignal, afterMs?: number): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = afterMs === undefined ? undefined : setTimeout(done, afterMs);
    signal.addEventListener('abort', done);
    void changed.then(done);
  });
}
