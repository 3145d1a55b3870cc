import { randomUUID } from 'node:crypto';
import type { CallPlace } from './call-directory.ts';
import type { PlannedRun } from './schedule.ts';

/** What the players know of a run that has been started. */
export interface RunUnderWay {
  plan: PlannedRun;
  workflowId: string;
  /** Requests that were seen, by digest. */
  requests: Map<string, CallPlace & { requestId: string; deadlineMs: number }>;
  /** The ids that the last look at the inbox found. */
  listed: Set<string>;
  /** Looks at the inbox since the run began. */
  looks: number;
  turnsSeen: Set<number>;
  /** What was set going for it. */
  acts: Promise<void>[];
  /** Aborted when the run is over, or the whole play. */
  signal: AbortSignal;
  /** The run is over: nothing is repeated any more. */
  close(): void;
}

export function runUnderWay(plan: PlannedRun, until: AbortSignal): RunUnderWay {
  const closed = new AbortController();
  return {
    plan,
    workflowId: `${plan.name}-${randomUUID().slice(0, 8)}`,
    requests: new Map(),
    listed: new Set(),
    looks: 0,
    turnsSeen: new Set(),
    acts: [],
    signal: AbortSignal.any([closed.signal, until]),
    close: () => closed.abort(),
  };
}
