/**
 * Carries the requests of one run to its channels, and their answers to the run, without ever blocking the run
 * (docs/channels.md). A signal only names requests; its sender is not trusted, so their state is read from the run.
 */
import {
  ApplicationFailure,
  makeContinueAsNewFunc,
  defineQuery,
  defineSignal,
  setHandler,
  workflowInfo,
  continueAsNew,
  proxyActivities,
  sleep,
} from '@temporalio/workflow';
import type { AnnouncedStep, ChangedSignal } from '../../activities/announce.ts';
import type { Delivered } from '../../contract.ts';
import { changedName, channelsWorkflowId, deliveriesName, endedRunsPrefix, activityNames } from '../../contract.ts';
import { isUndecodable } from '../../core/base/undecodable.ts';
import { verified } from '../state/carried.ts';
import { Deliveries, type DeliveryState } from './deliveries.ts';
import type { LookForEndedRuns } from '../../channels/activities/look-for-ended-runs.ts';

const changedSignal = defineSignal<[unknown]>(changedName);
const deliveriesQuery = defineQuery<Delivered[]>(deliveriesName);

/** The argument of `approvalChannels`, which a run starts itself. */
export interface ChannelsInput {
  /** The workflow id of the run. */
  workflowId: string;
  /** The state of the previous execution. */
  carried?: DeliveryState;
}

/** The workflow of a run's channels. It ends when no request is open and nothing is left to deliver. */
export async function approvalChannels(input: ChannelsInput): Promise<void> {
  const info = workflowInfo();
  // One workflow of each task queue has such an id. It has no run of its own, and only looks for runs that have ended.
  if (info.workflowId.startsWith(endedRunsPrefix)) return watchEndedRuns();
  // This error fails only the task. The server retries it, perhaps on a worker that has the key or the codec.
  if (info.continuedFromExecutionRunId !== undefined && isUndecodable(input)) throw new Error(input.why);
  const workflowId = agentRunId(info.workflowId, input);
  const deliveries = new Deliveries(workflowId);
  setHandler(changedSignal, (changed) => deliveries.note(readChanged(changed)));
  setHandler(deliveriesQuery, () => deliveries.list());
  // Any starter of a workflow can write `carried`, so it is verified.
  if (input?.carried !== undefined) deliveries.restore(await verified(input.carried));
  const isOver = await deliveries.toEnd();
  if (isOver) return;
  const next = makeContinueAsNewFunc<typeof approvalChannels>({ initialVersioningBehavior: 'AUTO_UPGRADE' });
  await next({ workflowId, carried: deliveries.carry() });
}

/**
 * Returns the workflow id of the agent run: the end of this workflow's own id or, if that is a digest, the id in the
 * input. `channelsWorkflowId` of it must give the own id, which no sender can change. Throws `forbidden` otherwise,
 * because then no agent run has started this workflow.
 */
function agentRunId(ownId: string, input: Partial<ChannelsInput> | null | undefined): string {
  const candidates = [input?.workflowId, ownId.slice(ownId.indexOf(':') + 1)];
  const workflowId = candidates.find((id) => typeof id === 'string' && channelsWorkflowId(id) === ownId);
  if (workflowId !== undefined) return workflowId;
  const message = `A run starts this workflow itself, under the id '${channelsWorkflowId('RUN')}'`;
  throw ApplicationFailure.nonRetryable(message, 'forbidden');
}

const requestId = /^[0-9a-f]{32}$/;
const kinds = ['reminded', 'warned', 'escalated'];
const mostIds = 100;
/** The most characters of all names in a step: steps that wait are carried through continue-as-new. */
const longestNames = 4_000;

/** Reads the argument of a signal. Any client can send one, so malformed parts are left out. */
function readChanged(value: unknown): ChangedSignal {
  const { requestIds, step } = (typeof value === 'object' && value !== null ? value : {}) as Partial<ChangedSignal>;
  const ids = Array.isArray(requestIds) ? requestIds.slice(0, mostIds) : [];
  const known = ids.filter((id: unknown) => typeof id === 'string' && requestId.test(id));
  const read = readStep(step);
  return read === undefined ? { requestIds: known } : { requestIds: known, step: read };
}

function readStep(value: unknown): AnnouncedStep | undefined {
  const { kind, to = [], dueAt } = (typeof value === 'object' && value !== null ? value : {}) as Partial<AnnouncedStep>;
  if (kind === undefined || !kinds.includes(kind) || typeof dueAt !== 'string' || dueAt.length > 40) return undefined;
  if (kind !== 'escalated') return { kind, dueAt };
  const areNames = Array.isArray(to) && to.every((name) => typeof name === 'string');
  return areNames && to.join(' ').length <= longestNames ? { kind, to, dueAt } : undefined;
}

const { [activityNames.lookForEndedRuns]: lookForEndedRuns } = proxyActivities<{
  [activityNames.lookForEndedRuns]: LookForEndedRuns;
}>({ startToCloseTimeout: '5m', retry: { maximumInterval: '60s' }, summary: 'Look for runs that have ended' });

/** Looks for runs that were terminated, timed out or deleted, which announce no end. Ends when no run has channels. */
export async function watchEndedRuns(): Promise<void> {
  for (;;) {
    await sleep('60s');
    const looked: Partial<Awaited<ReturnType<LookForEndedRuns>>> | null = await lookForEndedRuns();
    if (looked?.open === 0) return;
    if (workflowInfo().continueAsNewSuggested) await continueAsNew();
  }
}
