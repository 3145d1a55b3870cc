import type { Receipt } from '../../core/ledger/approval.ts';
import { activation } from '../sandbox/activation.ts';
import type { MessageKind } from './message-kind.ts';

/** One message as its handler received it. */
export interface Received {
  kind: MessageKind<unknown>;
  payload: unknown;
  /** The history event of a signal, empty if it is not known; an update has none. */
  eventId?: string;
  /** Workflow time of the activation that delivered it. */
  receivedAtMs: number;
  /** Answers the sender of an update. */
  answer?: (receipt: Receipt) => void;
}

interface Queued extends Received {
  activation: number;
  order: number;
}

/** What came in and was not applied yet, in the order of history: in each activation signals by event, then updates. */
export class MessageQueue {
  #messages: Queued[] = [];
  #isOpen = false;
  #hasNews = false;
  #owesCommand = false;

  /** False until the gate knows its policies: messages wait. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  open(): void {
    this.#isOpen = true;
    this.#hasNews = true;
  }

  get isEmpty(): boolean {
    return this.#messages.length === 0;
  }

  /** True if something came in since the last run: a message, the result of a lookup, or a fired timer. */
  get hasNews(): boolean {
    return this.#isOpen && this.#hasNews;
  }

  /** True if something came in that history does not keep apart by itself: its task must write a command (I12). */
  get owesCommand(): boolean {
    return this.#owesCommand;
  }

  add(message: Received): void {
    // Handlers that are set late are given what came by their names: the order is that of the events.
    const order = Number(message.eventId || Number.MAX_SAFE_INTEGER);
    const queued = { ...message, activation: activation.number, order };
    const index = this.#messages.findIndex((each) => each.activation === queued.activation && each.order > order);
    this.#messages.splice(index === -1 ? this.#messages.length : index, 0, queued);
    this.#hasNews = true;
    // An update that was accepted stands in history as a command.
    this.#owesCommand ||= message.eventId !== undefined;
  }

  /** A lookup returned, or the timer fired. */
  noteNews(): void {
    this.#hasNews = true;
    this.#owesCommand = true;
  }

  noteRun(): void {
    this.#hasNews = false;
  }

  notePaid(): void {
    this.#owesCommand = false;
  }

  next(): Received | undefined {
    return this.#messages.shift();
  }

  putBack(message: Received): void {
    this.#messages.unshift(message as Queued);
  }

  /** The events of the signals that wait. */
  get eventIds(): string[] {
    return this.#messages.flatMap(({ eventId }) => eventId || []);
  }
}
