import type { Policy } from '../core/policy/policy.ts';
import { changedParents } from './parent-of-run.ts';
import { recordedAtMs, recordedEvents } from './recorded-events.ts';

export interface ReadParentsInput {
  /** The link of the chain whose history holds the signal's event. */
  runId: string;
  eventId: string;
  /** The run above, as the server told when this one was started. */
  parent: { workflowId: string; runId: string };
  /** What came with the signal. */
  message: unknown;
}

/** `policies`: what binds the run above now, outermost first. `atMs`: when the server recorded the signal. */
export type ReadParents = (
  input: ReadParentsInput,
) => Promise<{ policies: Policy[]; atMs: number } | { isForged: true }>;

/** Stands for what cannot be read: it is no looser than anything (I2). */
const unreadable: Policy = {
  version: 1,
  rules: [{ pattern: '*', action: 'deny', reason: 'The policies of the calling run cannot be read' }],
  riskDefaults: {},
  approval: {},
};

/**
 * The activity `countersign.readParents`: whether signal `parentsChanged` came from the run above, and what it says.
 * Anybody may send a signal; whether a workflow did, and which, the server itself writes beside it, and no client can.
 */
export const readParents: ReadParents = async ({ runId, eventId, parent, message }) => {
  const event = (await recordedEvents(runId, [eventId])).get(eventId);
  const sender = event?.workflowExecutionSignaledEventAttributes?.externalWorkflowExecution;
  if (event === undefined || sender?.workflowId !== parent.workflowId || sender.runId !== parent.runId) {
    return { isForged: true };
  }
  const { success, data } = changedParents.safeParse(message);
  return { policies: success ? data.policies : [unreadable], atMs: recordedAtMs(event) };
};
