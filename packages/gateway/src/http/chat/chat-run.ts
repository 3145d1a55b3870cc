/**
 * Follows the run of a chat in steps, until the run ends or waits for the chat's user. The gateway stores nothing: it
 * leaves out the steps that the front end claims to have. A false claim changes only what that front end shows.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RecordedEvent, RunEvent, RunItem, ApprovalDetails, Retry } from 'countersign/client';
import { activityNames, waitingFor } from 'countersign/adapter';
import { isProblemError, personsShown, visibleText } from 'countersign/base';
import { rowSentence } from 'countersign/card';
import { ChatProgress } from './chat-progress.ts';
import { callIdPrefix, type ChatRun, nothingSeen, type ChatThread } from './chat-thread.ts';
import { retryTurn } from './say.ts';
import { type ChatStep, stoppedStep, type AskedRequest, type ChatWait } from './chat-step.ts';

/** Yields the steps that the page has missed, then the new steps, until the turn ends or waits for the user. */
export async function* followChat(run: ChatRun): AsyncGenerator<ChatStep, void, undefined> {
  const { thread, workflowId, receipts, signal, waitMs } = run;
  const { client } = thread;
  const progress = new ChatProgress(run);
  if (receipts.length > 0) yield { type: 'receipts', receipts: [...receipts] };

  const past: RecordedEvent[] = [];
  for await (const event of client.events(workflowId, { follow: false, tokens: false, redacted: true, signal })) {
    if (event.type !== 'RawResponseEvent') past.push(event);
  }
  const turn = turnIn(past, run);
  // If the front end sends the message of a failed turn again, the user wants a retry of the model call.
  const isFailed = run.said !== undefined && endOfTurn(turn.at(-1))?.failure !== undefined;
  if (isFailed) await retryTurn(thread, workflowId);
  const toSend = isFailed ? turn.slice(0, -1) : turn;
  const isAwaited = run.said !== undefined && toSend.length === 0;
  if (isAwaited && past.some(isStop) && (await awaitsUser(run))) return yield stoppedStep;
  const missed = missedIn(past, turn, run);
  progress.expect([...missed, ...toSend]);
  const waits = new ChatWaits(thread, workflowId, { isFirst: run.seen.calls.size === 0 });
  const stepsOf = async function* (event: RunEvent): AsyncGenerator<ChatStep, void, undefined> {
    // The waits end before the last step, because a protocol accepts nothing after its last step.
    if (event.type === 'RunCompleteEvent' || endOfTurn(event) !== undefined) yield* waits.end();
    yield* progress.add(event);
  };
  for (const event of [...missed, ...toSend]) yield* stepsOf(event);

  const stop = new AbortController();
  const after = past.at(-1)?.id;
  const watched = AbortSignal.any([signal, stop.signal]);
  const events = client.events(workflowId, { ...(after !== undefined && { after }), redacted: true, signal: watched });
  const live = events[Symbol.asyncIterator]();
  // A new run begins with the messages of the previous run, which the front end has already.
  let isBefore = isAwaited;
  try {
    let next: Promise<IteratorResult<RunEvent>> | undefined;
    let quietSinceMs = Date.now();
    while (!progress.isOver) {
      yield* waits.tell(progress.others);
      const { asks } = progress;
      if (asks && progress.isIdle) return yield* progress.wait();
      const restMs = quietSinceMs + waitMs - Date.now();
      // No `yield` may come between this promise and its `await`, or its rejection would be unhandled.
      next ??= live.next();
      const result = await firstOf(next, (signal) => [waits.look(signal), ...(asks ? [late(restMs, signal)] : [])]);
      if (result === 'looked') continue;
      if (result === 'late') return yield* progress.wait();
      next = undefined;
      if (result.done === true) return;
      const event = result.value;
      quietSinceMs = Date.now();
      waits.happened(event.type === 'RawResponseEvent');
      isBefore &&= event.type === 'RawResponseEvent' || (event.type === 'RunItemEvent' && !isOfUser(event, run.said));
      if (isStop(event) && progress.awaitsMessage && (await awaitsUser(run))) {
        yield* waits.end();
        return yield stoppedStep;
      }
      if (!isBefore) yield* stepsOf(event);
    }
  } finally {
    stop.abort();
  }
}

/**
 * Returns the events of the turn to follow, from the user's message to the model's answer. Returns none if the user's
 * new message `said` belongs to a later turn, which the model has not begun.
 */
function turnIn(past: readonly RecordedEvent[], chat: ChatRun): RecordedEvent[] {
  const { said, seen } = chat;
  const message = messageOfTurn(past, chat);
  // A resumed chat (`nothingSeen`) writes the answer to the user's last message, so nothing before that is sent.
  const begin = seen === nothingSeen ? message : beginOfTurn(past, message);
  const rest = past.slice(Math.max(begin, 0));
  const isReceived = said === undefined || past.some((event) => isOfUser(event, said));
  if (!isReceived && rest.some((event) => endOfTurn(event) !== undefined)) return [];
  return untilAnswer(rest);
}

/**
 * The index of the user's message that began the turn to follow; -1 if there is none. This is the message `said`.
 * Without `said`, it is the last message before the call that the front end has answered, or the last one of all.
 */
function messageOfTurn(past: readonly RecordedEvent[], chat: ChatRun): number {
  const { said, seen } = chat;
  if (said !== undefined) {
    const own = past.findLastIndex((event) => isOfUser(event, said));
    return own === -1 ? past.findLastIndex((event) => isOfUser(event)) : own;
  }
  // True for a call in the message that the stream continues. Only the AI SDK has such a message, and sets `elsewhere`.
  const isContinued = (callId: string): boolean => seen.elsewhere?.has(callId) === false;
  const answeredCall = past.findIndex((event) => isMissing(event, chat, isContinued));
  const before = answeredCall === -1 ? past : past.slice(0, answeredCall);
  return before.findLastIndex((event) => isOfUser(event));
}

/** The events up to the model's first answer. Only the last failure is kept, because a retry followed earlier ones. */
function untilAnswer(events: readonly RecordedEvent[]): RecordedEvent[] {
  const ends = events.map(endOfTurn);
  const answer = ends.findIndex((end) => end !== undefined && end.failure === undefined);
  const turn = answer === -1 ? events : events.slice(0, answer + 1);
  return turn.filter((_event, index) => ends[index] === undefined || index === turn.length - 1);
}

/**
 * The events of the previous turn that the front end has missed, because it was reloaded or has lost its stream. The
 * first one is a call that has no result in the front end. The stream sends these events before those of the new turn.
 * The events of older turns are left out: a front end that sends only its newest messages does not name their results.
 */
function missedIn(past: readonly RecordedEvent[], turn: readonly RecordedEvent[], chat: ChatRun): RecordedEvent[] {
  if (chat.said === undefined) return [];
  const before = turn.length === 0 ? past : past.slice(0, past.indexOf(turn[0]!));
  const ends = before.flatMap((event, index) => (endOfTurn(event) === undefined ? [] : [index]));
  // The last turn of `before` begins after the end of the turn before it.
  const begin = before.findIndex((event, index) => index > (ends.at(-2) ?? -1) && isMissing(event, chat));
  return begin === -1 ? [] : before.slice(begin).filter((event) => endOfTurn(event) === undefined);
}

/**
 * The index at which a turn begins. If the user wrote in the middle of a turn, the model receives that message after
 * the calls of the turn, so the turn begins with these calls, whose results the front end may lack.
 */
function beginOfTurn(past: readonly RecordedEvent[], index: number): number {
  const ended = past.slice(0, Math.max(index, 0)).findLastIndex((event) => endOfTurn(event) !== undefined);
  const first = past.findIndex((event, place) => place > ended && place < index && !isGiven(event));
  return first === -1 ? index : first;
}

/** True for a message that the model did not write in this run. */
function isGiven(event: RecordedEvent): boolean {
  return event.type === 'RunItemEvent' && event.item.type === 'message' && event.item.turn === undefined;
}

function isOfUser(event: RecordedEvent, messageId?: string): boolean {
  if (event.type !== 'RunItemEvent' || event.item.type !== 'message' || event.item.role !== 'user') return false;
  return messageId === undefined || event.item.messageId === messageId;
}

/** True for a call whose result the front end lacks. `isMeant` restricts this to some calls. */
function isMissing(
  event: RecordedEvent,
  { seen, workflowId, run }: ChatRun,
  isMeant: (id: string) => boolean = () => true,
): boolean {
  if (event.type !== 'RunItemEvent' || event.item.type !== 'tool_call') return false;
  const id = `${callIdPrefix(workflowId, run)}-${event.item.callId}`;
  return seen.calls.has(id) && !seen.results.has(id) && isMeant(id);
}

function endOfTurn(event: RunEvent | undefined): Extract<RunItem, { type: 'turn_ended' }> | undefined {
  return event?.type === 'RunItemEvent' && event.item.type === 'turn_ended' ? event.item : undefined;
}

function isStop(event: RunEvent): boolean {
  return endOfTurn(event)?.stopped === true;
}

/** True if the run waits for another message of the user, as it does after the user has stopped a turn. */
async function awaitsUser({ thread, workflowId }: ChatRun): Promise<boolean> {
  const { awaitsMessage } = await thread.client.run(workflowId).status();
  return awaitsMessage === true;
}

/** The result of `next` or of one of `others`, whichever comes first. Then the signal ends the other ones. */
async function firstOf<Other>(
  next: Promise<IteratorResult<RunEvent>>,
  others: (signal: AbortSignal) => Promise<Other>[],
): Promise<IteratorResult<RunEvent> | Other> {
  const ended = new AbortController();
  try {
    return await Promise.race([next, ...others(ended.signal)]);
  } finally {
    ended.abort();
  }
}

function late(milliseconds: number, signal: AbortSignal): Promise<'late'> {
  return sleep(milliseconds, 'late' as const, { signal });
}

/** The pause before the gateway checks what a quiet run waits for, in milliseconds. It doubles up to `longest`. */
const pauseMs = { first: 1_000, longest: 30_000 };
/** The most nested runs of one run that are queried. The list of waits lacks the requests of all others. */
const mostNested = 20;
const mostNames = 5;

/** Reports why the run waits to the front end of one stream, whenever the reason changes. */
class ChatWaits {
  readonly #thread: Pick<ChatThread, 'client' | 'inbox'>;
  readonly #workflowId: string;
  #pauseMs = pauseMs.first;
  /** The waits that the last `look` has found. Later events remove the waits that they end. */
  #found: readonly ChatWait[] = [];
  #reported: string | undefined;

  constructor(thread: Pick<ChatThread, 'client' | 'inbox'>, workflowId: string, { isFirst }: { isFirst: boolean }) {
    this.#thread = thread;
    this.#workflowId = workflowId;
    // The first stream of a chat does not report an empty list of waits, because the front end shows none yet.
    if (isFirst) this.#reported = JSON.stringify([]);
  }

  /** After a pause, finds what the run waits for besides its own requests, if it can. Rejects when `signal` aborts. */
  async look(signal: AbortSignal): Promise<'looked'> {
    await sleep(this.#pauseMs, undefined, { signal });
    this.#pauseMs = Math.min(this.#pauseMs * 2, pauseMs.longest);
    try {
      const found = await reasonsOf(this.#thread, this.#workflowId);
      if (!signal.aborted) this.#found = found;
    } catch (error) {
      if (!isProblemError(error)) throw error;
    }
    return 'looked';
  }

  /** Notes an event, which proves that a worker runs. `speaks`: the model writes, so the run waits for nothing. */
  happened(speaks: boolean): void {
    this.#pauseMs = pauseMs.first;
    this.#found = speaks ? [] : this.#found.filter(({ kind }) => kind !== 'worker');
  }

  *end(): Generator<ChatStep> {
    this.#found = [];
    yield* this.tell([]);
  }

  /** Yields the waits if they have changed. `others`: the run's open requests that the chat's user cannot answer. */
  *tell(others: readonly AskedRequest[]): Generator<ChatStep> {
    const waits = [...others.map((each) => waitOf(this.#thread, each)), ...this.#found];
    const text = JSON.stringify(waits);
    if (text === this.#reported) return;
    this.#reported = text;
    yield { type: 'waits', waits };
  }
}

/** The wait for a request's reviewers: who can still answer, and a link to the request in the inbox. */
function waitOf(
  { inbox }: Pick<ChatThread, 'inbox'>,
  { details, toolName, callId, requestId, workflowId, message, deadline }: AskedRequest,
): ChatWait {
  const { votes = [], delegations = [] } = details ?? {};
  const canAnswer = details === undefined ? [] : waitingFor({ request: details, delegations }).reviewers;
  const voters = votes.map(({ reviewerId }) => reviewerId);
  const reviewers = canAnswer.filter((name) => !voters.includes(name));
  const [sentence = ''] = message.split('\n');
  const people = namesOf(reviewers, details?.people);
  return {
    kind: 'reviewers',
    message: `Waits for ${people}: ${sentence}`,
    toolName,
    reviewers,
    people,
    sentence,
    toolCallId: callId,
    requestId,
    deadline,
    ...linkTo(inbox, { workflowId, requestId }),
  };
}

function linkTo(
  inbox: string | undefined,
  { workflowId, requestId }: { workflowId: string; requestId: string },
): Pick<ChatWait, 'url'> {
  const path = [workflowId, requestId].map((part) => encodeURIComponent(part.toWellFormed())).join('/');
  return inbox === undefined ? {} : { url: `${inbox}/requests/${path}` };
}

/** Lists the waits of a run and its nested runs. Without `agent`, it is the chat's run: `waitOf` lists its requests. */
async function reasonsOf(
  thread: Pick<ChatThread, 'client' | 'inbox'>,
  workflowId: string,
  agent?: string,
): Promise<ChatWait[]> {
  const { closedAt, run, note, retrying = [], open } = await thread.client.show(workflowId);
  if (closedAt !== undefined) return [];
  const name = agent === undefined ? 'The agent' : `The agent ${visibleText(agent)}`;
  const ofAgent = agent === undefined ? {} : { agent };
  const silence = `${name} does not answer: it goes on when its worker runs.`;
  // `note` says why there is no `run`: no worker has answered the query.
  const worker: ChatWait[] = note === undefined ? [] : [{ kind: 'worker', message: silence, ...ofAgent }];
  const failures = retrying.map(retryText);
  const retries = failures.map((text): ChatWait => ({ kind: 'retry', message: `${name}: ${text}`, ...ofAgent }));
  const requests = agent === undefined ? [] : (run?.waitingFor ?? []);
  const nestedRuns = (run?.nested ?? []).slice(0, mostNested);
  const nested = await Promise.all(nestedRuns.map((each) => reasonsOf(thread, each.workflowId, each.agent)));
  const requestWaits = requests.map(({ toolName, reviewers, people: named, requestId, deadline }): ChatWait => {
    const people = namesOf(reviewers, named);
    const message = `${name} waits for ${people}, to answer '${visibleText(toolName)}' in the inbox.`;
    const row = open.find((each) => each.requestId === requestId);
    return {
      kind: 'nested',
      message,
      ...ofAgent,
      toolName,
      reviewers,
      people,
      ...(row !== undefined && { sentence: rowSentence(row) }),
      requestId,
      deadline,
      ...linkTo(thread.inbox, { workflowId, requestId }),
    };
  });
  return [...worker, ...retries, ...requestWaits, ...nested.flat()];
}

/** Says what is tried again, without the number of attempts, and without the failure's message, which may be secret. */
function retryText({ activity, type }: Retry): string {
  if (activity === activityNames.callModel) {
    const isLimited = type === 'model_rate_limited';
    return `its model ${isLimited ? 'is rate limited' : 'cannot be used now'}, and is asked again.`;
  }
  const isStep = Object.values<string>(activityNames).includes(activity);
  return `${isStep ? 'a step' : `'${visibleText(activity)}'`} has failed, and is tried again.`;
}

/** Names the people who can answer, up to `mostNames`; `a reviewer` if every reviewer can. */
function namesOf(reviewers: readonly string[], people: ApprovalDetails['people']): string {
  if (reviewers.length === 0) return 'a reviewer';
  const shown = personsShown(people);
  const names = reviewers.slice(0, mostNames).map((id) => visibleText(shown(id)));
  const more = reviewers.length - names.length;
  if (more > 0) return `${names.join(', ')} or ${more} more`;
  return [names.slice(0, -1).join(', '), names.at(-1)!].filter((each) => each !== '').join(' or ');
}
