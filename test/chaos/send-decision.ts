import { WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { Decision, Receipt } from '../../src/contract.ts';
import { inventedId } from './invented-id.ts';
import { repeatUntilAnswered } from './repeat-until-answered.ts';
import type { PlannedItem, PlannedRun } from './schedule.ts';
import type { Via } from './planned-when.ts';
import type { Sender } from './senders.ts';
import { rawJson, writtenBy } from './senders.ts';
import type { SendAnswer, SentItem } from './sent-item.ts';
import { signedDecision } from './sign-sent.ts';

export interface Sending {
  plan: PlannedRun;
  workflowId: string;
  via: Via;
  items: { item: PlannedItem; requestId: string }[];
  /** Ends the retries; an attempt in flight is finished first. */
  signal: AbortSignal;
}

/** Retries with the same decision ids until there is an answer. Never throws for an error of the run or the server. */
export async function sendDecision(sender: Sender, sending: Sending): Promise<SentItem[]> {
  const { plan, via, items, signal } = sending;
  const sentAtMs = Date.now();
  const payload = payloadOf(sender, sending);
  const found = await repeatUntilAnswered(sender, signal, () => through[via](sender, { ...sending, payload }));
  const answeredAtMs = Date.now();
  return items.map(({ item, requestId }, index) => ({
    run: plan.name,
    item,
    via,
    requestId: targetOf(item, requestId),
    sentAtMs,
    answeredAtMs,
    answer: answerOf(found, index),
  }));
}

function answerOf(found: { answer: SendAnswer[] } | { refused: string } | undefined, index: number): SendAnswer {
  if (found === undefined) return { kind: 'none' };
  if ('refused' in found) return { kind: 'refused', code: found.refused };
  return found.answer[index] ?? { kind: 'none' };
}

type Written = Sending & { payload: unknown };

const through: Record<Via, (sender: Sender, sending: Written) => Promise<SendAnswer[]>> = {
  signal: async ({ workflow }, { workflowId, payload, items }) => {
    await workflow.getHandle(workflowId).signal('decide', payload);
    return items.map(() => ({ kind: 'recorded' }));
  },
  update: async ({ workflow }, { workflowId, payload, items }) => {
    const handle = workflow.getHandle(workflowId);
    const answer = await handle
      .executeUpdate<Receipt | Receipt[], [unknown]>('decide', { args: [payload] })
      .catch((error: unknown) => receiptsIn(error, items.length));
    return [answer].flat().map((receipt) => ({ kind: 'receipt', receipt }));
  },
  client: async ({ client }, { workflowId, payload }) => {
    const answer: Receipt | Receipt[] = await client!.decide(payload as Decision, { workflowId, timeoutMs: 3_000 });
    return [answer]
      .flat()
      .map((receipt) => (receipt.recorded === true ? { kind: 'recorded' } : { kind: 'receipt', receipt }));
  },
};

/** A list of which nothing counts is refused with the code of its first; each item's own receipt is in the details. */
function receiptsIn(error: unknown, count: number): Receipt[] {
  const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined;
  const receipts = cause instanceof ApplicationFailure ? ((cause.details ?? []) as Receipt[]) : [];
  if (count < 2 || receipts.length !== count) throw error;
  return receipts;
}

const undecodable = rawJson('{"requestId":');

function payloadOf(sender: Sender, sending: Sending): unknown {
  const decisions = sending.items.map(({ item, requestId }) => decisionOf(sender, sending, item, requestId));
  if (decisions.length > 1) return writtenBy(sender, decisions);
  return sending.items[0]?.item.fault === 'undecodable' ? undecodable : writtenBy(sender, decisions[0]);
}

function decisionOf(
  { namespace }: Sender,
  { plan, workflowId }: Sending,
  item: PlannedItem,
  requestId: string,
): object {
  const { approved, reviewerId, decisionId, fault, edit, response, always } = item;
  const decision = {
    requestId: targetOf(item, requestId),
    approved: fault === 'misshapen' ? String(approved) : approved,
    reviewerId,
    ...(decisionId === undefined ? {} : { decisionId }),
    ...(edit === undefined ? {} : { modifiedArguments: { text: edit } }),
    ...(response === undefined ? {} : { response }),
    ...(always === undefined ? {} : { always }),
    ...(fault === 'digest' ? { digest: '0'.repeat(64) } : {}),
  };
  const isSigned = fault === 'forged' || fault === 'elsewhere' || fault === 'altered' || plan.verified === true;
  if (!isSigned || fault === 'unsigned') return decision;
  return signedDecision(decision, fault, { person: reviewerId, workflowId, namespace });
}

function targetOf({ fault, decisionId = '' }: PlannedItem, requestId: string): string {
  return fault === 'unknown' ? inventedId(decisionId) : requestId;
}
