import { getApproval } from '../../client/get-approval.ts';
import { inParallel } from '../../client/in-parallel.ts';
import type { Session } from '../../client/connect.ts';
import type { ApprovalDetails } from '../../contract.ts';
import { isProblemError } from '../../core/base/problem.ts';
import type { ChannelSet } from '../channel-set.ts';
import type { Channel } from '../channel.ts';
import { quietForMs } from '../quiet-hours.ts';

export interface LookInput {
  workflowId: string;
  requestIds: string[];
}

/** A channel of a request, as far as its workflow needs to know it. */
export interface LookedChannel {
  name: string;
  notifies: boolean;
  resolves: boolean;
  settles: boolean;
  /** True: it answers without asking anybody, so nobody is told unless its answer settles nothing. */
  isAutomatic: boolean;
  batch: boolean;
  retries: boolean;
  /** How long a notification waits for others of the run, and for the end of quiet hours, in milliseconds. */
  delayMs: number;
}

export interface LookedRequest {
  requestId: string;
  /** `gone`: the run has no such request, or is not a run. */
  state: 'open' | 'settled' | 'gone';
  /** Milliseconds since 1970; null: none. */
  deadlineMs?: number | null;
  /** The names of its channels, as the run says. */
  names: string[];
  /** Those of them that this worker has. */
  channels: LookedChannel[];
}

export type LookAtRequests = (input: LookInput) => Promise<LookedRequest[]>;

const readsAtOnce = 4;

/**
 * The activity `countersign.lookAtRequests`: reads the state of requests from the run, and what their channels can do. The
 * workflow trusts neither its signals nor its starter.
 */
export function createLookAtRequests(set: ChannelSet | undefined, session: () => Session): LookAtRequests {
  return ({ workflowId, requestIds }) =>
    inParallel(requestIds, readsAtOnce, async (requestId): Promise<LookedRequest> => {
      const details = await requestOfRun(session(), workflowId, requestId);
      if (details === undefined) return { requestId, state: 'gone', names: [], channels: [] };
      const { deadline, settled, channels = [], assessment } = details;
      if (settled !== undefined) return { requestId, state: 'settled', names: [], channels: [] };
      const delayMs = quietForNowMs(set, assessment.severity);
      return {
        requestId,
        state: 'open',
        deadlineMs: deadline === null ? null : Date.parse(deadline),
        names: channels,
        channels: channels.flatMap((name) => looked(set, name, details, delayMs)),
      };
    });
}

/** Undefined if the run has no such request. */
export async function requestOfRun(
  session: Session,
  workflowId: string,
  requestId: string,
): Promise<ApprovalDetails | undefined> {
  try {
    const details = await getApproval(session, requestId, { workflowId });
    if (details.settled !== undefined || (await isOpen(session, workflowId))) return details;
    // A run that was terminated has settled nothing.
    const settledAt = new Date().toISOString();
    return { ...details, settled: { outcome: 'cancelled', runs: false, reason: 'the run has ended', settledAt } };
  } catch (error) {
    if (isProblemError(error) && (error.code === 'unknown_request' || error.code === 'run_not_found')) return undefined;
    throw error;
  }
}

async function isOpen({ client }: Session, workflowId: string): Promise<boolean> {
  const { status } = await client.workflow.getHandle(workflowId).describe();
  return status.name === 'RUNNING';
}

function quietForNowMs(
  { quietHours }: Partial<ChannelSet> = {},
  severity: ApprovalDetails['assessment']['severity'],
): number {
  return quietHours === undefined ? 0 : quietForMs(quietHours, severity, Date.now());
}

/** A channel that the run has recorded and this worker does not have is left out. */
function looked(set: ChannelSet | undefined, name: string, request: ApprovalDetails, quietMs: number): LookedChannel[] {
  const channel = set?.channels.get(name);
  if (set === undefined || channel === undefined) return [];
  const batch = channel.batch === true;
  return [
    {
      name,
      notifies: channel.notify !== undefined,
      resolves: channel.resolve !== undefined,
      settles: channel.settled !== undefined,
      isAutomatic: isAutomatic(channel, request),
      batch,
      retries: channel.retries === true,
      delayMs: Math.max(quietMs, batch ? set.batchMs : 0),
    },
  ];
}

function isAutomatic(channel: Channel, request: ApprovalDetails): boolean {
  try {
    return channel.isAutomatic?.(request) === true;
  } catch {
    return false;
  }
}
