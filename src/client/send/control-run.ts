/**
 * Sends messages other than decisions to an open run. Each call checks the form of a message, gives it an id, so that
 * the run applies it once, and returns a receipt or throws a `ProblemError`.
 */
import { randomUUID } from 'node:crypto';
import type {
  CloseMessage,
  DelegateMessage,
  ExtendMessage,
  Receipt,
  RevokeMessage,
  SetPolicyMessage,
  UserMessage,
} from '../../contract.ts';
import { messageNames, queryNames } from '../../contract.ts';
import {
  type ControlMessage,
  messageIdOf,
  readClose,
  readDelegate,
  readExtend,
  readRevoke,
  readSetPolicy,
  readUserMessage,
  contentDigest,
} from '../../core/messages/control.ts';
import { type Problem, ProblemError, isProblemError } from '../../core/base/problem.ts';
import { isUndecodable } from '../../core/base/undecodable.ts';
import type { SignedAction } from '../../core/messages/signature.ts';
import { type Session, callServer } from '../server/session.ts';
import { type MessageRoute, acceptedReceipt, deliver, runClosed, recordedReceipt, recordBySignal } from './deliver.ts';
import { findRequest, malformedRequestId } from './find-request.ts';
import { queryRun, requireCodec } from '../server/ask-worker.ts';
import { type Signer, signMessage } from './sign-message.ts';

/** Options of methods that send a message to a run. */
export interface SendOptions {
  /** The time limit of the run's answer, in milliseconds; then a signal is sent. Default: `receiptTimeoutMs`. */
  timeoutMs?: number;
  /** The key that signs the message. To repeat a signed message, sign it once, with `signDecision` or `signMessage`. */
  sign?: Signer;
}

/** Options of methods that send a message about a request. */
export interface RequestOptions extends SendOptions {
  /** The workflow id of the run. Default: the run that is found by the request id. */
  workflowId?: string;
}

/** Extends a request of the run `options.workflowId`; by default, of the run that is found to have it. */
export async function extendRequest(
  session: Session,
  message: ExtendMessage,
  options: RequestOptions = {},
): Promise<Receipt> {
  const extension = withMessageId(readExtend(message), message);
  const workflowId = options.workflowId ?? (await findRequest(session, extension.requestId));
  return sendControl(session, workflowId, messageNames.extend, extension, options);
}

/** Delegates a request of the run `options.workflowId`; by default, of the run that is found to have it. */
export async function delegateRequest(
  session: Session,
  message: DelegateMessage,
  options: RequestOptions = {},
): Promise<Receipt> {
  const delegation = withMessageId(readDelegate(message), message);
  const workflowId = options.workflowId ?? (await findRequest(session, delegation.requestId));
  return sendControl(session, workflowId, messageNames.delegate, delegation, options);
}

export async function revokeGrants(
  session: Session,
  workflowId: string,
  message: RevokeMessage,
  options: SendOptions = {},
): Promise<Receipt> {
  const payload = withMessageId(readRevoke(message), message);
  return sendControl(session, workflowId, messageNames.revoke, payload, options);
}

export async function setPolicyOf(
  session: Session,
  workflowId: string,
  message: SetPolicyMessage,
  options: SendOptions = {},
): Promise<Receipt> {
  const payload = withMessageId(readSetPolicy(message), message);
  return sendControl(session, workflowId, messageNames.setPolicy, payload, options);
}

export async function messageRun(
  session: Session,
  workflowId: string,
  message: UserMessage,
  options: Omit<SendOptions, 'sign'> = {},
): Promise<Receipt> {
  const payload = withMessageId(readUserMessage(message), message);
  return deliverControl(session, workflowId, messageNames.message, payload, options);
}

/** Closes a run by a signal and a query, because a run that ends has no time to answer an update. */
export async function closeRun(session: Session, workflowId: string, message: CloseMessage = {}): Promise<Receipt> {
  const payload = withMessageId(readClose(message), message);
  await requireCodec(session, workflowId);
  const recorded = await recordBySignal(session, { workflowId, name: messageNames.close, payload });
  if (!recorded) throw runClosed(workflowId);
  try {
    // A workflow that has only the gate answers query `grants`, but not `run`.
    await queryRun(session, workflowId, queryNames.grants, [], session.limits.glanceTimeoutMs);
    return { requestId: '', accepted: true, message: `run '${workflowId}' is closing` };
  } catch (error) {
    if (!isProblemError(error)) throw error;
    return recordedReceipt('close', { reason: error.message.replace(/\.$/, '') });
  }
}

/** Signs a message if a key is given, and delivers it. */
async function sendControl(
  session: Session,
  workflowId: string,
  name: Exclude<SignedAction, 'decide'>,
  unsigned: ControlMessage & { requestId?: string },
  { timeoutMs, sign }: SendOptions,
): Promise<Receipt> {
  const { namespace } = session;
  const message = sign === undefined ? unsigned : signMessage(name, unsigned, { ...sign, workflowId, namespace });
  return deliverControl(session, workflowId, name, message, { timeoutMs });
}

/** Delivers a message and throws its refusal. `look` asks for its receipt, with the arguments of this function. */
async function deliverControl(
  session: Session,
  workflowId: string,
  name: keyof typeof nouns,
  message: ControlMessage & { requestId?: string },
  { timeoutMs }: Pick<SendOptions, 'timeoutMs'>,
): Promise<Receipt> {
  const route: MessageRoute<typeof message> = {
    name,
    what: nouns[name],
    look: (_session, _workflowId, _message, lookMs) => glanceAtReceipt(session, workflowId, { name, message }, lookMs),
  };
  const [receipt] = await deliver(session, workflowId, route, [message], { timeoutMs });
  return acceptedReceipt(receipt);
}

const nouns = {
  extend: 'extension',
  delegate: 'delegation',
  revoke: 'revocation',
  setPolicy: 'policy',
  message: 'message',
} as const;

/** Asks for the receipt of a message that was sent before; undefined without a receipt, an answer or a message id. */
async function glanceAtReceipt(
  session: Session,
  workflowId: string,
  { name, message }: { name: string; message: ControlMessage },
  timeoutMs: number,
): Promise<Receipt | undefined> {
  const messageId = messageIdOf(message);
  if (messageId === undefined) return undefined;
  const filter = { messageId, contentDigest: contentDigest(name, message) };
  try {
    const receipt = await queryRun<Receipt | null>(session, workflowId, queryNames.receipt, [filter], timeoutMs);
    return receipt === null || isUndecodable(receipt) ? undefined : receipt;
  } catch (error) {
    if (isProblemError(error)) return undefined;
    throw error;
  }
}

/** Returns what was read of `given`. An unsigned message without an id gets one. Throws the problem that was read. */
function withMessageId<Message extends { messageId?: string; signature?: unknown }>(
  read: { message: Message } | { problem: Problem },
  given: object,
): Message {
  if ('problem' in read) {
    const { requestId } = (given ?? {}) as { requestId?: unknown };
    // The error for a malformed request id has a remedy.
    const malformed = typeof requestId === 'string' ? malformedRequestId(requestId) : undefined;
    throw malformed ?? new ProblemError(read.problem);
  }
  const { message } = read;
  return message.signature === undefined ? { messageId: randomUUID(), ...message } : message;
}

/** Options of `client.cancel`. */
export interface CancelOptions {
  /** The reason, which the event of the cancellation has in the history. At most 1,000 characters. */
  reason?: string;
}

const longestReason = 1_000;

/** Asks a run to stop. Throws `run_not_found`, and `run_closed` where the server would report success. */
export async function cancelRun(
  session: Session,
  workflowId: string,
  { reason = '' }: CancelOptions = {},
): Promise<void> {
  const { connection, namespace, client } = session;
  if (typeof reason !== 'string') throw new ProblemError({ code: 'invalid_message', message: `'reason' must be text` });
  if (reason.length > longestReason) {
    throw new ProblemError({ code: 'too_large', message: `'reason' is longer than ${longestReason} characters` });
  }
  await callServer(
    session,
    async () => {
      const { status, raw } = await client.workflow.getHandle(workflowId).describe();
      if (status.name !== 'RUNNING') {
        throw new ProblemError({ code: 'run_closed', message: `Run '${workflowId}' is closed already.` });
      }
      // The SDK's handle takes no reason. As with the handle, the newest execution of the run is cancelled.
      await connection.workflowService.requestCancelWorkflowExecution({
        namespace,
        workflowExecution: { workflowId },
        firstExecutionRunId: raw.workflowExecutionInfo?.firstRunId ?? '',
        requestId: randomUUID(),
        identity: client.options.identity,
        reason,
      });
    },
    { workflowId },
  );
}
