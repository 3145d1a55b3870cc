import { queryNames, queryRun, requireGated } from 'countersign/adapter';
import type { Message } from 'countersign';
import { ProblemError, isProblemError } from 'countersign/base';
import type { GatewayContext, HttpEnv } from '../gateway-context.ts';
import { inboxUrl } from '../site.ts';
import type { Principal } from '../identity/principal.ts';
import { type ChatAnswer, type UnreadAnswer, recordAnswers } from './chat-answers.ts';
import type { SeenItems, ChatThread } from './chat-thread.ts';
import { nothingSeen, callIdPrefix, newestSession, parseAnswerId, workflowOf } from './chat-thread.ts';
import { followChat } from './chat-run.ts';
import { openSession, type Said, type SaidMessage, olderRun, say } from './say.ts';
import type { ChatStep } from './chat-step.ts';
import type { Context } from 'hono';
import { problemOf } from '../responses.ts';
import { sseResponse } from '../streams/sse-stream.ts';

const mostAnswers = 100;

export interface ChatMessage {
  agent: string;
  threadId: string;
  /** The user's messages after the assistant's last message. Empty if the front end sends only answers to requests. */
  fresh: readonly SaidMessage[];
  /** All texts of the user, by which `olderRun` finds a run of an older gateway. */
  texts: readonly string[];
  /** True: the user asks for another answer to the last message. */
  again?: boolean;
  /** The id of the assistant's message that the stream continues. Absent: it writes a new message. */
  continues?: string;
  answers: readonly (ChatAnswer | UnreadAnswer)[];
  seen: SeenItems;
  /** The protocol of the front end, which is recorded with a decision as `viewed.channel`. */
  channel: string;
}

export interface OpenChat {
  steps: (signal: AbortSignal) => AsyncGenerator<ChatStep, void, undefined>;
  /** The id of the assistant's message. Each message of the user is answered by one message of the assistant. */
  messageId: string;
}

/**
 * Sends the approvals and denials of a front end to their runs, then the user's new messages, and finds the run whose
 * steps the stream follows. Throws `forbidden` for answers of a sender who is no reviewer, `invalid_message` for an
 * empty message or too many answers, and `run_not_found` for an answer to a run of another thread.
 */
export async function openChat(gateway: GatewayContext, principal: Principal, message: ChatMessage): Promise<OpenChat> {
  const { client, site, chatWaitMs: waitMs } = gateway;
  const { agent, threadId, answers, seen, channel } = message;
  if (answers.length > 0 && !principal.roles.includes('reviewer')) {
    throw new ProblemError({ code: 'forbidden', message: 'Answering a request needs the role reviewer.' });
  }
  if (answers.length > mostAnswers) {
    const problem = `A chat answers at most ${mostAnswers} requests at once.`;
    throw new ProblemError({ code: 'invalid_message', message: problem });
  }
  const thread: ChatThread = { client, principal, agent, threadId, inbox: inboxUrl(site) };
  // The answers go first, because the user gave them before writing the new messages.
  const receipts = await recordAnswers(thread, answers, { channel, gateway });
  const { run, workflowId, messageId: said } = await findRun(thread, message);
  return {
    steps: (signal) => followChat({ thread, run, workflowId, said, seen, receipts, signal, waitMs }),
    messageId: message.continues ?? assistantId({ run, workflowId, messageId: said }),
  };
}

/** Finds the run of a chat. Only new messages may start a run: an answer to a request needs the run that asked. */
async function findRun(thread: ChatThread, message: ChatMessage): Promise<Said> {
  const { fresh, texts, again = false, answers, seen } = message;
  const newest = newestSession([...seen.calls, ...seen.texts, ...seen.answers]);
  if (fresh.length === 0) return existingRun(thread, message, newest);
  if (fresh.some(({ text, files }) => text.trim() === '' && files === undefined)) {
    const problem = 'A message of the user of a chat has a text or a file.';
    throw new ProblemError({ code: 'invalid_message', message: problem });
  }
  return say(thread, { fresh, texts, again, mayStart: answers.length === 0, newest });
}

/** The run of a chat without new messages: that of the first answer, else the thread's newest, else `olderRun`. */
async function existingRun(thread: ChatThread, message: ChatMessage, newest: number): Promise<Said> {
  const { texts, answers, continues } = message;
  if (texts.length === 0 && answers.length === 0 && continues === undefined) {
    throw new ProblemError({ code: 'invalid_message', message: 'A chat begins with a message of its user.' });
  }
  const answered = parseAnswerId(answers[0]?.answerId ?? '');
  const run = answered?.run ?? newest;
  const workflowId = workflowOf(thread, run);
  try {
    await requireGated(thread.client.session, workflowId);
    return { run, workflowId };
  } catch (error) {
    const isUnknown = isProblemError(error) && error.code === 'run_not_found' && answered === undefined;
    const older = isUnknown ? await olderRun(thread, texts) : undefined;
    if (older === undefined) throw error;
    return older;
  }
}

/** The chat of a thread with a running turn, for a front end that has lost its stream; undefined if no turn runs. */
export async function resumeChat(
  { client, site, chatWaitMs: waitMs }: GatewayContext,
  principal: Principal,
  { agent, threadId }: Pick<ChatThread, 'agent' | 'threadId'>,
): Promise<OpenChat | undefined> {
  const thread: ChatThread = { client, principal, agent, threadId, inbox: inboxUrl(site) };
  const found = await sessionWithTurn(thread);
  if (found === undefined) return undefined;
  const { run, workflowId } = found;
  const transcript = await queryRun<Message[]>(client.session, workflowId, queryNames.transcript);
  const { messageId } = transcript.findLast((each) => each.role === 'user') ?? {};
  return {
    steps: (signal) => followChat({ thread, run, workflowId, seen: nothingSeen, receipts: [], signal, waitMs }),
    messageId: assistantId({ run, workflowId, messageId }),
  };
}

/** Stops the running turn of a thread. Does nothing if no turn runs. */
export async function stopChat(
  { client }: GatewayContext,
  principal: Principal,
  { agent, threadId }: Pick<ChatThread, 'agent' | 'threadId'>,
): Promise<void> {
  const found = await sessionWithTurn({ client, principal, agent, threadId });
  if (found === undefined) return;
  try {
    await client.message(found.workflowId, { stop: true, by: principal.id });
  } catch (error) {
    // The turn has ended meanwhile, or another request has stopped it.
    if (!isProblemError(error) || !['invalid_message', 'run_closed'].includes(error.code)) throw error;
  }
}

/** The run of a thread with a running turn; undefined if no run is open, or the open run waits for its user. */
async function sessionWithTurn(thread: ChatThread): Promise<Pick<Said, 'run' | 'workflowId'> | undefined> {
  // The runs of a thread have numbers from 0. If retention has removed run 0, visibility names the open run.
  let run: number | undefined = 0;
  while (run !== undefined) {
    const workflowId = workflowOf(thread, run);
    try {
      const { closedAt, run: status } = await thread.client.show(workflowId);
      if (closedAt === undefined) return status?.awaitsMessage === true ? undefined : { run, workflowId };
      run += 1;
    } catch (error) {
      if (!isProblemError(error) || error.code !== 'run_not_found') throw error;
      run = run === 0 ? await openSession(thread) : undefined;
    }
  }
  return undefined;
}

function assistantId({ run, workflowId, messageId }: Said): string {
  const prefix = `chat-${callIdPrefix(workflowId, run)}`;
  return messageId === undefined ? prefix : `${prefix}-${messageId}`;
}

const encoder = new TextEncoder();
/** A comment of the event stream, because front ends would read an event as a message of their protocol. */
const heartbeat = encoder.encode(': heartbeat\n\n');

/** The response with the messages of a protocol as server-sent events. `end`: the data of a last event. */
export function chatResponse(
  context: Context<HttpEnv>,
  gateway: GatewayContext,
  messages: (signal: AbortSignal) => AsyncIterable<object>,
  { headers = {}, end }: { headers?: Record<string, string>; end?: string } = {},
): Response {
  return sseResponse(
    context,
    gateway,
    async (stream) => {
      const send = (data: string): Promise<boolean> => stream.send(encoder.encode(`data: ${data}\n\n`));
      for await (const message of messages(stream.signal)) if (!(await send(JSON.stringify(message)))) return;
      if (end !== undefined) await send(end);
    },
    {},
    { heartbeat, headers },
  );
}

export function logFailure({ log }: GatewayContext): (error: unknown) => void {
  return (error) => {
    if (problemOf(error).code === 'internal') log(`A chat ended early: ${String(error)}`);
  };
}
