import type { RunLine } from './audit-line.ts';

/** Names a run in all exports. */
export function runKey({ workflowId, firstRunId }: Pick<RunLine, 'workflowId' | 'firstRunId'>): string {
  return `${firstRunId} ${workflowId}`;
}

/** The workflow id in a `runKey`. */
export function workflowIdIn(key: string): string {
  return key.slice(key.indexOf(' ') + 1);
}
