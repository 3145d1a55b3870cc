import type { Worker as Thread } from 'node:worker_threads';
import threaded from '@temporalio/worker/lib/workflow/threaded-vm.js';

/**
 * Hands the threads of workers that have ended to the next workers of the same process. Each worker starts a thread that
 * loads the SDK and compiles the bundle: with hundreds of workers that is a third of the processor time. A thread serves
 * one worker at a time, always with the same bundle and activities, and only if no workflow is left in it.
 */

/** Members that the SDK's types hide. */
interface ThreadClient {
  workerThread: Thread;
  workerExited: boolean;
  exitError: unknown;
  getActiveWorkflowCount(): number;
}
interface Idle {
  key: string;
  code: string;
  creator: Creator;
}
type Creator = InstanceType<typeof ThreadedVMWorkflowCreator>;

const { ThreadedVMWorkflowCreator } = threaded;
const create = ThreadedVMWorkflowCreator.create.bind(ThreadedVMWorkflowCreator);

/** Each idle thread holds a compiled bundle, about 80 MB. */
const mostIdle = 3;
const idle: Idle[] = [];

ThreadedVMWorkflowCreator.create = async (options) => {
  const { workflowBundle, registeredActivityNames, patchActivationCallback, logger: _, ...rest } = options;
  if (patchActivationCallback !== undefined) return create(options);
  const key = JSON.stringify({ ...rest, names: [...registeredActivityNames].toSorted() });
  const found = idle.findIndex((each) => each.key === key && each.code === workflowBundle.code);
  const creator = found === -1 ? await create(options) : idle.splice(found, 1)[0]!.creator;
  for (const { workerThread } of clientsOf(creator)) workerThread.ref();
  creator.destroy = () => release({ key, code: workflowBundle.code, creator });
  return creator;
};

async function release(released: Idle): Promise<void> {
  if (!clientsOf(released.creator).every(isWhole)) return end(released);
  for (const { workerThread } of clientsOf(released.creator)) workerThread.unref();
  idle.push(released);
  if (idle.length > mostIdle) await end(idle.shift()!);
}

function isWhole(client: ThreadClient): boolean {
  return !client.workerExited && client.exitError === undefined && client.getActiveWorkflowCount() === 0;
}

function end({ creator }: Idle): Promise<void> {
  return ThreadedVMWorkflowCreator.prototype.destroy.call(creator);
}

function clientsOf(creator: Creator): ThreadClient[] {
  return (creator as unknown as { workerThreadClients: ThreadClient[] }).workerThreadClients;
}
