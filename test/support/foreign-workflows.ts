import { ActivityFailure, ApplicationFailure, proxyActivities } from '@temporalio/workflow';

interface Scheduled {
  tool: string;
  taskQueue: string;
  args: unknown[];
}

/** A workflow that nobody gated: it schedules a tool of a countersign worker and tells how it was refused. */
export async function schedules({ tool, taskQueue, args }: Scheduled): Promise<unknown> {
  const activities = proxyActivities<Record<string, (...each: unknown[]) => Promise<unknown>>>({
    taskQueue,
    startToCloseTimeout: '10s',
  });
  try {
    return await activities[tool]!(...args);
  } catch (error) {
    const cause = error instanceof ActivityFailure ? error.cause : error;
    if (!(cause instanceof ApplicationFailure)) throw error;
    return { type: cause.type, nonRetryable: cause.nonRetryable };
  }
}

/** The same, under the name of the real one: what anybody with write access to the namespace can register. */
export function agentRun(scheduled: Scheduled): Promise<unknown> {
  return schedules(scheduled);
}
