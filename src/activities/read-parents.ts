import type { Policy } from '../core/policy/policy.ts';
import { changedParents } from './parent-of-run.ts';
import { recordedAtMs, recordedEvents } from './recorded-events.ts';

export interface ReadParentsInput {
  /** The execution whose history holds the signal's event. */
  runId: string;
  eventId: string;
  /** The run above, as the server named it when this run was started. */
  parent: { workflowId: string; runId: string };
  /** The payload of the signal. */
  message: unknown;
}

/** `policies`: those that bind the run above now, outermost first. `atMs`: when the server recorded the signal. */
export type ReadParents = (
  input: ReadParentsInput,
) => Promise<{ policies: Policy[]; atMs: number } | { isForged: true }>;

/** Takes the place of policies that cannot be read: no policy is stricter (I2). */
const unreadable: Policy = {
  version: 1,
  rules: [{ pattern: '*', action: 'deny', reason: 'The policies of the calling run cannot be read' }],
  riskDefaults: {},
  approval: {},
};

/**
 * The activity `countersign.readParents`: checks that signal `parentsChanged` came from the run above, and reads it.
 * Anybody may send a signal, but the server records which workflow sent it, and no client can forge that.
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
