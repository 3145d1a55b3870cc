import { isObject } from '../../core/base/json.ts';
import type { JsonObject } from '../../core/base/tool-call.ts';
import { policiesOf } from '../../events/recorded-policies.ts';
import { HiddenByPolicies } from '../../events/hidden-by-policies.ts';
import type { Session } from '../server/session.ts';
import { projectRun } from '../history/fetch-journal.ts';
import { EvidenceCalls } from './evidence-calls.ts';
import { fetchRun, type ReadExecution } from '../history/history-chain.ts';

/** A call that an agent run has settled. */
export interface PastCall {
  workflowId: string;
  callId: string;
  toolName: string;
  /** The arguments. Absent if some of them are hidden from reviewers. */
  args?: JsonObject;
  /** The time of the ruling on the call, in ISO 8601. */
  at: string;
  outcome: string;
}

/** Reads the settled calls of a tool in an agent run, oldest first, from its history. Needs no worker. */
export async function pastCalls(session: Session, workflowId: string, tool: string): Promise<PastCall[]> {
  const { executions } = await fetchRun(session, workflowId);
  const { first, pasts } = policiesOf(executions);
  if (first === undefined) return [];
  const calls = new EvidenceCalls(executions, pasts);
  const hidden = hiddenIn(executions);
  const hidesAll = !hidden.isKnown || hidden.hidesArguments;
  const { entries, outcomes } = projectRun(executions);
  // The first entry about a call is its ruling.
  const newestFirst = entries.toReversed();
  const ruledAt = new Map(newestFirst.map(({ callId, at }) => [callId, at]));
  return outcomes.flatMap(({ callId, toolName, outcome }) => {
    const call = calls.asked(callId);
    const at = ruledAt.get(callId);
    if (toolName !== tool || call?.args === undefined || at === undefined) return [];
    const isHidden = hidesAll || hidesSome(call, hidden);
    return [{ workflowId, callId, toolName, ...(!isHidden && { args: call.args }), at, outcome }];
  });
}

function hiddenIn(executions: readonly ReadExecution[]): HiddenByPolicies {
  const hidden = new HiddenByPolicies();
  for (const event of executions.flatMap(({ events }) => events)) hidden.learn(event);
  return hidden;
}

/** True if some arguments are hidden, or if no activity has searched them for the values that policies hide. */
function hidesSome(call: object, { settings }: HiddenByPolicies): boolean {
  const { redaction } = call as { redaction?: unknown };
  if (!isObject(redaction)) return settings !== undefined;
  return !Array.isArray(redaction['values']) || redaction['values'].length > 0;
}
