import type { Receipt } from '../../core/ledger/approval.ts';
import { activations } from '../sandbox/activation.ts';
import type { Moment } from '../sandbox/clock.ts';
import type { MessageKind } from './message-kind.ts';

export interface Received {
  kind: MessageKind<unknown>;
  payload: unknown;
  /** The history event id of a signal, empty if it is not known; undefined for an update. */
  eventId?: string;
  received: Moment;
  /** A worker's answer: `problem` is undefined if the sender still counts. Absent: no worker was asked. */
  checked?: { problem: string | undefined };
  answer?: (receipt: Receipt) => void;
}

interface Queued extends Received {
  activation: number;
  order: number;
}

/** The most messages that wait. To apply them takes about a second; a task that takes five is retried for ever. */
export const maxWaiting = 10_000;

/** The messages to apply, in their order: by activation, then signals by event id, then updates. */
export class MessageQueue {
  readonly #messages: Queued[] = [];
  /** The index of the next message in `#messages`. Removing each message from the front would take quadratic time. */
  #first = 0;
  #isOpen = false;
  #hasChanges = false;
  #needsCommand = false;

  /** False until the gate knows its policies; messages wait until then. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  open(): void {
    this.#isOpen = true;
    this.#hasChanges = true;
  }

  get isEmpty(): boolean {
    return this.#first === this.#messages.length;
  }

  /** True if something arrived since the last run: a message, the result of a lookup, or a fired timer. */
  get hasChanges(): boolean {
    return this.#isOpen && this.#hasChanges;
  }

  /** True if the task must write a command, because a replay may merge a task without one with the next task (I12). */
  get needsCommand(): boolean {
    return this.#needsCommand;
  }

  add(message: Received): void {
    // Signals may arrive out of order, because Temporal buffers them until their handler is set. Updates come last.
    const order = Number(message.eventId || Number.MAX_SAFE_INTEGER);
    const queued = { ...message, activation: activations().number, order };
    let index = this.#messages.length;
    while (index > this.#first && isBefore(queued, this.#messages[index - 1]!)) index -= 1;
    this.#messages.splice(index, 0, queued);
    this.#hasChanges = true;
    // An accepted update is a command in history by itself.
    this.#needsCommand ||= message.eventId !== undefined;
  }

  /** Call this when a lookup has returned or the timer has fired. */
  noteChange(): void {
    this.#hasChanges = true;
    this.#needsCommand = true;
  }

  noteRun(): void {
    this.#hasChanges = false;
  }

  noteCommandWritten(): void {
    this.#needsCommand = false;
  }

  /** True if so many messages wait that an activation could not apply the messages of a list in time (I5). */
  get isFull(): boolean {
    return this.#messages.length - this.#first >= maxWaiting;
  }

  /** Removes the first message and returns it; undefined if none waits. */
  next(): Received | undefined {
    const message = this.#messages[this.#first];
    if (message === undefined) return undefined;
    this.#first += 1;
    if (this.isEmpty) {
      this.#messages.length = 0;
      this.#first = 0;
    }
    return message;
  }

  putBack(message: Received): void {
    if (this.#first === 0) this.#messages.unshift(message as Queued);
    else this.#messages[--this.#first] = message as Queued;
  }

  get eventIds(): string[] {
    return this.#messages.slice(this.#first).flatMap(({ eventId }) => eventId || []);
  }
}

function isBefore(one: Queued, other: Queued): boolean {
  return one.activation === other.activation && one.order < other.order;
}
