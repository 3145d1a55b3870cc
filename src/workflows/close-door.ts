import { defineSignal, setHandler } from '@temporalio/workflow';
import { messageNames } from '../contract.ts';
import { readClose } from '../core/control.ts';
import { isUndecodable, sizeOf } from '../core/undecodable.ts';
import type { Book } from './book.ts';

const closeSignal = defineSignal<[unknown?, string?]>(messageNames.close);

/** Signal `close`: what is open is cancelled, and whoever drives the run is told to end it. */
export class CloseDoor {
  readonly #book: Book;
  readonly #listeners: (() => void)[] = [];
  #reason: string | undefined;

  /** `reason`: why an earlier link of the run was closed, if it was. */
  constructor(book: Book, reason: string | undefined) {
    this.#book = book;
    this.#reason = reason;
    setHandler(closeSignal, (payload, eventId) => this.#onSignal(payload, eventId ?? ''));
  }

  /** Why the run is to end; undefined while it is not. */
  get reason(): string | undefined {
    return this.#reason;
  }

  onClose(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** What came before it, while the link began, counts before it: where something is open that waits for the rules. */
  #onSignal(payload: unknown, eventId: string): void {
    if (!this.#book.isGoverned && this.#book.ledger.open.length > 0) {
      return this.#book.whenGoverned(() => this.#onSignal(payload, eventId), eventId);
    }
    if (isUndecodable(payload)) return this.#book.refuse('undecodable', sizeOf(payload));
    const read = readClose(payload);
    if ('problem' in read) return this.#book.refuse(read.problem.code, sizeOf(payload));
    if (this.#reason !== undefined) return this.#book.refuse('run_closed', sizeOf(payload));
    const { by, reason } = read.message;
    this.#reason = reason ?? `the run was closed${by === undefined ? '' : ` by ${by}`}`;
    this.#book.cancelOpen(this.#reason);
    for (const listener of this.#listeners) listener();
  }
}
