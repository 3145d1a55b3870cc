/** Signal `parentsChanged`: the policies that bind the run above a nested run have changed (docs/decisions/0018). */
import { proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { ReadParents } from '../../activities/read-parents.ts';
import { activityNames, parentsChangedName } from '../../contract.ts';
import { byteLength } from '../../core/base/text.ts';
import { inheritedBeside, maxInheritedBytes } from '../../core/policy/nesting.ts';
import type { Policy } from '../../core/policy/policy.ts';
import type { GateState } from '../state/gate-state.ts';
import { reevaluateOpen } from '../state/reevaluate-open.ts';
import type { ActivePolicies } from '../state/active-policies.ts';
import { type MessageKind, acceptable, refused } from './message-kind.ts';

/** Retried until a worker answers, because what this run may do depends on it. */
const { [activityNames.readParents]: readParents } = proxyActivities<{ [activityNames.readParents]: ReadParents }>({
  startToCloseTimeout: '30s',
  summary: 'Read the policies of the calling run',
});

/** A calling run never sends more bytes. */
const maxBytes = maxInheritedBytes + 1_000;

interface ParentsChanged {
  value: unknown;
  eventId: string;
}

/** `inherit` puts the run under the parents' new policies. Undefined for a workflow without a parent. */
export function parentsChangedMessages(
  state: GateState,
  policies: () => ActivePolicies,
  inherit: (parents: Policy[]) => void,
): MessageKind<ParentsChanged> | undefined {
  const { parent, runId } = workflowInfo();
  if (parent === undefined) return undefined;
  return {
    name: parentsChangedName,
    parse: (value, eventId = '') => {
      const isLong = byteLength(JSON.stringify(value ?? null)) > maxBytes;
      const message = `the policies of a calling run have at most ${maxBytes} bytes`;
      return isLong ? { problem: { code: 'too_large', message } } : { message: { value, eventId } };
    },
    concerns: () => [],
    preview: () => {
      if (policies().options.onParents !== undefined) return acceptable;
      return refused('', { code: 'invalid_message', message: 'only agent runs inherit policies' });
    },
    apply: ({ value, eventId }) => ({
      blocks: true,
      isRequired: true,
      failed: 'the policies of the calling run could not be read',
      ended: 'the run ended before it took the policies of the calling run',
      find: async () => {
        const read = await readParents({ runId, eventId, parent, message: value });
        const message = `the signal did not come from run '${parent.workflowId}'`;
        if ('isForged' in read) return () => refused('', { code: 'forbidden', message });
        return () => {
          inherit(inheritedBeside(policies().policies.ceiling, read.policies));
          const reason = `the policies of run '${parent.workflowId}' changed`;
          reevaluateOpen(state, policies(), read.atMs, { reason });
          return acceptable;
        };
      },
    }),
  };
}
