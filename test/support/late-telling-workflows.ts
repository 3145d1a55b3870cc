import { condition, defineSignal, setHandler } from '@temporalio/workflow';
import type { WorkflowOutboundCallsInterceptor } from '@temporalio/workflow';
import type { RunInput, RunResult } from '../../src/contract.ts';
import { agentRun as unchanged } from '../../src/workflows/agent-run.ts';
import type { Carried } from '../../src/workflows/run-state.ts';

interface Activator {
  interceptors: { outbound: WorkflowOutboundCallsInterceptor[] };
}

/** A run whose signals to others wait for signal `tell`: what they are meant for may have ended by then. */
export async function agentRun(input: RunInput, carried?: Carried): Promise<RunResult> {
  let isTold = false;
  setHandler(defineSignal('tell'), () => {
    isTold = true;
  });
  const { __TEMPORAL_ACTIVATOR__: activator } = globalThis as unknown as { __TEMPORAL_ACTIVATOR__: Activator };
  activator.interceptors.outbound.push({
    async signalWorkflow(signal, next) {
      await condition(() => isTold);
      return next(signal);
    },
  });
  return await unchanged(input, carried);
}
