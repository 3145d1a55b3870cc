import { randomUUID } from 'node:crypto';
import type { CallPlace } from './call-directory.ts';
import type { PlannedRun } from './schedule.ts';
import { allRuns } from './all-runs.ts';

/** The players' knowledge of a run that has been started, or of one that a call of it may start. */
export interface RunUnderWay {
  plan: PlannedRun;
  workflowId: string;
  /** Requests that were seen, by digest. */
  requests: Map<string, CallPlace & { requestId: string; deadlineMs: number }>;
  /** Request ids found by the last look at the inbox. */
  listed: Set<string>;
  /** How often the inbox has been read since the run began. */
  looks: number;
  turnsSeen: Set<number>;
  /** Turns being played for this run. */
  acts: Promise<void>[];
  /** True once a valid answer about its last turn has been sent: the run may end at any moment. */
  isEnding: boolean;
  /** The run's nested runs, by name. */
  nested: Map<string, RunUnderWay>;
  /** Aborted when the run or the whole play is over. */
  signal: AbortSignal;
}

/** A run and the runs that its calls may start. The workflow ids are derived as the names are. */
export function runsUnderWay(
  plan: PlannedRun,
  until: AbortSignal,
): { run: RunUnderWay; all: RunUnderWay[]; close: () => void } {
  const closed = new AbortController();
  const id = randomUUID().slice(0, 8);
  const nested = new Map<string, RunUnderWay>();
  const all = allRuns([plan]).map((each): RunUnderWay => {
    const workflowId = `${plan.name}-${id}${each.name.slice(plan.name.length)}`;
    return {
      plan: each,
      workflowId,
      requests: new Map(),
      listed: new Set(),
      looks: 0,
      turnsSeen: new Set(),
      acts: [],
      isEnding: false,
      nested,
      signal: AbortSignal.any([closed.signal, until]),
    };
  });
  for (const each of all) nested.set(each.plan.name, each);
  return { run: all[0]!, all, close: () => closed.abort() };
}
