import { condition, defineSignal, setHandler } from '@temporalio/workflow';
import type { WorkflowOutboundCallsInterceptor } from '@temporalio/workflow';
import type { RunInput, RunResult } from '../../../src/contract.ts';
import { agentRun as unchanged } from '../../../src/workflows/agent/agent-run.ts';
import type { Carried } from '../../../src/workflows/agent/run-state.ts';

interface Activator {
  interceptors: { outbound: WorkflowOutboundCallsInterceptor[] };
}

/**
 * A run that waits for signal `go` before it signals other runs, which may have ended by then. With `{ late: "start" }`
 * in its metadata it also waits before it starts other runs; its policies may have changed by then.
 */
export async function agentRun(input: RunInput, carried?: Carried): Promise<RunResult> {
  let isGoing = false;
  setHandler(defineSignal('go'), () => {
    isGoing = true;
  });
  const { __TEMPORAL_ACTIVATOR__: activator } = globalThis as unknown as { __TEMPORAL_ACTIVATOR__: Activator };
  const isLate = input.metadata?.['late'] === 'start';
  activator.interceptors.outbound.push({
    async startChildWorkflowExecution(child, next) {
      await condition(() => isGoing || !isLate);
      return next(child);
    },
    async signalWorkflow(signal, next) {
      await condition(() => isGoing);
      return next(signal);
    },
  });
  return await unchanged(input, carried);
}
