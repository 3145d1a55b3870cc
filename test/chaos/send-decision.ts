import type { CountersignClient } from '../../src/client/client.ts';
import type { Decision, Receipt } from '../../src/contract.ts';
import { inventedId } from './invented-id.ts';
import { repeatUntilAnswered } from './repeat-until-answered.ts';
import type { Door, PlannedItem } from './schedule.ts';
import type { SendAnswer, SentItem } from './sent-item.ts';

export interface Sending {
  run: string;
  workflowId: string;
  door: Door;
  items: { item: PlannedItem; requestId: string }[];
  /** Ends the repetitions; an attempt under way is finished first. */
  signal: AbortSignal;
}

/** Repeats under the same decision ids until there is an answer. Never throws for what the run or the server says. */
export async function sendDecision(client: CountersignClient, sending: Sending): Promise<SentItem[]> {
  const { run, door, items, signal } = sending;
  const sentAtMs = Date.now();
  const found = await repeatUntilAnswered(client, signal, () => through[door](client, sending));
  const answeredAtMs = Date.now();
  return items.map(({ item, requestId }, index) => ({
    run,
    item,
    door,
    requestId: targetOf(item, requestId),
    sentAtMs,
    answeredAtMs,
    answer: answerOf(found, index),
  }));
}

function answerOf(found: { answer: SendAnswer[] } | { refused: string } | undefined, index: number): SendAnswer {
  if (found === undefined) return { kind: 'none' };
  return 'refused' in found ? { kind: 'refused', code: found.refused } : (found.answer[index] ?? { kind: 'none' });
}

const through: Record<Door, (client: CountersignClient, sending: Sending) => Promise<SendAnswer[]>> = {
  signal: async ({ session }, { workflowId, items }) => {
    if (items.length === 1 && items[0]!.item.fault === 'undecodable') {
      const { connection, namespace } = session;
      await connection.workflowService.signalWorkflowExecution({
        namespace,
        workflowExecution: { workflowId },
        signalName: 'decide',
        input: {
          payloads: [{ metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('{"requestId":') }],
        },
      });
    } else await session.client.workflow.getHandle(workflowId).signal('decide', payloadOf(items));
    return items.map(() => ({ kind: 'recorded' }));
  },
  update: async ({ session }, { workflowId, items }) => {
    const handle = session.client.workflow.getHandle(workflowId);
    const answer = await handle.executeUpdate<Receipt | Receipt[], [unknown]>('decide', { args: [payloadOf(items)] });
    return [answer].flat().map((receipt) => ({ kind: 'receipt', receipt }));
  },
  client: async (client, { workflowId, items }) => {
    const payload = payloadOf(items) as Decision;
    const answer: Receipt | Receipt[] = await client.decide(payload, { workflowId, timeoutMs: 3_000 });
    return [answer]
      .flat()
      .map((receipt) =>
        receipt.accepted && receipt.outcome === undefined ? { kind: 'recorded' } : { kind: 'receipt', receipt },
      );
  },
};

function payloadOf(items: Sending['items']): unknown {
  const decisions = items.map(({ item, requestId }) => decisionOf(item, requestId));
  return decisions.length === 1 ? decisions[0] : decisions;
}

function decisionOf(item: PlannedItem, requestId: string): object {
  const { approved, reviewerId, decisionId, fault, edit, response, always } = item;
  return {
    requestId: targetOf(item, requestId),
    approved: fault === 'misshapen' ? String(approved) : approved,
    reviewerId,
    ...(decisionId === undefined ? {} : { decisionId }),
    ...(edit === undefined ? {} : { modifiedArguments: { text: edit } }),
    ...(response === undefined ? {} : { response }),
    ...(always === undefined ? {} : { always }),
    ...(fault === 'digest' ? { digest: '0'.repeat(64) } : {}),
  };
}

function targetOf({ fault, decisionId = '' }: PlannedItem, requestId: string): string {
  return fault === 'unknown' ? inventedId(decisionId) : requestId;
}
