/** Requests about whole runs to the server; each is retried until it is answered. */
import { setTimeout as sleep } from 'node:timers/promises';
import { WorkflowExecutionAlreadyStartedError, WorkflowNotFoundError } from '@temporalio/common';
import type { CountersignClient } from '../../src/client/countersign-client.ts';
import { policyOf } from './approval-settings.ts';
import type { RunUnderWay } from './run-under-way.ts';
import type { PlannedRun } from './schedule.ts';

const attemptMs = 5_000;

export async function startRun(
  { session }: CountersignClient,
  { plan, workflowId, signal }: RunUnderWay,
): Promise<void> {
  const args = [{ agent: 'chaos', input: scriptOf(plan), policy: policyOf(plan) }];
  while (!signal.aborted) {
    try {
      await session.connection.withDeadline(Date.now() + attemptMs, () =>
        session.client.workflow.start('agentRun', { workflowId, taskQueue: 'countersign', args }),
      );
      return;
    } catch (error) {
      // The server accepted the start and died before it could answer.
      if (error instanceof WorkflowExecutionAlreadyStartedError) return;
      await sleep(250);
    }
  }
}

/** The script of the agent's model, turn by turn. The input of a nested run is its own script. */
function scriptOf({ turns }: PlannedRun): string {
  const spoken = turns.map(({ calls }) => ({
    calls: calls.map(({ modelCallId: id, tool, text, nested }) => ({
      id,
      tool,
      args: nested === undefined ? { text } : { input: scriptOf(nested) },
    })),
  }));
  return JSON.stringify([...spoken, { text: lastWords }]);
}

/** The answer of every run. */
export const lastWords = 'done';

/** A run that was never started counts as over. */
export async function isOver({ session }: CountersignClient, workflowId: string): Promise<boolean> {
  try {
    const { status } = await session.connection.withDeadline(Date.now() + attemptMs, () =>
      session.client.workflow.getHandle(workflowId).describe(),
    );
    return status.name !== 'RUNNING';
  } catch (error) {
    return error instanceof WorkflowNotFoundError;
  }
}
