import { isCancellation } from '@temporalio/workflow';
import type { Receipt } from '../../core/ledger/approval.ts';

export interface InFlightMessage {
  /** The message's id, if it has one, and the digest of its content (idempotency.ts). */
  id: string | undefined;
  digest: string | undefined;
  blocks: boolean;
  holds: string | undefined;
  /** Called once: with the result of the lookup, or when the run ends first. */
  conclude: (receipt: Receipt) => void;
  /** The receipts for the message's senders if the activity fails, and if the run ends first. */
  failed: Receipt;
  ended: Receipt;
}

/** All messages and other work of the gate in flight. The run does not continue as new before they have ended (I11). */
export class InFlight {
  readonly #messages = new Set<InFlightMessage>();
  #others = 0;

  get isEmpty(): boolean {
    return this.#messages.size === 0 && this.#others === 0;
  }

  get blocks(): boolean {
    return this.some(({ blocks }) => blocks);
  }

  /** True while a request must not expire, because an edit that was sent in time is being checked. */
  holds(requestId: string): boolean {
    return this.some(({ holds }) => holds === requestId);
  }

  find(id: string): InFlightMessage | undefined {
    return [...this.#messages].find((each) => each.id === id);
  }

  some(matches: (message: InFlightMessage) => boolean): boolean {
    return [...this.#messages].some(matches);
  }

  /** Keeps `message` until its lookup returns, then concludes it unless the run has ended. */
  async keep(message: InFlightMessage, lookup: Promise<() => Receipt>): Promise<void> {
    this.#messages.add(message);
    const { failed, ended } = message;
    const apply = await lookup.catch((error: unknown) => () => (isCancellation(error) ? ended : failed));
    if (this.#messages.delete(message)) message.conclude(apply());
  }

  /** Keeps the run from continuing as new until `work` has ended; it must not reject. */
  async wait(work: Promise<void>): Promise<void> {
    this.#others++;
    await work;
    this.#others--;
  }

  /** Refuses every message, because the run ends. Refuses in this same step, so that the journal has the refusals. */
  endAll(): void {
    const all = [...this.#messages];
    this.#messages.clear();
    for (const { conclude, ended } of all) conclude(ended);
  }
}
