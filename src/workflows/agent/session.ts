/** What the user of a session sends while the run is open. A run that is no session refuses it. */
import type { Message, RunInput } from '../../contract.ts';
import { byteLength } from '../../core/base/byte-length.ts';
import type { Problem } from '../../core/base/problem.ts';
import { inlineLimits } from '../../core/base/size-limits.ts';
import type { UserMessageTaker } from '../messages/user-message.ts';
import type { RunState } from './run-state.ts';

/** The messages that may wait for the model at once. */
const mostPending = 100;

export class UserSession implements UserMessageTaker {
  /** False: the run ends with the model's first answer without tool calls. */
  readonly isSession: boolean;
  #state: RunState | undefined;
  #isEnding = false;
  readonly #measured = new WeakMap<object, number>();

  constructor({ session }: Pick<RunInput, 'session'>) {
    this.isSession = session === true;
  }

  /** No message is applied before this, because the gate has no policies yet. */
  begin(state: RunState): void {
    this.#state = state;
  }

  /** The run ends: no message would reach the model any more. */
  end(): void {
    this.#isEnding = true;
  }

  problem(content: string): Problem | undefined {
    if (!this.isSession) {
      return { code: 'invalid_message', message: 'this run is no session: it takes no further messages of its user' };
    }
    if (this.#isEnding) return { code: 'run_closed', message: 'the run is ending: start another run' };
    const { messages, config, pendingMessages = [] } = this.#state!;
    if (pendingMessages.length >= mostPending) {
      const message = `${pendingMessages.length} messages wait for the model already: send this one again later`;
      return { code: 'rate_limited', message };
    }
    const { transcriptBytes } = config.sizeLimits ?? inlineLimits;
    const lists = [messages, pendingMessages, [content]];
    const count = lists.reduce((sum, list) => sum + list.length, 0);
    // As JSON: the items, commas between them, and brackets.
    const bytes = lists.reduce((sum, list) => sum + this.#bytesOf(list), 0) + count + 1;
    if (bytes <= transcriptBytes) return undefined;
    const message = `the transcript would pass ${transcriptBytes} bytes: start another run`;
    return { code: 'too_large', message };
  }

  /** Of the items. The lists are replaced, never changed: a thousand messages measure the transcript once. */
  #bytesOf(items: readonly (Message | string)[]): number {
    const known = this.#measured.get(items);
    if (known !== undefined) return known;
    const bytes = items.reduce((sum, item) => sum + byteLength(JSON.stringify(item)), 0);
    this.#measured.set(items, bytes);
    return bytes;
  }

  take(content: string): void {
    const state = this.#state!;
    const { pendingMessages = [] } = state;
    const extended = [...pendingMessages, content];
    this.#measured.set(extended, this.#bytesOf(pendingMessages) + this.#bytesOf([content]));
    state.pendingMessages = extended;
  }

  /** True if messages wait for the model. */
  get hasPending(): boolean {
    return (this.#state?.pendingMessages?.length ?? 0) > 0;
  }

  /** True if the model has answered everything, so that the user speaks next. */
  get isAnswered(): boolean {
    return this.isSession && !this.#isEnding && !this.hasPending && isAnswer(this.#state?.messages.at(-1));
  }

  /** Puts what the user has said into the transcript. Call it between two turns only. */
  moveToTranscript(): void {
    const state = this.#state!;
    const { pendingMessages = [], messages, turn } = state;
    if (pendingMessages.length === 0) return;
    state.messages = [...messages, ...pendingMessages.map((content) => ({ role: 'user' as const, content }))];
    state.askedAfterTurn = turn;
    delete state.pendingMessages;
  }
}

function isAnswer(last: Message | undefined): boolean {
  return last?.role === 'assistant' && (last.toolCalls ?? []).length === 0;
}
