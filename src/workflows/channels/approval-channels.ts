/**
 * Carries the requests of one run to its channels, and brings their answers in (docs/channels.md). It runs beside the run,
 * which it never holds up. It believes nothing that it is told: a signal names requests, and the run says what is true of
 * them.
 */
import { continueAsNew, defineQuery, defineSignal, setHandler, workflowInfo } from '@temporalio/workflow';
import type { Changed } from '../../activities/announce.ts';
import { changedName, deliveriesName, type Delivered } from '../../contract.ts';
import { isContinued } from '../state/carried.ts';
import { Deliveries, type DeliveryState } from './deliveries.ts';

const changedSignal = defineSignal<[unknown]>(changedName);
const deliveriesQuery = defineQuery<Delivered[]>(deliveriesName);

/** The argument of `approvalChannels`, which a run starts itself. */
export interface ChannelsInput {
  /** The workflow id of the run. */
  workflowId: string;
  /** What the execution before this one knew. */
  carried?: DeliveryState;
}

export async function approvalChannels(input: ChannelsInput): Promise<void> {
  const workflowId = runOf(workflowInfo().workflowId);
  // Whoever starts this can write anything into its input.
  const deliveries = new Deliveries(workflowId, isContinued() ? input.carried : undefined);
  setHandler(changedSignal, (changed) => deliveries.note(readChanged(changed)));
  setHandler(deliveriesQuery, () => deliveries.list());
  const isOver = await deliveries.toEnd();
  if (!isOver) await continueAsNew<typeof approvalChannels>({ workflowId, carried: deliveries.state() });
}

/** The run's id is a part of this workflow's own id, which nobody can change. */
function runOf(ownId: string): string {
  return ownId.slice(ownId.indexOf(':') + 1);
}

const requestId = /^[0-9a-f]{32}$/;
const kinds = ['reminded', 'warned', 'escalated'];
const mostIds = 100;

/** Anybody can signal. What does not fit is left out. */
function readChanged(value: unknown): Changed {
  const { requestIds, step } = (typeof value === 'object' && value !== null ? value : {}) as Partial<Changed>;
  const ids = Array.isArray(requestIds) ? requestIds.slice(0, mostIds) : [];
  const known = ids.filter((id: unknown) => typeof id === 'string' && requestId.test(id));
  return isStep(step) ? { requestIds: known, step } : { requestIds: known };
}

function isStep(step: Changed['step']): boolean {
  return (
    typeof step === 'object' &&
    step !== null &&
    kinds.includes(step.kind) &&
    typeof step.dueAt === 'string' &&
    step.dueAt.length <= 40
  );
}
