import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { Worker, type ReplayWorkerOptions } from '@temporalio/worker';
import { type HistoryEvent, attributesOf } from './history-tasks.ts';
import { nondeterminism } from './nondeterminism.ts';
import type { Placement } from './placements.ts';

type Bundle = NonNullable<ReplayWorkerOptions['workflowBundle']>;

/** Replays each placement; returns the names of those that fail, with their errors. */
export async function replayPlacements(
  workflowBundle: Bundle,
  placements: readonly Placement[],
): Promise<Map<string, string>> {
  const failed = new Map<string, string>();
  const histories = placements.map(({ events }) => ({
    workflowId: String(startOf(events)['workflowId']),
    history: historyFromJSON({ events }),
  }));
  let replayed = 0;
  // Results arrive in the order of the histories; all placements of one history have the same run id.
  for await (const { runId, error } of Worker.runReplayHistories({ workflowBundle }, histories)) {
    const { name, events } = placements[replayed++]!;
    if (runId !== startOf(events)['originalExecutionRunId']) throw new Error(`${name} was replayed out of its turn`);
    if (error !== undefined) failed.set(name, nondeterminism(error));
  }
  if (replayed !== placements.length) throw new Error(`${replayed} of ${placements.length} histories were replayed`);
  return failed;
}

function startOf([first]: readonly HistoryEvent[]): Record<string, unknown> {
  return attributesOf(first!);
}
