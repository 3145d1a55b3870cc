import type { Receipt } from 'countersign/client';
import type { AskedRequest } from './chat-step.ts';

/** What a turn of a run waits for. */
export class TurnState {
  /** The calls that still do something, or wait for an answer. */
  readonly #running = new Set<string>();
  readonly #open = new Map<string, AskedRequest>();
  /** Of the answers that came just now, by request id. */
  readonly #receipts: ReadonlyMap<string, Receipt>;

  constructor(receipts: readonly Receipt[]) {
    this.#receipts = new Map(receipts.map((receipt) => [receipt.requestId, receipt]));
  }

  /** The requests that the person who chats can answer now: open, and not just answered. */
  get open(): AskedRequest[] {
    return [...this.#open.values()].flatMap((request) => {
      const { accepted = false, code, message = '' } = this.#receipts.get(request.requestId) ?? {};
      if (accepted) return [];
      return code === undefined ? [request] : [{ ...request, refused: { code, message } }];
    });
  }

  /** True if nothing happens before an answer comes. */
  get isIdle(): boolean {
    const asked = new Set(this.open.map(({ callId }) => callId));
    return [...this.#running].every((callId) => asked.has(callId));
  }

  called(callId: string): void {
    this.#running.add(callId);
  }

  asked(request: AskedRequest): void {
    this.#open.set(request.requestId, request);
  }

  settled(requestId: string): void {
    this.#open.delete(requestId);
  }

  /** The call is over, or does not run. */
  ended(callId: string): void {
    this.#running.delete(callId);
  }
}
