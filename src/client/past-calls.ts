import { isObject } from '../core/base/is-object.ts';
import type { JsonObject } from '../core/base/tool-call.ts';
import { orderedEntries } from '../core/ledger/journal.ts';
import { limitsOf } from '../core/policy/limits.ts';
import type { Session } from './connect.ts';
import { decodeHistory } from './decode-history.ts';
import { fetchHistoryChain } from './history-chain.ts';
import { historyFacts } from './history-facts.ts';
import { entriesOf, projectHistories } from './journal-of.ts';

/** A call that an agent run has settled. */
export interface PastCall {
  workflowId: string;
  callId: string;
  toolName: string;
  /** Absent: reviewers may not see all of them. */
  args?: JsonObject;
  /** ISO 8601: when it was ruled on. */
  at: string;
  outcome: string;
}

/** The calls of a tool in an agent run that are settled, oldest first, from its history. Needs no worker. */
export async function pastCalls(session: Session, workflowId: string, tool: string): Promise<PastCall[]> {
  const { executions } = await fetchHistoryChain(session, workflowId);
  await decodeHistory(
    session,
    executions.flatMap(({ events }) => events),
  );
  const { isAgentRun, turns, config, read, parents } = historyFacts(executions);
  if (!isAgentRun || config === undefined) return [];
  const { includeArguments, redact } = limitsOf(config);
  const changes = [...read.map(({ policy }) => policy), ...parents.flat()];
  const hidesAll = !includeArguments || changes.some(({ approval }) => approval?.includeArguments === false);
  const times = new Map<string, string>();
  for (const { callId, at } of orderedEntries(entriesOf(executions))) {
    if (callId !== undefined && !times.has(callId)) times.set(callId, at);
  }
  return projectHistories(executions).outcomes.flatMap(({ callId, toolName, outcome }) => {
    const [turn, index] = callId.split('.').map(Number) as [number, number];
    const call = turns.get(turn)?.[index - 1];
    const at = times.get(callId);
    if (toolName !== tool || call?.args === undefined || at === undefined) return [];
    const isHidden = hidesAll || hidesSome(call, redact);
    return [{ workflowId, callId, toolName, ...(!isHidden && { args: call.args }), at, outcome }];
  });
}

/** True if reviewers do not see all of the arguments, or if nobody has looked for what they are not to see. */
function hidesSome(call: object, redact: boolean): boolean {
  const { redaction } = call as { redaction?: unknown };
  if (!isObject(redaction)) return redact;
  return !Array.isArray(redaction['values']) || redaction['values'].length > 0;
}
