import { proxyActivities } from '@temporalio/workflow';
import type { RunInput, RunResult } from '../../src/contract.ts';
import { agentRun as unchanged } from '../../src/workflows/agent-run.ts';
import type { Carried } from '../../src/workflows/run-state.ts';

const { announce } = proxyActivities<{ announce: () => Promise<void> }>({ startToCloseTimeout: '1s' });

/** What a careless change does: one activity more, first of all. Histories of before must not replay with it. */
export async function agentRun(input: RunInput, carried?: Carried): Promise<RunResult> {
  void announce();
  return await unchanged(input, carried);
}
