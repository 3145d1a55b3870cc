import { type Json, visibleText } from 'countersign/base';
import type {
  ApprovalRequestEvent,
  ApprovalResultEvent,
  RecordedEvent,
  RunEvent,
  RunItem,
  CountersignClient,
  Receipt,
} from 'countersign/client';
import { cardOf } from 'countersign/card';
import type { ChatStep, AskedRequest } from './chat-step.ts';
import { ChatText } from './chat-text.ts';
import type { ChatRun, SeenItems } from './seen-run.ts';
import { type ChatThread, answerIdOf, callIdPrefix } from './chat-thread.ts';

/** The calls of a turn that run, and those that wait for an answer. */
class TurnState {
  /** The calls that still do something, or wait for an answer. */
  readonly #running = new Set<string>();
  readonly #open = new Map<string, AskedRequest>();
  /** The receipts of the answers that this request brought, by request id. */
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

/** The progress of a run, as the steps that its front end does not have yet. */
export class ChatProgress {
  readonly #thread: ChatThread;
  readonly #turn: string;
  readonly #seen: SeenItems;
  readonly #prefix: string;
  readonly #text: ChatText;
  readonly #state: TurnState;
  /** What may be shown of the arguments of calls. */
  readonly #arguments = new Map<string, Json>();
  readonly #told = new Set<string>();
  /** How the last request about a call was decided. */
  readonly #decisions = new Map<string, ApprovalResultEvent>();
  /** The ids of the events up to the last one that the front end has. */
  #passed = new Set<string>();
  isOver = false;

  constructor({ thread, workflowId, turn, seen, receipts }: Omit<ChatRun, 'signal'>) {
    this.#thread = thread;
    this.#turn = turn;
    this.#seen = seen;
    this.#prefix = callIdPrefix(workflowId);
    this.#text = new ChatText(this.#prefix);
    this.#state = new TurnState(receipts);
  }

  /** True if the person who chats can answer something now. */
  get asks(): boolean {
    return this.#state.open.length > 0;
  }

  /** True if nothing happens before an answer comes. */
  get isIdle(): boolean {
    return this.#state.isIdle;
  }

  /** Notes which past events the front end has, so that they give no steps. */
  expect(past: readonly RecordedEvent[]): void {
    const last = past.findLastIndex((event) => event.type === 'RunItemEvent' && this.#isSeen(event.item));
    this.#passed = new Set(past.slice(0, last + 1).map(({ id }) => id));
  }

  async *add(event: RunEvent): AsyncGenerator<ChatStep, void, undefined> {
    switch (event.type) {
      case 'RawResponseEvent':
        return yield* this.#text.add(event);
      case 'RunItemEvent':
        return yield* this.#item(event.item, this.#passed.has(event.id));
      case 'ApprovalRequestEvent':
        return yield* this.#asked(event);
      case 'ApprovalResultEvent':
        return yield* this.#decided(event, this.#passed.has(event.id));
      case 'RunCompleteEvent': {
        this.isOver = true;
        const { status, output, failure } = event;
        yield* this.#text.end();
        return yield { type: 'ended', status, output, ...(failure !== undefined && { failure }) };
      }
      case 'gap':
    }
  }

  /** The last step of a stream whose run waits. */
  *wait(): Generator<ChatStep, void, undefined> {
    yield* this.#text.end();
    yield { type: 'waiting', requests: this.#state.open };
  }

  *#item(item: RunItem, isPassed: boolean): Generator<ChatStep, void, undefined> {
    if (item.type === 'message' && item.role === 'assistant') {
      const { turn = 0, content } = item;
      if (!isPassed) yield* this.#text.complete(turn, content);
    }
    if (item.type === 'tool_call') {
      this.#state.called(this.#idOf(item.callId));
      this.#arguments.set(this.#idOf(item.callId), item.arguments ?? {});
      yield* this.#text.end();
    }
    if (item.type === 'tool_result') {
      const { callId, toolName, content, isError, ran } = item;
      const id = this.#idOf(callId);
      this.#state.ended(id);
      if (this.#seen.results.has(id)) return;
      yield* this.#call({ callId, toolName, arguments: this.#arguments.get(id) ?? {} });
      const decision = this.#decisions.get(id)?.decision;
      const denied = ran === 'no' && (decision === 'denied' || decision === 'expired' || decision === 'cancelled');
      yield { type: 'result', callId: id, content, isError, denied };
    }
  }

  async *#asked(event: ApprovalRequestEvent): AsyncGenerator<ChatStep, void, undefined> {
    const { requestId, callId } = event;
    const answerId = answerIdOf(requestId, this.#turn);
    const request = await askedRequest(this.#thread.client, event, { answerId, callId: this.#idOf(callId) });
    this.#state.asked(request);
    yield* this.#call({ callId, toolName: request.toolName, arguments: request.arguments });
    if (!this.#seen.answers.has(answerId)) yield { type: 'asked', request };
  }

  *#decided(event: ApprovalResultEvent, isPassed: boolean): Generator<ChatStep, void, undefined> {
    const { requestId, callId, decision, reason, ran } = event;
    const id = this.#idOf(callId);
    this.#state.settled(requestId);
    if (ran === 'no' && decision !== 'superseded') this.#state.ended(id);
    this.#decisions.set(id, event);
    // The request was replaced by another one, or answered in the tool's place.
    if (isPassed || decision === 'superseded' || decision === 'responded') return;
    const answerId = answerIdOf(requestId, this.#turn);
    yield { type: 'decided', callId: id, answerId, approved: ran !== 'no', reason };
  }

  /** A call comes with its request, whose arguments are the ones to approve, else with its result. */
  *#call(call: { callId: string; toolName: string; arguments: Json }): Generator<ChatStep> {
    const id = this.#idOf(call.callId);
    if (this.#told.has(id) || this.#seen.calls.has(id)) return;
    this.#told.add(id);
    yield { type: 'call', messageId: this.#text.idOf(Number(call.callId.split('.')[0])), ...call, callId: id };
  }

  #isSeen(item: RunItem): boolean {
    if (item.type === 'message')
      return item.role === 'assistant' && this.#seen.texts.has(this.#text.idOf(item.turn ?? 0));
    if (item.type === 'tool_call') return this.#seen.calls.has(this.#idOf(item.callId));
    return item.type === 'tool_result' && this.#seen.results.has(this.#idOf(item.callId));
  }

  #idOf(callId: string): string {
    return `${this.#prefix}-${callId}`;
  }
}

/**
 * A request as a front end shows it. What it shows comes from the redacted request; the event alone, which holds less, is
 * used while no worker answers.
 */
async function askedRequest(
  client: CountersignClient,
  event: ApprovalRequestEvent,
  { answerId, callId }: { answerId: string; callId: string },
): Promise<AskedRequest> {
  const { requestId, workflowId, toolName, digest, deadline } = event;
  const details = await client.approvals.get(requestId, { workflowId }).catch(() => undefined);
  const base = { answerId, requestId, workflowId, callId, toolName, digest };
  if (details === undefined) {
    const message = `'${visibleText(toolName)}' waits for an answer.`;
    return { ...base, arguments: event.arguments, message, deadline };
  }
  const { sentence, warnings } = cardOf(details);
  return {
    ...base,
    arguments: details.arguments,
    message: [sentence.text, ...warnings].join('\n'),
    deadline: details.deadline,
    details,
    ...(details.schema !== undefined && { schema: details.schema }),
  };
}
