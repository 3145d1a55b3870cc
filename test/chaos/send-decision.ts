import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure, WorkflowNotFoundError } from '@temporalio/common';
import type { CountersignClient } from '../../src/client/client.ts';
import type { Decision, Receipt } from '../../src/contract.ts';
import { isProblemError } from '../../src/core/problem.ts';
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

const attemptMs = 8_000;
const pauseMs = 250;

/**
 * Sends as a careful service would: repeats under the same decision ids until there is an answer. Never throws for
 * what the run or the server says.
 */
export async function sendDecision(client: CountersignClient, sending: Sending): Promise<SentItem[]> {
  const { run, door, items, signal } = sending;
  const sentAtMs = Date.now();
  let answers: SendAnswer[] | undefined;
  while (answers === undefined && !signal.aborted) {
    answers = await attempt(client, sending);
    if (answers === undefined) await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
  }
  const answeredAtMs = Date.now();
  return items.map(({ item, requestId }, index) => ({
    run,
    item,
    door,
    requestId: targetOf(item, requestId),
    sentAtMs,
    answeredAtMs,
    answer: answers?.[index] ?? { kind: 'none' },
  }));
}

/** Undefined: no answer, and a repetition may get one. */
async function attempt(client: CountersignClient, sending: Sending): Promise<SendAnswer[] | undefined> {
  try {
    const { connection } = client.session;
    return await connection.withDeadline(Date.now() + attemptMs, () => through[sending.door](client, sending));
  } catch (error) {
    const code = refusalOf(error);
    return code === undefined ? undefined : sending.items.map(() => ({ kind: 'refused', code }));
  }
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

/** The code of a definite no; undefined where nothing is known. */
function refusalOf(error: unknown): string | undefined {
  if (error instanceof WorkflowUpdateFailedError) {
    return error.cause instanceof ApplicationFailure ? (error.cause.type ?? 'internal') : 'internal';
  }
  if (error instanceof WorkflowNotFoundError) return 'run_closed';
  if (!isProblemError(error)) return undefined;
  return ['server_unreachable', 'no_worker', 'internal'].includes(error.code) ? undefined : error.code;
}

function payloadOf(items: Sending['items']): unknown {
  const decisions = items.map(({ item, requestId }) => decisionOf(item, requestId));
  return decisions.length === 1 ? decisions[0] : decisions;
}

function decisionOf(item: PlannedItem, requestId: string): object {
  const { approved, reviewerId, decisionId, fault, edit, response } = item;
  return {
    requestId: targetOf(item, requestId),
    approved: fault === 'misshapen' ? String(approved) : approved,
    reviewerId,
    ...(decisionId === undefined ? {} : { decisionId }),
    ...(edit === undefined ? {} : { modifiedArguments: { text: edit } }),
    ...(response === undefined ? {} : { response }),
    ...(fault === 'digest' ? { digest: '0'.repeat(64) } : {}),
  };
}

function targetOf({ fault, decisionId = '' }: PlannedItem, requestId: string): string {
  if (fault !== 'unknown') return requestId;
  return createHash('sha256').update(decisionId).digest('hex').slice(0, 32);
}
