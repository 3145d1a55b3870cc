import type { RawResponseEvent } from 'countersign/client';
import type { ChatStep } from './chat-step.ts';

/**
 * The text that the model writes, for protocols that can only append. A text that starts over after a retry is buffered
 * until it is complete, and is then sent as a separate text.
 */
export class ChatText {
  readonly #prefix: string;
  #turn = 0;
  #sent = '';
  #isOpen = false;
  /** True: the parts do not continue what was sent. */
  #isBroken = false;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** The id of the message of a turn. */
  idOf(turn: number): string {
    return `${this.#prefix}-${turn}`;
  }

  add({ turn, offset, delta, hidden }: RawResponseEvent): ChatStep[] {
    const steps = turn === this.#turn ? [] : this.end();
    if (turn !== this.#turn) this.#begin(turn);
    this.#isBroken ||= offset !== this.#sent.length || hidden !== undefined;
    return this.#isBroken ? steps : [...steps, ...this.#append(delta)];
  }

  /** The whole text of a turn. */
  complete(turn: number, content: string): ChatStep[] {
    const steps = turn === this.#turn ? [] : this.end();
    if (turn !== this.#turn) this.#begin(turn);
    const continues = content.startsWith(this.#sent);
    if (!continues) {
      steps.push(...this.end());
      this.#sent = '';
    }
    const messageId = continues ? this.idOf(turn) : `${this.idOf(turn)}-again`;
    steps.push(...this.#append(content.slice(this.#sent.length), messageId));
    return [...steps, ...this.#end({ messageId, whole: this.idOf(turn) })];
  }

  /** Ends a text that is being written. */
  end(): ChatStep[] {
    return this.#end({ messageId: this.idOf(this.#turn) });
  }

  #end(message: { messageId: string; whole?: string }): ChatStep[] {
    if (!this.#isOpen) return [];
    this.#isOpen = false;
    return [{ type: 'text_end', ...message }];
  }

  #begin(turn: number): void {
    this.#turn = turn;
    this.#sent = '';
    this.#isBroken = false;
  }

  #append(delta: string, messageId = this.idOf(this.#turn)): ChatStep[] {
    if (delta === '') return [];
    const start: ChatStep[] = this.#isOpen ? [] : [{ type: 'text_start', messageId }];
    this.#isOpen = true;
    this.#sent += delta;
    return [...start, { type: 'text', messageId, delta }];
  }
}
