import { ProblemError } from 'countersign/base';

interface Kept<Answer> {
  answer: Promise<Answer>;
  /** When the computation ended; undefined: it has not. */
  endedMs?: number;
}

export interface SurveyQueueOptions {
  /** How long an answer is reused. Default 15 seconds. */
  keepMs?: number;
  /** How many may wait for the one that runs. Default 4. */
  mostWaiting?: number;
  now?: () => number;
}

/** Runs one costly computation at a time, whose answer is shared and reused. If too many wait, it refuses the next. */
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

  /** Throws `rate_limited` if too many wait, and what `compute` throws. */
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
      // A failure is not shared with later callers.
      () => this.#kept.delete(key),
    );
    return answer;
  }
}
