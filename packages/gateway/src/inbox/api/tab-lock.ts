/** A lock that one tab of this browser has at a time. */
export interface TabLock {
  /** Takes it from the tab that has it. */
  readonly take: () => void;
  readonly release: () => void;
}

/** A page at a plain http address of another machine has no locks. */
export function hasLocks(): boolean {
  return 'locks' in navigator;
}

/**
 * Calls `use` when this tab gets the lock, and the function that it returns when the tab has lost the lock. A tab from which
 * it was taken waits for it again. A browser without locks gives it to every tab.
 */
export function holdLock(name: string, use: () => () => void): TabLock {
  let attempt = new AbortController();
  let isHeld = false;
  const request = (steal: boolean): void => {
    attempt.abort();
    const own = new AbortController();
    attempt = own;
    let stopUse: (() => void) | undefined;
    const start = (): void => {
      isHeld = true;
      stopUse = use();
    };
    const stop = (): void => {
      if (stopUse === undefined) return;
      isHeld = false;
      stopUse();
      stopUse = undefined;
    };
    own.signal.addEventListener('abort', stop);
    if (!hasLocks()) return start();
    const hold = (): Promise<void> | undefined => {
      if (own.signal.aborted) return undefined;
      start();
      return new Promise((done) => own.signal.addEventListener('abort', () => done()));
    };
    navigator.locks.request(name, steal ? { steal } : { signal: own.signal }, hold).catch(() => {
      if (own.signal.aborted) return;
      // Either another tab has taken it, or this document gets no lock at all.
      if (stopUse === undefined) return start();
      stop();
      request(false);
    });
  };
  request(false);
  return {
    take: () => {
      if (!isHeld) request(true);
    },
    release: () => attempt.abort(),
  };
}

/** Calls `start` while the tab can be seen, and the function that it returns while it cannot. Returns how to stop. */
export function whileVisible(start: () => () => void): () => void {
  let stop: (() => void) | undefined;
  const look = (): void => {
    if (document.visibilityState === 'visible') stop ??= start();
    else {
      stop?.();
      stop = undefined;
    }
  };
  document.addEventListener('visibilitychange', look);
  look();
  return () => {
    document.removeEventListener('visibilitychange', look);
    stop?.();
    stop = undefined;
  };
}
