/** Sends the user's messages of a chat, each once, to a session: a run that takes further messages of its user. */
import { queryNames, queryRun, requireGated, callServer } from 'countersign/adapter';
import { isProblemError, saidText, type UserFile, ProblemError } from 'countersign/base';
import type { Message } from 'countersign';
import type { SendOptions } from 'countersign/client';
import { type ChatThread, type RunOfThread, hashOf, keyOf, turnOf, workflowOf } from './chat-thread.ts';

export interface SaidMessage {
  id: string;
  text: string;
  files?: UserFile[];
}

export interface SaidMessages {
  /** The user's messages after the assistant's last message; at least one. */
  fresh: readonly SaidMessage[];
  /** All texts of the user, by which `olderRun` finds a run of an older gateway. */
  texts: readonly string[];
  /** True: the user asks for another answer to the last message. */
  again: boolean;
  /** False if the messages came with answers to requests: then the session of these requests must exist already. */
  mayStart: boolean;
  /** The number of the newest session that the front end knows. */
  newest: number;
}

/** The run that has the messages. `messageId`: the id of the last message in that run. */
export interface Said {
  run: RunOfThread;
  workflowId: string;
  messageId?: string;
}

/** The most bytes of an ended session's transcript that the next session gets: half of the limit for its input. */
const mostKeptBytes = 256_000;

type UserMessage = Extract<Message, { role: 'user' }>;

/**
 * Sends the messages to the open session of the thread, or starts a session. If a session has ended, the next session
 * begins with its transcript; but if that transcript has the last message already, by its id, nothing is sent. Throws
 * `run_not_found` if there is no session and `mayStart` is false.
 */
export async function say(thread: ChatThread, said: SaidMessages): Promise<Said> {
  const messages = said.fresh.map(toUserMessage);
  let past: readonly Message[] = [];
  for (let run = said.newest; ; run++) {
    const outcome = await sayToSession(thread, said, { run, messages, past });
    if (outcome !== 'over') return outcome;
    const workflowId = workflowOf(thread, run);
    const { messageId } = messages.at(-1)!;
    past = await queryRun<Message[]>(thread.client.session, workflowId, queryNames.transcript);
    if (hasMessage(past, messageId) && !said.again) return { run, workflowId, messageId };
    // The next session begins with the message and its answer, so the repeated message needs another id.
    if (said.again) messages.push({ ...messages.pop()!, messageId: `${messageId}-${run}` });
  }
}

/** Sends messages to one session of a thread, or starts that session after `past`. `over`: the session has ended. */
async function sayToSession(
  thread: ChatThread,
  said: SaidMessages,
  { run, messages, past }: { run: number; messages: ReturnType<typeof toUserMessage>[]; past: readonly Message[] },
): Promise<Said | 'over'> {
  const workflowId = workflowOf(thread, run);
  const last = messages.at(-1)!;
  for (;;) {
    const asked = said.again ? await askAgain(thread, workflowId, last) : undefined;
    if (typeof asked === 'object') return { run, workflowId, ...asked };
    const state = asked ?? (await send(thread, workflowId, messages));
    if (state === 'taken') return { run, workflowId, messageId: last.messageId };
    if (state === 'over') return 'over';
    // Run 0 may be missing because an older gateway started another run, or because retention has removed it.
    const older = run === 0 ? await olderRun(thread, said.texts) : undefined;
    if (older !== undefined) return older;
    const open = run === 0 ? await openSession(thread) : undefined;
    if (open !== undefined) return say(thread, { ...said, newest: open });
    if (!said.mayStart) await requireGated(thread.client.session, workflowId);
    const fresh = messages.filter(({ messageId }) => !hasMessage(past, messageId));
    const hasStarted = await start(thread, run, [...newestOf(past), ...fresh]);
    if (hasStarted) return { run, workflowId, messageId: last.messageId };
    // Another HTTP request has started the session meanwhile, so the loop sends the messages to it.
  }
}

function hasMessage(past: readonly Message[], messageId: string): boolean {
  return past.some((message) => message.role === 'user' && message.messageId === messageId);
}

/** A short timeout, because a front end waits. A busy session gets the message later: it is in the run's history. */
function sendOptions({ session }: ChatThread['client']): SendOptions {
  return { timeoutMs: session.limits.glanceTimeoutMs };
}

/** The id is a hash of all content, so that an edited message, which keeps its id in the front end, gets another id. */
function toUserMessage({ id, text, files }: SaidMessage): UserMessage & { messageId: string } {
  const said = [id, text, ...(files === undefined ? [] : [JSON.stringify(files)])];
  return { role: 'user', content: text, ...(files && { files }), messageId: `chat-${hashOf(said).slice(0, 40)}` };
}

/** Sends messages to a session. `taken`: it has them; `over`: it has ended; `absent`: there is no such session. */
async function send(
  { client, principal }: ChatThread,
  workflowId: string,
  messages: readonly UserMessage[],
): Promise<'taken' | 'over' | 'absent'> {
  try {
    for (const { content, files, messageId } of messages) {
      await client.message(workflowId, { content, files, messageId, by: principal.id }, sendOptions(client));
    }
    return 'taken';
  } catch (error) {
    return withoutSession(error);
  }
}

/** Starts a session. False: another HTTP request has just started it with another message. */
async function start(thread: ChatThread, run: number, input: Message[]): Promise<boolean> {
  const { client, principal, agent } = thread;
  const caller = { userId: principal.id, groups: [...principal.groups] };
  try {
    await client.start(agent, input, { idempotencyKey: keyOf(thread, run), caller, session: true });
    return true;
  } catch (error) {
    if (isProblemError(error) && error.code === 'already_started') return false;
    throw error;
  }
}

/**
 * Asks for another answer to the last message: retries a failed turn, else sends the message again, and returns its id.
 * The new id contains the number of the turn, so that a repeated HTTP request sends the message only once. While a turn
 * runs, sends nothing, because that turn answers the message.
 */
async function askAgain(
  thread: ChatThread,
  workflowId: string,
  { content, files, messageId }: UserMessage & { messageId: string },
): Promise<{ messageId: string } | 'over' | 'absent'> {
  const { client, principal } = thread;
  try {
    const { closedAt, run } = await client.show(workflowId);
    if (closedAt !== undefined) return 'over';
    const { awaitsMessage, failedTurn, turn } = run ?? (await client.run(workflowId).status());
    if (awaitsMessage !== true) return { messageId };
    if (failedTurn !== undefined) {
      await retryTurn(thread, workflowId);
      return { messageId };
    }
    const again = `${messageId}-${turn}`;
    await client.message(workflowId, { content, files, messageId: again, by: principal.id }, sendOptions(client));
    return { messageId: again };
  } catch (error) {
    return withoutSession(error);
  }
}

/** Retries the model call that failed last. Concurrent requests cause one retry. */
export async function retryTurn({ client, principal }: ChatThread, workflowId: string): Promise<void> {
  for (;;) {
    try {
      await client.message(workflowId, { retry: true, by: principal.id }, sendOptions(client));
      return;
    } catch (error) {
      if (!isProblemError(error) || error.code !== 'invalid_message') throw error;
    }
    // Either another request has retried the call, or the run has not processed its failure yet: then try again.
    const { failedTurn } = await client.run(workflowId).status();
    if (failedTurn === undefined) return;
  }
}

/** The state of the session by the error of an attempt to reach it. Throws any other error again. */
function withoutSession(error: unknown): 'over' | 'absent' {
  if (isProblemError(error) && error.code === 'run_not_found') return 'absent';
  if (isProblemError(error) && error.code === 'run_closed') return 'over';
  throw error;
}

/** Finds the run that an older gateway started for these messages, so that they are not sent to a second run. */
export async function olderRun(thread: ChatThread, texts: readonly string[]): Promise<Said | undefined> {
  const run = turnOf(texts);
  const workflowId = workflowOf(thread, run);
  try {
    await requireGated(thread.client.session, workflowId);
    return { run, workflowId };
  } catch (error) {
    if (isProblemError(error) && error.code === 'run_not_found') return undefined;
    throw error;
  }
}

/** The newest messages that fit into `mostKeptBytes`. The first one is a message of the user. */
function newestOf(past: readonly Message[]): Message[] {
  let bytes = 0;
  // Adds up the sizes from the last message on, each with a comma, to the message that no longer fits.
  const first =
    past.findLastIndex((each) => (bytes += Buffer.byteLength(JSON.stringify(each)) + 1) > mostKeptBytes) + 1;
  const from = past.findIndex(({ role }, index) => index >= first && role === 'user');
  return from === -1 ? [] : past.slice(from).map(withoutFileData);
}

/** Replaces the data of a message's files by a text with their names, so that the next session gets no large data. */
function withoutFileData(message: Message): Message {
  if (message.role !== 'user') return message;
  const { files = [], ...said } = message;
  const isData = ({ url }: UserFile): boolean => url.startsWith('data:');
  const withData = files.filter(isData);
  const withAddress = files.filter((file) => !isData(file));
  if (withData.length === 0) return message;
  const content = saidText({ content: said.content, files: withData });
  return { ...said, content, ...(withAddress.length > 0 && { files: withAddress }) };
}

/** A part of a user's message: text or a file. A part of any other kind has neither member. */
export interface SaidPart {
  text?: string;
  file?: { mediaType?: string; url?: string; filename?: string };
}

/**
 * One message made of these parts, with each file at its place in the text. Throws `invalid_message` for a part that is
 * neither text nor file: if the part were dropped, the model would answer as if it had read everything.
 */
export function saidMessage(id: string, parts: readonly SaidPart[]): SaidMessage {
  let text = '';
  const files: UserFile[] = [];
  for (const { text: said, file } of parts) {
    if (said !== undefined) text += said;
    else if (file?.mediaType === undefined || file.url === undefined) {
      const message = 'A message has text, and files with a media type and a data URL or an https address.';
      throw new ProblemError({ code: 'invalid_message', message });
    } else {
      const { mediaType, url, filename = '' } = file;
      files.push({ mediaType, url, ...(filename !== '' && { filename }), ...(text !== '' && { at: text.length }) });
    }
  }
  return { id, text, ...(files.length > 0 && { files }) };
}

/** How many removed sessions of a thread `openSession` skips to find the open one. */
const mostRemoved = 100;

/** Finds the number of the open session if retention has removed earlier ones. It reads visibility, which lags. */
export async function openSession(thread: ChatThread): Promise<number | undefined> {
  const { session } = thread.client;
  const numbers = Array.from({ length: mostRemoved }, (_, index) => index + 1);
  const sessions = new Map(numbers.map((number) => [workflowOf(thread, number), number]));
  const ids = [...sessions.keys()].map((workflowId) => `"${workflowId}"`).join(', ');
  const { executions } = await callServer(session, () =>
    session.connection.workflowService.listWorkflowExecutions({
      namespace: session.namespace,
      query: `ExecutionStatus = "Running" AND WorkflowId IN (${ids})`,
      pageSize: 1,
    }),
  );
  return sessions.get(executions[0]?.execution?.workflowId ?? '');
}
