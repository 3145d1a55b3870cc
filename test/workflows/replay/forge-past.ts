import type { temporal } from '@temporalio/proto';
import { defaultPayloadConverter } from '@temporalio/common';
import type { CountersignClient } from '../../../src/client/countersign-client.ts';
import type { CarriedGate } from '../../../src/workflow.ts';
import type { StartableCall, Carried } from '../../../src/workflows/agent/run-state.ts';

/** Carried state as an attacker forges it: a copy of genuine state from a history that they can read. */

/** What the first execution of a workflow passed to the second, as recorded in history. */
export async function carriedBy<State>(client: CountersignClient, workflowId: string): Promise<State> {
  const { executions } = await client.historyChain(workflowId);
  const last = executions[0]!.events.at(-1)!.workflowExecutionContinuedAsNewEventAttributes!;
  return defaultPayloadConverter.fromPayload(last.input!.payloads![1] as temporal.api.common.v1.Payload);
}

/** The same state, but with its call ready to run, no ceiling and no open request. */
export function forgedRun({ writer, state, gate }: Carried): Carried {
  const { ceiling: _, ...config } = state.config;
  const calls = state.calls.map((each) => ({ ...each, state: 'ready' }) as StartableCall);
  return { writer, state: { ...state, config, calls }, gate: { ...gate, ledger: { ...gate.ledger, open: [] } } };
}

/** The same state, but with no ceiling, no open request and a policy that allows everything. */
export function forgedGate({ writer, gate, config }: CarriedGate): CarriedGate {
  const { ceiling: _, ...rest } = config;
  return { writer, gate: { ...gate, ledger: { ...gate.ledger, open: [] } }, config: { ...rest, run: allowAll } };
}

const allowAll = {
  version: 1 as const,
  rules: [{ pattern: '*', action: 'allow' as const }],
  riskDefaults: {},
  approval: {},
};
