import { randomUUID } from 'node:crypto';
import type { CallPlace } from './call-directory.ts';
import type { PlannedRun } from './schedule.ts';
import { allRuns } from './all-runs.ts';

/** What the players know of a run that has been started, or of one that a call of it may start. */
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
  /** A good answer about its last turn has been sent: it may end any moment. */
  isEnding: boolean;
  /** Its nested runs, by name. */
  nested: Map<string, RunUnderWay>;
  /** Aborted when the run is over, or the whole play. */
  signal: AbortSignal;
}

/** A run and those that its calls may start, whose ids are made of its own as their names are of its name. */
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
