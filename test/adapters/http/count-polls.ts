import type { CountersignClient } from '../../../src/client/countersign-client.ts';

/** How a client reads histories, while it is counted. */
export interface PollCount {
  /** Calls that wait for new events now. */
  open: number;
  /** The most that waited at a time. */
  most: number;
  /** All calls that read a history. */
  calls: number;
  stop(): void;
}

/** Counts the calls of a client that read histories, until `stop`. */
export function countPolls({ session }: CountersignClient): PollCount {
  const { workflowService } = session.connection;
  const poll = workflowService.getWorkflowExecutionHistory.bind(workflowService);
  const stop = (): void => void (workflowService.getWorkflowExecutionHistory = poll);
  const count: PollCount = { open: 0, most: 0, calls: 0, stop };
  workflowService.getWorkflowExecutionHistory = (async (request: { waitNewEvent?: boolean }) => {
    count.calls += 1;
    const waits = request.waitNewEvent === true;
    if (waits) count.most = Math.max(count.most, ++count.open);
    try {
      return await poll(request);
    } finally {
      if (waits) count.open -= 1;
    }
  }) as never;
  return count;
}
