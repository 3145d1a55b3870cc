import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** Returns the time of a file's last change and its size, as one text; `gone` if there is no file. */
export function fileState(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? 'gone' : `${found.mtimeMs} ${found.size}`;
}

/** The time between two polls. Unlike file events, polling also works on network mounts and in containers. */
const lookEveryMs = 200;

/** The files that a worker has read, each with its state at that time. A file with another state has changed. */
export class WatchedFiles {
  readonly #states = new Map<string, string>();

  /** Adds a file with its state. For a file that was added before, keeps the earlier state. */
  add(path: string, state: string): void {
    if (!this.#states.has(path)) this.#states.set(path, state);
  }

  /** Adds the files of `others` that are missing here, each with the state that it has now. */
  addOf(others: WatchedFiles): void {
    for (const path of others.#states.keys()) this.add(path, fileState(path));
  }

  /** Waits until files change, then until they stop changing, and returns their paths. */
  async changed(signal: AbortSignal): Promise<string[]> {
    let before: string | undefined;
    for (;;) {
      const changed = [...this.#states].flatMap(([path, state]) => {
        const now = fileState(path);
        return now === state ? [] : [{ path, now }];
      });
      const seen = changed.length === 0 ? undefined : JSON.stringify(changed);
      if (seen !== undefined && seen === before) return changed.map(({ path }) => path);
      before = seen;
      await sleep(lookEveryMs, undefined, { signal });
    }
  }
}
