import { createHash, randomUUID } from 'node:crypto';
import { WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure, WorkflowNotFoundError } from '@temporalio/common';
import type { Receipt } from '../../contract.ts';
import { type Problem, ProblemError, isProblemError, isTransient, isProblemCode } from '../../core/base/problem.ts';
import {
  readingRemedy,
  grpcStatus,
  grpcStatusOf,
  serverWords,
  translateServerError,
} from '../../connection/server-error.ts';
import { type Session, callServer } from '../server/session.ts';
import { knowsRequest } from './find-request.ts';
import { describeRun, memoRows } from '../server/memo-rows.ts';
import { isUndecodable } from '../../core/base/undecodable.ts';
import { askWorker } from '../server/ask-worker.ts';

/** Describes how one kind of message is sent to a run. */
export interface MessageRoute<Message> {
  /** The name of the update, and of the signal. */
  name: string;
  /** The noun that receipts use for the message. */
  what: string;
  /** Queries once for the result of a message; undefined if the run does not report it within `timeoutMs`. */
  look: (session: Session, workflowId: string, message: Message, timeoutMs: number) => Promise<Receipt | undefined>;
  /** Reads the messages that no worker has applied yet. The returned function says how they affect a message, if so. */
  readUnapplied?: (session: Session, workflowId: string) => Promise<(message: Message) => string>;
}

interface DeliverOptions {
  /** The milliseconds before the messages are sent by signal. Default: the client's `receiptTimeoutMs`. */
  timeoutMs?: number;
  /** True if the run must process the messages again, even if it has answered them before. */
  isAgain?: boolean;
}

/**
 * Sends messages by update. Without an answer, sends them by signal and queries once for the result. Update and signal
 * have the same message ids, so the run applies each message once. Returns a receipt for each, also for a refusal;
 * `recorded` means durable, but not applied yet. Throws only `server_unreachable`.
 */
export async function deliver<Message extends { requestId?: string }>(
  session: Session,
  workflowId: string,
  route: MessageRoute<Message>,
  messages: readonly Message[],
  options: DeliverOptions = {},
): Promise<Receipt[]> {
  const { isAgain = false } = options;
  const receipts = await send(session, workflowId, route, messages, options);
  // A refusal such as `rate_limited` may not last. For the same update, the server would repeat it, so send another.
  const again = isAgain ? [] : messages.filter((_message, index) => isTransient(receipts[index]?.code));
  if (again.length === 0) return receipts;
  const answers = await send(session, workflowId, route, again, { ...options, isAgain: true });
  return receipts.map((receipt, index) => answers[again.indexOf(messages[index]!)] ?? receipt);
}

export function refusedReceipt(message: unknown, { code, message: sentence }: Problem): Receipt {
  const { requestId } = (message ?? {}) as { requestId?: unknown };
  return { requestId: typeof requestId === 'string' ? requestId : '', accepted: false, code, message: sentence };
}

export function refusalFor(message: unknown, error: unknown): Receipt {
  if (!isProblemError(error) || error.code === 'server_unreachable') throw error;
  return refusedReceipt(message, error);
}

/** Returns the receipt of a single message. Throws a refusal as a `ProblemError` with its code. */
export function acceptedReceipt(receipt: Receipt | undefined): Receipt {
  if (receipt === undefined) throw new ProblemError({ code: 'internal', message: 'The run gave no receipt.' });
  if (receipt.code === undefined || receipt.accepted) return receipt;
  throw new ProblemError({ code: receipt.code, message: receipt.message });
}

/** Sends one update and, if no answer comes in time, a signal. Returns a receipt for each message, even if refused. */
async function send<Message extends { requestId?: string }>(
  session: Session,
  workflowId: string,
  route: MessageRoute<Message>,
  messages: readonly Message[],
  { timeoutMs = session.limits.receiptTimeoutMs, isAgain = false }: DeliverOptions,
): Promise<Receipt[]> {
  try {
    const sent = { workflowId, name: route.name, payload: payloadOf(messages), isAgain };
    const answered = await sendByUpdate(session, sent, timeoutMs);
    if ('unread' in answered) return messages.map((message) => unreadReceipt(route.what, message, answered.unread));
    if (!('answer' in answered)) return await record(session, workflowId, route, messages, { ...answered, timeoutMs });
    const receipts = [answered.answer].flat();
    if (receipts.length !== messages.length) throw unreadable(workflowId);
    return receipts;
  } catch (error) {
    return messages.map((message) => refusalFor(message, error));
  }
}

/** The receipt for an unreadable answer, which is no failure: the run has accepted the message. */
function unreadReceipt(what: string, { requestId = '' }: { requestId?: string }, why: string): Receipt {
  const message = `The run has taken the ${what}, but its receipt cannot be read: ${why}. ${readingRemedy}`;
  return { requestId, accepted: true, recorded: true, message };
}

/** Sends messages by signal, so that they wait for a worker. Refuses a message about a request that the run lacks. */
async function record<Message extends { requestId?: string }>(
  session: Session,
  workflowId: string,
  { name, what, look, readUnapplied }: MessageRoute<Message>,
  messages: readonly Message[],
  { timeoutMs, ...unanswered }: Unanswered & { timeoutMs: number },
): Promise<Receipt[]> {
  const ids = messages.map(({ requestId }) => requestId);
  const listings = await listingsOf(session, workflowId, ids, unanswered);
  const sent = messages.filter((_message, index) => listings[index] !== 'unknown');
  const isOpen = sent.length === 0 || (await recordBySignal(session, { workflowId, name, payload: payloadOf(sent) }));
  let isSilent = unanswered.silent && isOpen;
  let unapplied: Promise<(message: Message) => string> | undefined;
  const receipts: Receipt[] = [];
  for (const [index, message] of messages.entries()) {
    const { requestId = '' } = message;
    const listing = listings[index]!;
    if (listing === 'unknown') {
      receipts.push(refusedReceipt(message, unknownRequest(workflowId, requestId)));
      continue;
    }
    // A closed run still reports its answers, so a retry gets the first receipt. Wait longer for it, because no later
    // answer can come. After one query without an answer, do not ask an open run again.
    const lookMs = isOpen ? session.limits.glanceTimeoutMs : timeoutMs;
    const known = isSilent ? undefined : await look(session, workflowId, message, lookMs);
    isSilent ||= known === undefined && isOpen;
    if (known !== undefined) receipts.push(known);
    else if (!isOpen) receipts.push(refusedReceipt(message, runClosed(workflowId)));
    else {
      unapplied ??= readUnapplied?.(session, workflowId);
      const lastSentence = (await unapplied)?.(message) ?? '';
      receipts.push(recordedReceipt(what, unanswered, { requestId, workflowId, listing, lastSentence }));
    }
  }
  return receipts;
}

/** Returns the payload of a signal or update: a single message as it is, several as a list. */
function payloadOf(messages: readonly unknown[]): unknown {
  return messages.length === 1 ? messages[0] : messages;
}

export function runClosed(workflowId: string): ProblemError {
  return new ProblemError({ code: 'run_closed', message: `Run '${workflowId}' is closed and takes no more messages.` });
}

/** Whether a run has a request, by its memo or its answer. `unlisted`: its memo lacks it, and no worker answers. */
type Listing = 'known' | 'unknown' | 'unlisted';

/**
 * Finds out whether the run has the requests of messages. Call this before sending a signal: every workflow accepts a
 * signal, and a workflow without the request would ignore the message. Throws `run_not_found`.
 */
async function listingsOf(
  session: Session,
  workflowId: string,
  requestIds: readonly (string | undefined)[],
  { silent }: Pick<Unanswered, 'silent'>,
): Promise<Listing[]> {
  if (requestIds.every((requestId) => requestId === undefined)) return requestIds.map(() => 'known');
  const run = await callServer(session, () => describeRun(session, workflowId), { workflowId });
  const { rows, unread } = memoRows(run);
  const isListed = (requestId: string): boolean =>
    unread === undefined ? rows.some((row) => row.requestId === requestId) : run.openIds.includes(requestId);
  return Promise.all(
    requestIds.map(async (requestId) => {
      // A closed run counts as `known`: it records no message, and may have an earlier answer.
      if (requestId === undefined || !run.isRunning || isListed(requestId)) return 'known';
      const answer = silent ? 'silent' : await knowsRequest(session, workflowId, requestId);
      return answer === 'yes' ? 'known' : answer === 'no' ? 'unknown' : 'unlisted';
    }),
  );
}

export function unknownRequest(workflowId: string, requestId: string): ProblemError {
  return new ProblemError({ code: 'unknown_request', message: `Run '${workflowId}' has no request ${requestId}.` });
}

/** The receipt for a message that history has and no worker has applied. `lastSentence` ends its message. */
export function recordedReceipt(
  what: string,
  { reason }: Pick<Unanswered, 'reason'>,
  about: { requestId?: string; workflowId?: string; listing?: Listing; lastSentence?: string } = {},
): Receipt {
  const { requestId = '', workflowId, listing, lastSentence = '' } = about;
  const doubt = ` It went to run '${workflowId}', whose memo does not list request ${requestId}: it counts only if that run has it.`;
  const message = `The ${what} is recorded, not yet applied: ${reason}.${listing === 'unlisted' ? doubt : ''}${lastSentence}`;
  return { requestId, accepted: true, recorded: true, message };
}

/** A message to a run: the name of the update and of the signal, and its one argument. */
interface UpdateRequest {
  workflowId: string;
  name: string;
  payload: unknown;
  /** True if the run must process the message again, even if it has answered it before. */
  isAgain?: boolean;
}

/** An update without an answer: a signal may still reach the run. `reason` completes "not yet applied: …". */
interface Unanswered {
  reason: string;
  /** True if the run would not answer a query either. */
  silent: boolean;
}

/** The statuses of an update after which a signal may still succeed, for example without a worker or at a limit. */
const worthRecording: (number | undefined)[] = [
  grpcStatus.DEADLINE_EXCEEDED,
  grpcStatus.CANCELLED,
  grpcStatus.UNAVAILABLE,
  grpcStatus.FAILED_PRECONDITION,
  grpcStatus.RESOURCE_EXHAUSTED,
  grpcStatus.NOT_FOUND,
];

/** The run has accepted the message, and this client cannot decode its answer. */
type UnreadReply = { unread: string };

/** Sends a message by update, and waits at most `timeoutMs`. Throws a refusal. Without an answer, returns why. */
export async function sendByUpdate(
  session: Session,
  { workflowId, name, payload, isAgain = false }: UpdateRequest,
  timeoutMs: number,
): Promise<{ answer: Receipt | Receipt[] } | UnreadReply | Unanswered> {
  try {
    const answer = await askWorker(session, workflowId, timeoutMs, () =>
      session.client.workflow.getHandle(workflowId).executeUpdate<Receipt | Receipt[], [unknown]>(name, {
        updateId: isAgain ? `${updateIdOf(name, payload)}-${randomUUID()}` : updateIdOf(name, payload),
        args: [payload],
      }),
    );
    if (isUndecodable(answer) && answer.unread) return { unread: answer.why };
    const parts: unknown[] = Array.isArray(answer) ? answer : [answer];
    if (parts.some((part) => isUndecodable(part) || typeof part !== 'object' || part === null)) {
      throw unreadable(workflowId);
    }
    return { answer };
  } catch (error) {
    if (error instanceof WorkflowUpdateFailedError) {
      if (isUnprocessed(error)) return { reason: 'the worker ended its task without the message', silent: false };
      const receipts = receiptsIn(error, Array.isArray(payload) ? payload.length : 1);
      if (receipts === undefined) throw refusedByRun(workflowId, error);
      return { answer: receipts };
    }
    if (isProblemError(error) && error.code === 'no_worker') {
      return { reason: error.message.replace(/\.$/, ''), silent: true };
    }
    if (!isProblemError(error) && worthRecording.includes(grpcStatusOf(error))) {
      return { reason: serverWords(error), silent: false };
    }
    throw translateServerError(error, { address: session.address, namespace: session.namespace, workflowId });
  }
}

export function unreadable(workflowId: string): ProblemError {
  const message = `Run '${workflowId}' answered with a receipt that cannot be read.`;
  return new ProblemError({ code: 'internal', message });
}

/**
 * The id of an update is a digest of its whole content. For a known id, the server repeats the first result and does
 * not call the run; but a changed message under an old message id must reach the run, which refuses it.
 */
function updateIdOf(name: string, payload: unknown): string {
  const content = JSON.stringify(payload, (_key, value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : value,
  );
  return `${name}-${createHash('sha256').update(content).digest('hex')}`;
}

/** True if the server itself refused the update, because a worker shut down before the run received the message. */
export function isUnprocessed({ cause }: WorkflowUpdateFailedError): boolean {
  return cause instanceof ApplicationFailure && cause.type === 'UnprocessedUpdate';
}

/** Returns the receipts of messages that were all refused. They also have facts such as `settledBy`. */
function receiptsIn({ cause }: WorkflowUpdateFailedError, count: number): Receipt[] | undefined {
  const details: unknown[] = (cause instanceof ApplicationFailure && cause.details) || [];
  const isWhole = details.length === count && details.every((each) => isProblemCode((each as Receipt | null)?.code));
  return isWhole ? (details as Receipt[]) : undefined;
}

/** Returns the refusal of a run as a problem; `internal` if its failure has no code of Countersign. */
function refusedByRun(workflowId: string, error: WorkflowUpdateFailedError): ProblemError {
  const { cause } = error;
  if (cause instanceof ApplicationFailure && isProblemCode(cause.type)) {
    return new ProblemError({ code: cause.type, message: cause.message }, { cause: error });
  }
  const message = `Run '${workflowId}' refused the message: ${cause?.message ?? error.message}`;
  return new ProblemError({ code: 'internal', message }, { cause: error });
}

/** Sends a message by signal. Returns false if the run is closed. Throws `run_not_found`, `server_unreachable`. */
export async function recordBySignal(session: Session, { workflowId, name, payload }: UpdateRequest): Promise<boolean> {
  const handle = session.client.workflow.getHandle(workflowId);
  return callServer(
    session,
    async () => {
      try {
        await handle.signal(name, payload);
        return true;
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError)) throw error;
        await handle.describe(); // throws if there is no such run
        return false;
      }
    },
    { workflowId },
  );
}
