import type { CountersignClient } from '../../src/client/countersign-client.ts';
import type { DelegateMessage, ExtendMessage, Receipt, RevokeMessage } from '../../src/contract.ts';
import { inventedId } from './invented-id.ts';
import { repeatUntilAnswered } from './repeat-until-answered.ts';
import type { PlannedControl } from './planned-control.ts';
import type { PlannedRun } from './schedule.ts';
import type { Via } from './planned-when.ts';
import type { Sender } from './senders.ts';
import { writtenBy } from './senders.ts';
import type { SendAnswer } from './sent-item.ts';
import type { SentControl } from './sent-control.ts';
import { signedControl } from './sign-sent.ts';

export interface ControlSending {
  plan: PlannedRun;
  workflowId: string;
  control: PlannedControl;
  /** The request that the message is about, with its original deadline; absent for a revocation. */
  about?: { requestId: string; deadlineMs: number };
  /** Ends the retries; an attempt in flight is finished first. */
  signal: AbortSignal;
}

/** Retries with the same message id until there is an answer. Never throws for an error of the run or the server. */
export async function sendControl(sender: Sender, sending: ControlSending): Promise<SentControl> {
  const { plan, workflowId, control, about, signal } = sending;
  const { fault, messageId = '' } = control;
  const requestId = fault === 'unknown' ? inventedId(messageId) : (about?.requestId ?? '');
  const untilMs = control.kind === 'extend' && about !== undefined ? about.deadlineMs + control.moreMs : undefined;
  const message = payloadOf(control, requestId, untilMs);
  const signing = { person: control.by, workflowId, namespace: sender.namespace };
  const signed = plan.verified === true ? signedControl(control.kind, message, signing) : message;
  const payload = writtenBy(sender, signed);
  const sentAtMs = Date.now();
  const found = await repeatUntilAnswered(sender, signal, () =>
    through[control.via](sender, workflowId, control.kind, payload),
  );
  return {
    run: plan.name,
    control,
    requestId,
    ...(untilMs !== undefined && { untilMs }),
    sentAtMs,
    answeredAtMs: Date.now(),
    answer: answerOf(found),
  };
}

function answerOf(found: { answer: SendAnswer } | { refused: string } | undefined): SendAnswer {
  if (found === undefined) return { kind: 'none' };
  return 'refused' in found ? { kind: 'refused', code: found.refused } : found.answer;
}

type Kind = PlannedControl['kind'];

const through: Record<Via, (sender: Sender, workflowId: string, kind: Kind, payload: unknown) => Promise<SendAnswer>> =
  {
    signal: async ({ workflow }, workflowId, kind, payload) => {
      await workflow.getHandle(workflowId).signal(kind, payload);
      return { kind: 'recorded' };
    },
    update: async ({ workflow }, workflowId, kind, payload) => {
      const handle = workflow.getHandle(workflowId);
      const receipt = await handle.executeUpdate<Receipt, [unknown]>(kind, { args: [payload] });
      return { kind: 'receipt', receipt };
    },
    client: async ({ client }, workflowId, kind, payload) => {
      const receipt = await throughClient[kind](client!, workflowId, payload as object);
      return receipt.recorded === true ? { kind: 'recorded' } : { kind: 'receipt', receipt };
    },
  };

const timeoutMs = 3_000;

const throughClient: Record<
  Kind,
  (client: CountersignClient, workflowId: string, payload: object) => Promise<Receipt>
> = {
  extend: (client, workflowId, payload) => client.extend(payload as ExtendMessage, { workflowId, timeoutMs }),
  delegate: (client, workflowId, payload) => client.delegate(payload as DelegateMessage, { workflowId, timeoutMs }),
  revoke: (client, workflowId, payload) => client.revoke(workflowId, payload as RevokeMessage, { timeoutMs }),
};

function payloadOf(control: PlannedControl, requestId: string, untilMs = 0): object {
  const { kind, by, messageId, fault } = control;
  const signed = { by, ...(messageId === undefined ? {} : { messageId }) };
  const isMisshapen = fault === 'misshapen';
  if (kind === 'revoke') return { grants: isMisshapen ? 'some' : control.grants, ...signed };
  if (kind === 'delegate') return { requestId, to: isMisshapen ? 'group:all' : control.to, ...signed };
  return { requestId, until: isMisshapen ? 'tomorrow' : new Date(untilMs).toISOString(), ...signed };
}
