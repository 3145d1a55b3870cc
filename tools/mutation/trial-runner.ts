import { fork, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import type { Trial, Verdict } from './trial-process.ts';

/** Loaded modules are never freed, so a process is replaced after this many trials. */
const trialsOfOneProcess = 60;

/** Also a verdict: a test that does not end has detected the mutant. */
export const neverEnds = 'never ends';

/** Runs one trial at a time in its own process, and replaces the process if a trial never ends. */
export class TrialRunner {
  #child: ChildProcess | undefined;
  #trials = 0;

  async try(trial: Trial, longestMs?: number): Promise<Verdict> {
    if (this.#trials === trialsOfOneProcess) this.stop();
    const child = (this.#child ??= fork(join(import.meta.dirname, 'trial-process.ts'), {
      execArgv: ['--disable-warning=ExperimentalWarning'],
    }));
    this.#trials += 1;
    return new Promise((resolve) => {
      const settle = (verdict: Verdict): void => {
        clearTimeout(timer);
        child.removeAllListeners();
        resolve(verdict);
      };
      const end = (killedBy: string): void => {
        if (this.#child === child) this.stop();
        settle({ killedBy, durationsMs: {} });
      };
      const timer = longestMs === undefined ? undefined : setTimeout(() => end(neverEnds), longestMs);
      child.once('message', (verdict: Verdict) => settle(verdict));
      child.once('exit', () => end('the process ended'));
      child.send(trial);
    });
  }

  stop(): void {
    this.#child?.kill('SIGKILL');
    this.#child = undefined;
    this.#trials = 0;
  }
}
