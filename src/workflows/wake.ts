import { CancellationScope, condition } from '@temporalio/workflow';

interface Waiting {
  predicate: () => boolean;
  resolve: () => void;
}

/** What is seen to whenever a run wakes, before anybody who waits. */
export interface Attendant {
  readonly needsAttention: boolean;
  attend(): void;
}

/**
 * The one place where a run wakes: attendants first, then whoever waits, in the order they came. What a run does next
 * waits here and not at a condition of its own: a worker that takes a run over may find two activations of the first one
 * as one, in which its jobs come in another order (`test/workflows/merged-activations.test.ts`), and the order of
 * commands must be the same (I12).
 */
export class Wake {
  readonly #attendants: readonly Attendant[];
  #waiting: Waiting[] = [];

  constructor(attendants: readonly Attendant[]) {
    this.#attendants = attendants;
    void CancellationScope.nonCancellable(() => this.#attend());
  }

  /** Waits until `predicate` holds. Rejects when the scope it is called in is cancelled. */
  until(predicate: () => boolean): Promise<void> {
    const held = new Promise<void>((resolve) => this.#waiting.push({ predicate, resolve }));
    return Promise.race([held, CancellationScope.current().cancelRequested]);
  }

  async #attend(): Promise<void> {
    const isHeld = ({ predicate }: Waiting): boolean => predicate();
    const isNeeded = ({ needsAttention }: Attendant): boolean => needsAttention;
    for (;;) {
      await condition(() => this.#attendants.some(isNeeded) || this.#waiting.some(isHeld));
      for (const attendant of this.#attendants) attendant.attend();
      const held = this.#waiting.filter(isHeld);
      this.#waiting = this.#waiting.filter((each) => !held.includes(each));
      for (const { resolve } of held) resolve();
    }
  }
}
