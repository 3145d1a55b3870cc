import { CancellationScope, condition } from '@temporalio/workflow';
import { activation } from '../sandbox/activation.ts';

interface Waiter {
  predicate: () => boolean;
  resolve: () => void;
}

/** Something the scheduler does whenever it is due. */
export interface ScheduledTask {
  readonly isDue: boolean;
  run(): void;
}

/**
 * The order of each activation: everything that came in is handed over, then the messages are applied, then waiters go
 * on, and when nobody can go on any more the commands of the gate are written. Commands follow from the state alone,
 * whichever workflow tasks a replay merges (docs/decisions/0023).
 */
export class Scheduler {
  readonly #messages: ScheduledTask;
  readonly #outputs: ScheduledTask;
  #waiters: Waiter[] = [];

  constructor(messages: ScheduledTask, outputs: ScheduledTask) {
    this.#messages = messages;
    this.#outputs = outputs;
    // It goes on when the workflow is cancelled: whoever sent something is answered all the same.
    void CancellationScope.nonCancellable(() => this.#run());
  }

  /**
   * Waits until `predicate` holds, and for the messages of this activation in any case. Rejects when the scope it is
   * called in is cancelled.
   */
  until(predicate: () => boolean): Promise<void> {
    const released = new Promise<void>((resolve) => this.#waiters.push({ predicate, resolve }));
    const scope = CancellationScope.current();
    return scope.cancellable ? Promise.race([released, scope.cancelRequested]) : released;
  }

  async #run(): Promise<never> {
    for (;;) {
      await this.#nextDue();
      if (this.#messages.isDue) this.#messages.run();
      else if (this.#waiters.some(canGoOn)) this.#release();
      else this.#outputs.run();
    }
  }

  /** Resolves when all jobs of the activation were handed over and everybody who could go on has. */
  #nextDue(): Promise<void> {
    let isFirstLook = true;
    return condition(() => {
      // The SDK looks once at the call, while others may still be on their way.
      if (isFirstLook) return (isFirstLook = false);
      if (activation.isBeingHandedOver) return false;
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
