import { readFileSync, readdirSync } from 'node:fs';
import type { temporal } from '@temporalio/proto';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';

/** A run whose history is stored under test/histories: its executions, oldest first. */
export interface StoredRun {
  name: string;
  workflowId: string;
  executions: { runId: string; events: temporal.api.history.v1.IHistoryEvent[] }[];
}

const folder = new URL('../histories/', import.meta.url);

/** All runs whose histories are stored, finished and waiting. */
export function storedRuns(): StoredRun[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
  const byName = Map.groupBy(files.sort(), (file) => file.replace(/(-execution-\d+)?\.json$/, ''));
  return [...byName].map(([name, parts]) => {
    const executions = parts.map((file) => {
      const { events = [] } = historyFromJSON(JSON.parse(readFileSync(new URL(file, folder), 'utf8')));
      return { runId: events![0]!.workflowExecutionStartedEventAttributes!.originalExecutionRunId!, events: events! };
    });
    const { workflowId } = executions[0]!.events[0]!.workflowExecutionStartedEventAttributes!;
    return { name, workflowId: workflowId!, executions };
  });
}
