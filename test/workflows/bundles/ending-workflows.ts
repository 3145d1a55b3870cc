/** A workflow in which everything ends that a workflow can wait for, each way in a task of its own. */
import {
  ActivityCancellationType,
  CancellationScope,
  ChildWorkflowCancellationType,
  executeChild,
  getExternalWorkflowHandle,
  proxyActivities,
  sleep,
  startChild,
  workflowInfo,
} from '@temporalio/workflow';

interface Activities {
  fail(): Promise<void>;
  hang(): Promise<void>;
}

const retry = { maximumAttempts: 1 };
const { fail } = proxyActivities<Activities>({ startToCloseTimeout: '1 minute', retry });
const { hang: timesOut } = proxyActivities<Activities>({ startToCloseTimeout: '1 second', retry });
/** No worker polls this queue. */
const nowhere = { taskQueue: 'nowhere', retry, scheduleToCloseTimeout: '1 hour' } as const;
const { hang: neverStarts } = proxyActivities<Activities>({ ...nowhere, scheduleToStartTimeout: '1 second' });

function hang(cancellationType: ActivityCancellationType, where: object = {}): Promise<void> {
  const options = { startToCloseTimeout: '1 minute', heartbeatTimeout: '10 seconds', retry, ...where } as const;
  return proxyActivities<Activities>({ ...options, cancellationType }).hang();
}

const { ABANDON, TRY_CANCEL, WAIT_CANCELLATION_COMPLETED } = ActivityCancellationType;

async function ended(promise: Promise<unknown>): Promise<void> {
  await promise.catch(() => undefined);
}

/** A scope in which `work` runs, and its end. */
function scoped(work: () => Promise<unknown>): { cancel: () => void; end: Promise<void> } {
  const scope = new CancellationScope();
  return { cancel: () => scope.cancel(), end: ended(scope.run(work)) };
}

async function cancelled(work: () => Promise<unknown>): Promise<void> {
  const { cancel, end } = scoped(work);
  await sleep(1);
  cancel();
  await end;
}

export async function endsInEveryWay(): Promise<void> {
  await ended(fail());
  await ended(timesOut());
  await ended(neverStarts());
  await Promise.all([ended(fail()), ended(fail()), sleep(1)]);
  await cancelled(() => hang(WAIT_CANCELLATION_COMPLETED));
  await cancelled(() => hang(WAIT_CANCELLATION_COMPLETED, nowhere));
  await cancelled(() => hang(ABANDON, nowhere));
  await sleep(1);
  await endsBeforeItIsSent();
  await sleep(1);
  await ended(executeChild(succeeds));
  await ended(executeChild(fails));
  await ended(startChild(succeeds, { workflowId: workflowInfo().workflowId }));
  await cancelled(() => executeChild(waits));
  const { ABANDON: abandon } = ChildWorkflowCancellationType;
  await cancelled(() => executeChild(waits, { cancellationType: abandon, parentClosePolicy: 'TERMINATE' }));
  await sleep(1);
  await ended(getExternalWorkflowHandle('nobody').signal('more'));
  await ended(getExternalWorkflowHandle('nobody').cancel());
  await sleep(1);
}

/** Of the commands of one task, those of a later activation cancel those of an earlier one. */
async function endsBeforeItIsSent(): Promise<void> {
  const first = scoped(() => hang(TRY_CANCEL, nowhere));
  await sleep(1);
  const second = scoped(() => Promise.all([ended(hang(TRY_CANCEL, nowhere)), sleep('1 hour'), executeChild(waits)]));
  // It ends at once, and workflow code goes on in another activation of this task.
  first.cancel();
  await first.end;
  second.cancel();
  await second.end;
}

export async function succeeds(): Promise<void> {}

export async function fails(): Promise<void> {
  await ended(fail());
  throw await fail().catch((error: unknown) => error);
}

export async function waits(): Promise<void> {
  await sleep('1 hour');
}
