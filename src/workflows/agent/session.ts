/** Handles the messages that the user of a session sends while the run is open. Any other run refuses them. */
import type { Message, RunInput } from '../../contract.ts';
import { byteLength } from '../../core/base/text.ts';
import type { Problem } from '../../core/base/problem.ts';
import type { UserMessage } from '../../core/messages/control.ts';
import { filesProblem, saidText } from '../../core/base/user-files.ts';
import { mostWaiting } from '../../core/messages/viewed.ts';
import { inlineLimits } from '../../core/base/size-limits.ts';
import type { UserMessageHandler } from '../messages/user-message.ts';
import { agentOf, type RunState, type SaidMessage } from './run-state.ts';
import { isFinal, withRefused } from './transcript.ts';

const stoppedByUser = 'the user stopped this turn';

export class UserSession implements UserMessageHandler {
  /** True: the run stays open for its user. False: it ends with the model's first answer without tool calls. */
  readonly isSession: boolean;
  #state: RunState | undefined;
  #isEnding = false;
  #onStop: () => void = () => undefined;
  readonly #measured = new WeakMap<object, number>();

  constructor({ session }: Pick<RunInput, 'session'>) {
    this.isSession = session === true;
  }

  /** Gives the session its state. Messages that came earlier are applied afterwards: they wait for the policies. */
  begin(state: RunState, onStop: () => void): void {
    this.#state = state;
    this.#onStop = onStop;
  }

  /** Refuses further messages, because the run ends and none would reach the model. */
  end(): void {
    this.#isEnding = true;
  }

  /** Returns why the session refuses a message now; undefined if it accepts the message. */
  problem({ content, files = [], stop }: UserMessage): Problem | undefined {
    if (!this.isSession) {
      return { code: 'invalid_message', message: 'this run is no session: it takes no further messages of its user' };
    }
    if (this.#isEnding) return { code: 'run_closed', message: 'the run is ending: start another run' };
    const { messages, config, pendingMessages = [], failedTurn } = this.#state!;
    if (stop === true) return this.#stopProblem;
    if (content === undefined) {
      const message =
        'no model call of this run has failed since its user last said something: there is nothing to retry';
      return failedTurn === undefined ? { code: 'invalid_message', message } : undefined;
    }
    if (pendingMessages.length >= mostWaiting) {
      const message = `${pendingMessages.length} messages wait for the model already: send this one again later`;
      return { code: 'rate_limited', message };
    }
    const { transcriptBytes, fileBytes } = config.sizeLimits ?? inlineLimits;
    const { agent, files: taken } = agentOf(this.#state!);
    const refused = filesProblem(files, agent, taken, fileBytes);
    if (refused !== undefined) return refused;
    const count = messages.length + pendingMessages.length + 1;
    const items =
      this.#bytesOf(messages) + this.#bytesOf(pendingMessages, measuredPart) + this.#bytesOf([content, ...files]);
    // The bytes of the list as JSON: the items, the commas between them, and the brackets.
    const bytes = items + count + 1;
    if (bytes <= transcriptBytes) return undefined;
    const message = `the transcript would pass ${transcriptBytes} bytes: start another run`;
    return { code: 'too_large', message };
  }

  get #stopProblem(): Problem | undefined {
    if (!this.awaitsUser) return undefined;
    return { code: 'invalid_message', message: 'no turn of this run is under way: there is nothing to stop' };
  }

  /** Returns the bytes of all items as JSON. Caches the sum for each list: lists are replaced, never changed. */
  #bytesOf<Item>(items: readonly Item[], measured: (item: Item) => unknown = (item) => item): number {
    const known = this.#measured.get(items);
    if (known !== undefined) return known;
    const bytes = items.reduce((sum, item) => sum + byteLength(JSON.stringify(measured(item))), 0);
    this.#measured.set(items, bytes);
    return bytes;
  }

  /** Applies a message of the user. Returns why all open requests are withdrawn; undefined if they stay open. */
  take({ content, files, messageId, stop, reason = '' }: UserMessage): string | undefined {
    const state = this.#state!;
    const { pendingMessages = [] } = state;
    if (stop === true) {
      state.stopped = { reason: reason.trim() === '' ? stoppedByUser : reason, pending: pendingMessages.length };
      this.#onStop();
      return state.stopped.reason;
    }
    // A message without content is a retry: the model gets the last input again, so a refused input is not set aside.
    if (content !== undefined) this.#setAside(state);
    delete state.failedTurn;
    if (content === undefined) return undefined;
    const words = { content, ...(files !== undefined && { files }) };
    const said: SaidMessage = { role: 'user', ...words, ...(messageId !== undefined && { messageId }) };
    const extended = [...pendingMessages, said];
    this.#measured.set(extended, this.#bytesOf(pendingMessages, measuredPart) + this.#bytesOf([said], measuredPart));
    state.pendingMessages = extended;
    return undefined;
  }

  /** If the agent's check refused the last input, marks it, so that the model never gets it. */
  #setAside(state: RunState): void {
    if (state.failedTurn?.code === 'input_refused') state.messages = withRefused(state.messages);
  }

  /** Finds the message with this id, in the transcript or among those that wait for the model. */
  messageWithId(messageId: string): SaidMessage | undefined {
    const { messages = [], pendingMessages = [] } = this.#state ?? {};
    const isIt = (each: Message | string): each is SaidMessage =>
      typeof each === 'object' && each.role === 'user' && each.messageId === messageId;
    return messages.find(isIt) ?? pendingMessages.find(isIt);
  }

  /** The messages that the model has not received, oldest first. */
  get unheard(): string[] {
    return (this.#state?.pendingMessages ?? []).map(saidText);
  }

  /** Notes that the model call failed. The user then decides how the session goes on. */
  fail(problem: Problem): void {
    this.#state!.failedTurn = problem;
  }

  /** True while the session waits for its user: the model has answered, its turn was stopped, or its call failed. */
  get awaitsUser(): boolean {
    if (!this.isSession || this.#isEnding || this.#state === undefined) return false;
    const { stopped, pendingMessages = [], failedTurn, messages } = this.#state;
    // Messages that waited before the stop go to the model only when the user sends another message.
    if (stopped !== undefined) return pendingMessages.length <= stopped.pending;
    return pendingMessages.length === 0 && (failedTurn !== undefined || isFinal(messages.at(-1)));
  }

  /** Moves the waiting messages into the transcript; false if there are none. Call it only between two turns. */
  moveToTranscript(): boolean {
    const state = this.#state!;
    // If `take` added a message before `fail` set `failedTurn`, in the same step, the input is not marked yet.
    if (state.pendingMessages !== undefined) this.#setAside(state);
    delete state.failedTurn;
    delete state.stopped;
    const { pendingMessages = [], messages, turn } = state;
    if (pendingMessages.length === 0) return false;
    // An earlier version kept waiting messages as plain texts, which a continued run may still carry.
    const said = pendingMessages.map((each) =>
      typeof each === 'string' ? ({ role: 'user', content: each } as const) : each,
    );
    state.messages = [...messages, ...said];
    state.askedAfterTurn = turn;
    delete state.pendingMessages;
    return true;
  }
}

function measuredPart(said: SaidMessage | string): unknown {
  if (typeof said === 'string') return said;
  return said.files === undefined ? said.content : [said.content, said.files];
}
