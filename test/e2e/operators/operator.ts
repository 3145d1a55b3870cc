import type { WorkflowHandle } from '@temporalio/client';
import { eventually } from '../../support/eventually.ts';
import type { Ran } from '../../support/temporal-cli.ts';
import { temporal } from '../../support/temporal-cli.ts';

type Pending = NonNullable<Awaited<ReturnType<WorkflowHandle['describe']>>['raw']['pendingActivities']>[number];

/** Waits until an activity of this type is pending and passes `test`. */
async function pendingAs(what: string, handle: WorkflowHandle, type: string, test: (pending: Pending) => boolean) {
  return eventually(`${type} is ${what}`, async () => {
    const { raw } = await handle.describe();
    const pending = raw.pendingActivities?.find(({ activityType }) => activityType?.name === type);
    return pending !== undefined && test(pending) && pending;
  });
}

/** The server's `PENDING_ACTIVITY_STATE_PAUSED`: paused, and no worker runs it. */
const pausedState = 4;

/** Waits until the pending activity of this type is paused and no worker runs it. */
export async function untilPaused(handle: WorkflowHandle, type: string): Promise<void> {
  await pendingAs('paused', handle, type, ({ state }) => Number(state) === pausedState);
}

/** Waits until the pending activity of this type is at attempt number `attempt`. */
export async function untilAttempt(attempt: number, handle: WorkflowHandle, type: string): Promise<void> {
  await pendingAs(`at attempt ${attempt}`, handle, type, (pending) => pending.attempt === attempt);
}

/** Runs `temporal activity COMMAND` for the pending activity of this type; throws if the command fails. */
export async function onActivity(
  command: string,
  handle: WorkflowHandle,
  type: string,
  ...options: string[]
): Promise<void> {
  const { activityId } = await pendingAs('pending', handle, type, () => true);
  const place = ['--workflow-id', handle.workflowId, '--activity-id', activityId!];
  expectDone(await temporal(['activity', command, ...place, ...options]));
}

/** Runs `temporal workflow COMMAND` for one workflow; throws if the command fails. */
export async function onWorkflow(command: string, handle: WorkflowHandle, ...options: string[]): Promise<void> {
  expectDone(await temporal(['workflow', ...command.split(' '), '--workflow-id', handle.workflowId, ...options]));
}

/** Runs a command for a batch of workflows. The server takes one batch at a time: repeats until it takes this one. */
export function startBatch(args: string[]): Promise<Ran> {
  return eventually('the server takes the batch', async () => {
    const ran = await temporal(args);
    return !ran.stderr.includes('Max concurrent batch operations') && ran;
  });
}

export function expectDone({ exitCode, stdout, stderr }: Ran): void {
  if (exitCode !== 0) throw new Error(`the command line exited with ${exitCode}: ${stderr}${stdout}`);
}
