import { activityInfo } from '@temporalio/activity';
import type { WorkflowHandle } from '@temporalio/client';
import type { WorkerInterceptors } from '@temporalio/worker';
import { eventually } from './eventually.ts';

/** Makes another result of an activity's own one, as anyone who may write to the namespace can. */
export type Forge = (result: never) => unknown;

/** A worker that gives forged results: each once, in the place of its own first one. */
export class ForgingWorker {
  readonly #forgeries = new Map<string, Forge>();

  forge(workflowId: string, activity: string, forge: Forge): void {
    this.#forgeries.set(`${workflowId} ${activity}`, forge);
  }

  readonly interceptors: WorkerInterceptors = {
    activity: [
      () => ({
        inbound: {
          execute: async (input, next) => {
            const { workflowExecution, activityType } = activityInfo();
            const key = `${workflowExecution!.workflowId} ${activityType}`;
            const result = await next(input);
            const forge = this.#forgeries.get(key);
            this.#forgeries.delete(key);
            return forge === undefined ? result : forge(result as never);
          },
        },
      }),
    ],
  };
}

/** A value that is nested so deep that a run reads it as undecodable. */
const undecodable: unknown = JSON.parse('['.repeat(250) + ']'.repeat(250));

/** What is no result of any activity that returns an object with a member that must be there. */
export const noResults: [string, Forge][] = [
  ['null', () => null],
  ['a text', () => 'no'],
  ['a list', () => []],
  ['an empty object', () => ({})],
  ['an undecodable payload', () => undecodable],
];

/** The result with another value at this path, such as `ceiling.rules.0`. */
export function changed(path: string, value: unknown): [string, Forge] {
  const forge = (result: object): unknown => {
    const copy = structuredClone(result);
    const keys = path.split('.');
    const last = keys.pop()!;
    const parent = keys.reduce<Record<string, unknown>>(
      (each, key) => (each[key] ??= {}) as Record<string, unknown>,
      copy as Record<string, unknown>,
    );
    parent[last] = value;
    return copy;
  };
  return [`${path} that is ${JSON.stringify(value)}`, forge];
}

/** Awaits `work`, and throws if a workflow task of these workflows fails meanwhile: it would fail again for ever. */
export async function withoutFailedTask<Result>(
  handles: readonly WorkflowHandle[],
  work: () => Promise<Result>,
): Promise<Result> {
  let isOver = false;
  const working = work().finally(() => (isOver = true));
  working.catch(() => undefined);
  const watching = eventually('the work ends', async () => {
    if (isOver) return true;
    for (const handle of handles) await requireTasks(handle);
    return false;
  });
  await Promise.race([working.catch(() => undefined), watching]);
  for (const handle of handles) await requireTasks(handle);
  return working;
}

async function requireTasks(handle: WorkflowHandle): Promise<void> {
  const { events } = await handle.fetchHistory().catch(() => ({ events: [] }));
  const failed = events?.find((each) => each.workflowTaskFailedEventAttributes != null);
  if (failed === undefined) return;
  await handle.terminate().catch(() => undefined);
  throw new Error(`a workflow task failed: ${failed.workflowTaskFailedEventAttributes!.failure?.message}`);
}
