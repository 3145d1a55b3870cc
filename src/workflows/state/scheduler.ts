import { CancellationScope, condition } from '@temporalio/workflow';
import { activations } from '../sandbox/activation.ts';

interface Waiter {
  predicate: () => boolean;
  resolve: () => void;
}

export interface ScheduledTask {
  readonly isDue: boolean;
  run(): void;
}

/**
 * Orders each activation: all jobs are handed over, messages are applied, waiters resume, and last the gate writes its
 * commands. So the commands depend only on the state, even if a replay merges tasks (docs/decisions/0007).
 */
export class Scheduler {
  readonly #messages: ScheduledTask;
  readonly #outputs: ScheduledTask;
  #waiters: Waiter[] = [];

  constructor(messages: ScheduledTask, outputs: ScheduledTask) {
    this.#messages = messages;
    this.#outputs = outputs;
    // Go on in a cancelled workflow, so that every sender of a message still gets an answer.
    void CancellationScope.nonCancellable(() => this.#run());
  }

  /** Waits until `predicate` is true and this activation's messages are applied. Rejects if the scope is cancelled. */
  until(predicate: () => boolean): Promise<void> {
    const released = new Promise<void>((resolve) => this.#waiters.push({ predicate, resolve }));
    const scope = CancellationScope.current();
    return scope.cancellable ? Promise.race([released, scope.cancelRequested]) : released;
  }

  /** Runs one thing that is due at a time, in the order of the class, and looks again after each. */
  async #run(): Promise<never> {
    for (;;) {
      await this.#nextDue();
      if (this.#messages.isDue) this.#messages.run();
      else if (this.#waiters.some(canGoOn)) this.#release();
      else this.#outputs.run();
    }
  }

  /** Resolves when all jobs of the activation are handed over, all other code has yielded, and something is due. */
  #nextDue(): Promise<void> {
    let isFirstLook = true;
    return condition(() => {
      // The SDK evaluates this once at the call, while other code may still be about to run.
      if (isFirstLook) return (isFirstLook = false);
      if (activations().isBeingHandedOver) return false;
      return this.#messages.isDue || this.#outputs.isDue || this.#waiters.some(canGoOn);
    });
  }

  #release(): void {
    const released = this.#waiters.filter(canGoOn);
    this.#waiters = this.#waiters.filter((each) => !released.includes(each));
    for (const { resolve } of released) resolve();
  }
}

function canGoOn({ predicate }: Waiter): boolean {
  return predicate();
}
