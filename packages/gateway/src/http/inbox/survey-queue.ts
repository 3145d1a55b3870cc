import { ProblemError } from 'countersign/base';

interface Kept<Answer> {
  answer: Promise<Answer>;
  /** The time when the computation ended; undefined while it runs or waits. */
  endedMs?: number;
}

export interface SurveyQueueOptions {
  /** How long the queue reuses an answer, in milliseconds. Default 15,000. */
  keepMs?: number;
  /** How many computations may wait for the running one. Default 4. */
  mostWaiting?: number;
  now?: () => number;
}

/** Runs costly computations one at a time. Callers with the same key share the answer for some seconds. */
export class SurveyQueue<Answer> {
  readonly #kept = new Map<string, Kept<Answer>>();
  readonly #keepMs: number;
  readonly #mostWaiting: number;
  readonly #now: () => number;
  #last: Promise<unknown> = Promise.resolve();

  constructor({ keepMs = 15_000, mostWaiting = 4, now = () => performance.now() }: SurveyQueueOptions = {}) {
    this.#keepMs = keepMs;
    this.#mostWaiting = mostWaiting;
    this.#now = now;
  }

  /** The answer for a key: kept, under way, or made by `compute`. Rejects with `rate_limited` if too many wait. */
  ask(key: string, compute: () => Promise<Answer>): Promise<Answer> {
    for (const [each, { endedMs }] of this.#kept) {
      if (endedMs !== undefined && endedMs + this.#keepMs <= this.#now()) this.#kept.delete(each);
    }
    const known = this.#kept.get(key);
    if (known !== undefined) return known.answer;
    const unfinished = [...this.#kept.values()].filter(({ endedMs }) => endedMs === undefined).length;
    if (unfinished > this.#mostWaiting) {
      const message = 'Other figures are being counted: try again in some seconds.';
      return Promise.reject(new ProblemError({ code: 'rate_limited', message }));
    }
    const answer = this.#last.then(compute);
    const kept: Kept<Answer> = { answer };
    this.#kept.set(key, kept);
    this.#last = answer.then(
      () => {
        kept.endedMs = this.#now();
      },
      // Later callers do not get this failure: the next one computes again.
      () => this.#kept.delete(key),
    );
    return answer;
  }
}
