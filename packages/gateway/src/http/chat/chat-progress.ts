import { continueTool } from 'countersign/adapter';
import { type Json, visibleText, formatDuration, shownPerson } from 'countersign/base';
import type {
  ApprovalRequestEvent,
  ApprovalResultEvent,
  RecordedEvent,
  RunEvent,
  RunItem,
  Receipt,
  RawResponseEvent,
} from 'countersign/client';
import { cardOf } from 'countersign/card';
import { waitsForOne } from '../inbox/inbox-row.ts';
import { type AskedRequest, type ChatStep, stoppedStep } from './chat-step.ts';
import type { ChatRun, SeenItems, ChatThread, RunOfThread } from './chat-thread.ts';
import { answerIdOf, callIdPrefix } from './chat-thread.ts';

/** Keeps the running calls and the open requests of a turn, and finds the requests that the chat's user can answer. */
class TurnState {
  /** The ids of the calls that still run, or wait for an answer. */
  readonly running = new Set<string>();
  /** The requests that are not settled, by request id. */
  readonly asked = new Map<string, AskedRequest>();
  /** The receipts of the answers that came with this HTTP request, by request id. */
  readonly #receipts: ReadonlyMap<string, Receipt>;

  constructor(receipts: readonly Receipt[]) {
    this.#receipts = new Map(receipts.map((receipt) => [receipt.requestId, receipt]));
  }

  /** The requests that the user can answer now, without those just answered. `refused`: why an answer did not count. */
  get open(): AskedRequest[] {
    return [...this.asked.values()].flatMap((request) => {
      // `details` may show that a request is settled before the event of its settlement arrives.
      if (request.isForOthers === true || request.details?.settled !== undefined) return [];
      const { accepted = false, code, message = '' } = this.#receipts.get(request.requestId) ?? {};
      if (accepted) return [];
      return code === undefined ? [request] : [{ ...request, refused: { code, message } }];
    });
  }

  /** The requests that wait for other people: the user may not answer, or has just voted and more votes are needed. */
  get others(): AskedRequest[] {
    return [...this.asked.values()].filter(({ requestId, isForOthers = false }) => {
      const { accepted = false, outcome } = this.#receipts.get(requestId) ?? {};
      return isForOthers || (accepted && outcome === undefined);
    });
  }

  /** True if every running call waits for an answer, so that nothing happens before an answer arrives. */
  get isIdle(): boolean {
    // After a vote that settles nothing, the stream must not end at once, because the page would repeat the vote.
    const others = this.others.filter(({ requestId }) => !this.#receipts.has(requestId));
    const waiting = new Set([...this.open, ...others].map(({ callId }) => callId));
    return [...this.running].every((callId) => waiting.has(callId));
  }
}

/** Translates the events of a run into the steps that the front end does not have yet. */
export class ChatProgress {
  readonly #thread: ChatThread;
  readonly #run: RunOfThread;
  /** The id of the user's new message, until the event of that message arrives. Otherwise undefined. */
  #awaits: string | undefined;
  /** The model's last text. `finish` says why the text may be incomplete. */
  #said: Pick<ChatStep & { type: 'ended' }, 'output' | 'finish'> = { output: '' };
  readonly #seen: SeenItems;
  readonly #prefix: string;
  readonly #text: ChatText;
  readonly #state: TurnState;
  /** The arguments of each call, as the model wrote them. */
  readonly #arguments = new Map<string, Json>();
  /** The ids of the calls that this stream has sent. */
  readonly #sentCalls = new Set<string>();
  /** The arguments, as JSON, of the calls that the front end has. */
  readonly #shown = new Map<string, string>();
  readonly #decisions = new Map<string, ApprovalResultEvent>();
  /** The ids of the past events, up to the last one that the front end has received. */
  #passed = new Set<string>();
  isOver = false;

  constructor({ thread, run, workflowId, said, seen, receipts }: Omit<ChatRun, 'signal'>) {
    this.#thread = thread;
    this.#run = run;
    this.#awaits = said;
    this.#seen = seen;
    this.#prefix = callIdPrefix(workflowId, run);
    this.#text = new ChatText(this.#prefix);
    this.#state = new TurnState(receipts);
  }

  get asks(): boolean {
    return this.#state.open.length > 0;
  }

  get others(): readonly AskedRequest[] {
    return this.#state.others;
  }

  get isIdle(): boolean {
    return this.#state.isIdle;
  }

  get awaitsMessage(): boolean {
    return this.#awaits !== undefined;
  }

  /** Remembers which past events the front end has. Their texts are not sent again. */
  expect(past: readonly RecordedEvent[]): void {
    const last = past.findLastIndex((event) => event.type === 'RunItemEvent' && this.#isSeen(event.item));
    this.#passed = new Set(past.slice(0, last + 1).map(({ id }) => id));
  }

  /** The steps for the next event of the run. Sets `isOver` at the event that ends the turn or the run. */
  async *add(event: RunEvent): AsyncGenerator<ChatStep, void, undefined> {
    switch (event.type) {
      case 'RawResponseEvent':
        return yield* this.#text.add(event);
      case 'RunItemEvent':
        return yield* this.#item(event.item, this.#passed.has(event.id));
      case 'ApprovalRequestEvent':
        return yield* this.#asked(event);
      case 'ApprovalResultEvent':
        return yield* this.#decided(event);
      case 'RunCompleteEvent': {
        this.isOver = true;
        const { status, output, finish, failure } = event;
        yield* this.#text.end();
        const more = { ...(finish !== undefined && { finish }), ...(failure !== undefined && { failure }) };
        return yield { type: 'ended', status, output, ...more };
      }
      // The events of a gap are missing, so there are no steps for them.
      case 'gap':
    }
  }

  *wait(): Generator<ChatStep, void, undefined> {
    yield* this.#text.end();
    yield { type: 'waiting', requests: this.#state.open };
  }

  /** The steps for a message, a call, a result or the end of a turn. `isPassed`: the front end has its text already. */
  *#item(item: RunItem, isPassed: boolean): Generator<ChatStep, void, undefined> {
    if (item.type === 'message' && item.role === 'user' && item.messageId === this.#awaits) this.#awaits = undefined;
    if (item.type === 'message' && item.role === 'assistant') {
      const { turn = 0, content, finish } = item;
      this.#said = { output: content, ...(finish !== undefined && { finish }) };
      if (!isPassed) yield* this.#text.complete(turn, content);
    }
    // Before the event of the user's message arrives, a `turn_ended` ends the previous turn.
    if (item.type === 'turn_ended' && this.#awaits === undefined) {
      this.isOver = true;
      yield* this.#text.end();
      const { failure } = item;
      if (item.stopped) yield stoppedStep;
      else if (failure === undefined) yield { type: 'ended', status: 'completed', ...this.#said };
      else yield { type: 'ended', status: 'failed', output: '', failure };
    }
    if (item.type === 'tool_call') {
      this.#state.running.add(this.#idOf(item.callId));
      this.#arguments.set(this.#idOf(item.callId), item.arguments ?? {});
      yield* this.#text.end();
    }
    if (item.type === 'tool_result') {
      const { callId, toolName, content, isError, ran } = item;
      const id = this.#idOf(callId);
      this.#state.running.delete(id);
      if (this.#seen.results.has(id)) return;
      // `item.arguments` is present if a reviewer has edited the arguments.
      if (item.arguments !== undefined || !this.#shown.has(id) || this.#isElsewhere(id)) {
        yield* this.#call({ callId, toolName, arguments: item.arguments ?? this.#arguments.get(id) ?? {} });
      }
      const decision = this.#decisions.get(id)?.decision;
      const denied = ran === 'no' && (decision === 'denied' || decision === 'expired' || decision === 'cancelled');
      yield { type: 'result', callId: id, content, isError, denied };
    }
  }

  /** The steps for an opened request. There are none if the page has answered it, or if only others can answer it. */
  async *#asked(event: ApprovalRequestEvent): AsyncGenerator<ChatStep, void, undefined> {
    const { requestId, callId } = event;
    const answerId = answerIdOf(requestId, this.#run);
    const request = await askedRequest(this.#thread, event, { answerId, callId: this.#idOf(callId) });
    this.#state.asked.set(requestId, request);
    if (this.#seen.answers.has(answerId) || this.#seen.results.has(request.callId)) {
      this.#shown.set(request.callId, JSON.stringify(request.arguments));
      return;
    }
    // The page cannot answer this call, so it is not sent. In the AI SDK, it would block the answers to other calls.
    if (request.isForOthers === true) return;
    yield* this.#call({ callId, toolName: request.toolName, arguments: request.arguments });
    yield { type: 'asked', request };
  }

  /** The steps for a settled request. There are none if the page has the result, or if an edit replaced the request. */
  async *#decided(event: ApprovalResultEvent): AsyncGenerator<ChatStep, void, undefined> {
    const { requestId, callId, decision, ran } = event;
    const id = this.#idOf(callId);
    this.#state.asked.delete(requestId);
    // With `pending`, the call runs now. After an edit, it waits for the answer to another request.
    if (ran !== 'pending' && event.by !== 'edit') this.#state.running.delete(id);
    this.#decisions.set(id, event);
    if (this.#seen.results.has(id) || event.by === 'edit') return;
    const answerId = answerIdOf(requestId, this.#run);
    const reason = await decisionText(event, this.#thread);
    const approved = ran === 'pending' || decision === 'responded';
    yield { type: 'decided', callId: id, answerId, outcome: decision, approved, reason };
    // `continueTool` runs nothing, so no result follows. Without a result, the page would answer the call again.
    if (event.toolName !== continueTool || !this.#shown.has(id)) return;
    const content = ran !== 'pending' ? (reason ?? 'The run ends.') : 'The run goes on.';
    yield { type: 'result', callId: id, content, isError: false, denied: !approved };
  }

  /** The steps for a call: the call itself if the front end lacks it, or its arguments if they have changed. */
  *#call(call: { callId: string; toolName: string; arguments: Json }): Generator<ChatStep> {
    const id = this.#idOf(call.callId);
    const [before, now] = [this.#shown.get(id), JSON.stringify(call.arguments)];
    this.#shown.set(id, now);
    if (this.#sentCalls.has(id) || (this.#seen.calls.has(id) && !this.#isElsewhere(id))) {
      if (before !== undefined && before !== now) yield { type: 'arguments', ...call, callId: id };
      return;
    }
    this.#sentCalls.add(id);
    // The id of a call in its run begins with the number of the model's turn, as in `2.0`.
    yield { type: 'call', messageId: this.#text.idOf(Number(call.callId.split('.')[0])), ...call, callId: id };
  }

  #isElsewhere(id: string): boolean {
    return this.#seen.elsewhere?.has(id) === true;
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

/** A request as a front end shows it. If no worker answers, it has only what the event contains. */
async function askedRequest(
  { client, principal }: ChatThread,
  event: ApprovalRequestEvent,
  { answerId, callId }: { answerId: string; callId: string },
): Promise<AskedRequest> {
  const { requestId, workflowId, toolName, digest, deadline } = event;
  const details = await client.approvals.get(requestId, { workflowId }).catch(() => undefined);
  const isForOthers =
    !principal.roles.includes('reviewer') ||
    (details !== undefined && details.settled === undefined && waitsForOne(principal, details) === 'others');
  const base = { answerId, requestId, workflowId, callId, toolName, digest, ...(isForOthers && { isForOthers }) };
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

/** Says how a request was settled, by which person, and why. That person gets only their own reason, or null. */
export async function decisionText(
  event: ApprovalResultEvent,
  { client, principal }: Pick<ChatThread, 'client' | 'principal'>,
): Promise<string | null> {
  const { decision, reason, reviewerId, reviewerName, ran, by } = event;
  const isOwn = reviewerId === principal.id;
  const byReviewer = reviewerId === null ? '' : ` by ${visibleText(shownPerson(reviewerId, reviewerName))}`;
  const because = reason === null || reason.trim() === '' ? '' : `: ${reason}`;
  switch (decision) {
    case 'approved':
    case 'approved_always':
      return isOwn ? reason : `Approved${byReviewer}${because}`;
    case 'denied':
      return isOwn ? reason : `Denied${byReviewer}${because}`;
    case 'expired':
      return `No decision${await waited(event, client)}${ran === 'pending' ? ', so the call runs' : ''}`;
    case 'cancelled':
      return `Cancelled${because}`;
    case 'responded':
      return `Answered in the tool's place${byReviewer}`;
    case 'superseded':
      if (by === 'grant') return 'An earlier approval covers this call';
      return ran !== 'pending' ? `Denied by the policy${because}` : 'The policy allows this call now';
  }
}

/** The time from a request to its deadline, which may have been extended, such as ` within 1h`. Empty if not known. */
async function waited({ requestId, workflowId }: ApprovalResultEvent, client: ChatThread['client']): Promise<string> {
  const details = await client.approvals.get(requestId, { workflowId }).catch(() => undefined);
  if (details === undefined || details.deadline === null) return '';
  return ` within ${formatDuration(Date.parse(details.deadline) - Date.parse(details.requestedAt))}`;
}

/** Sends the model's text as it grows. A text that starts over after a retry is sent when complete, as a new text. */
class ChatText {
  readonly #prefix: string;
  #turn = 0;
  /** The beginning of the turn's text that the stream has sent. */
  #sent = '';
  #isOpen = false;
  /** True: a part of the turn's text was missing, hidden or repeated. */
  #isBroken = false;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  idOf(turn: number): string {
    return `${this.#prefix}-${turn}`;
  }

  /** The steps for a part of the text. After a missing, hidden or repeated part: none, as `complete` sends the rest. */
  add({ turn, offset, delta, hidden }: RawResponseEvent): ChatStep[] {
    const steps = turn === this.#turn ? [] : this.end();
    if (turn !== this.#turn) this.#begin(turn);
    this.#isBroken ||= offset !== this.#sent.length || hidden !== undefined;
    return this.#isBroken ? steps : [...steps, ...this.#append(delta)];
  }

  /**
   * Returns the steps that send the rest of a complete text. If the text does not begin with what was sent, the steps
   * send the complete text as another message.
   */
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
