import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** The time of a file's last change and its size, as one text; `gone` if there is no file. */
export function fileState(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? 'gone' : `${found.mtimeMs} ${found.size}`;
}

/** Asking the file system is the same on every platform, on network mounts and in containers; events are not. */
const lookEveryMs = 200;

/** Files, each with the state in which somebody has read it. */
export class WatchedFiles {
  readonly #states = new Map<string, string>();

  /** The first state counts: a file may change while others are being read. */
  add(path: string, state: string): void {
    if (!this.#states.has(path)) this.#states.set(path, state);
  }

  /** Takes over the files of `others` that are not among these, as they are now. */
  addOf(others: WatchedFiles): void {
    for (const path of others.#states.keys()) this.add(path, fileState(path));
  }

  /** Waits until files have changed, and then until they change no more, and returns their paths. */
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
