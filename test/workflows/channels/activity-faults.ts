import type { Info } from '@temporalio/activity';
import type { ActivityInboundCallsInterceptor, WorkerInterceptors } from '@temporalio/worker';

/** Makes activities of certain workflows fail, or return something else, in place of what they do. */
export interface ActivityFaults {
  interceptors: WorkerInterceptors;
  /** The next `times` attempts of the activity, in the workflow of this id, do `fault` in place of their work. */
  set(workflowId: string, activity: string, times: number, fault: () => unknown): void;
  /** How many of these attempts are still to come. */
  left(workflowId: string, activity: string): number;
}

export function activityFaults(): ActivityFaults {
  const faults = new Map<string, { times: number; fault: () => unknown }>();
  const keyOf = (workflowId: string, activity: string): string => `${workflowId} ${activity}`;
  const inbound = ({ workflowExecution, activityType }: Info): ActivityInboundCallsInterceptor => ({
    execute: async (input, next) => {
      const found = faults.get(keyOf(workflowExecution?.workflowId ?? '', activityType));
      if (found === undefined || found.times === 0) return next(input);
      found.times -= 1;
      return found.fault();
    },
  });
  return {
    interceptors: { activity: [({ info }) => ({ inbound: inbound(info) })] },
    set: (workflowId, activity, times, fault) => void faults.set(keyOf(workflowId, activity), { times, fault }),
    left: (workflowId, activity) => faults.get(keyOf(workflowId, activity))?.times ?? 0,
  };
}
