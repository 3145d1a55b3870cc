import {
  ActivityFailure,
  ApplicationFailure,
  ChildWorkflowFailure,
  condition,
  defineQuery,
  defineSignal,
  defineUpdate,
  executeChild,
  getExternalWorkflowHandle,
  makeContinueAsNewFunc,
  proxyActivities,
  setHandler,
  startChild,
  workflowInfo,
} from '@temporalio/workflow';

interface Scheduled {
  tool: string;
  taskQueue: string;
  args: unknown[];
}

/** A workflow that nobody gated: it schedules a tool of a countersign worker and tells how it was refused. */
export async function schedules({ tool, taskQueue, args }: Scheduled): Promise<unknown> {
  const activities = proxyActivities<Record<string, (...each: unknown[]) => Promise<unknown>>>({
    taskQueue,
    startToCloseTimeout: '10s',
  });
  try {
    return await activities[tool]!(...args);
  } catch (error) {
    const cause = error instanceof ActivityFailure ? error.cause : error;
    if (!(cause instanceof ApplicationFailure)) throw error;
    return { type: cause.type, nonRetryable: cause.nonRetryable };
  }
}

/** The same, under the name of the real one: what anybody with write access to the namespace can register. */
export function agentRun(input: Scheduled | Continued): Promise<unknown> {
  return 'carried' in input ? continuesAs(input) : schedules(input);
}

interface Continued {
  workflowType: string;
  taskQueue: string;
  input: unknown;
  carried: object;
}

/** Continues as new as a workflow of a countersign worker, with carried state of its own making. */
export function continuesAs({ workflowType, taskQueue, input, carried }: Continued): Promise<never> {
  const { workflowId, runId } = workflowInfo();
  const next = makeContinueAsNewFunc<(...args: unknown[]) => Promise<unknown>>({ workflowType, taskQueue });
  return next(input, { ...carried, writer: { workflowId, runId } });
}

/** A workflow that starts a run and says what binds it, as our own runs do for nested ones. */
export async function startsRun({ taskQueue, input }: { taskQueue: string; input: unknown }): Promise<unknown> {
  try {
    return await executeChild('agentRun', { taskQueue, args: [input] });
  } catch (error) {
    const cause = error instanceof ChildWorkflowFailure ? error.cause : error;
    if (!(cause instanceof ApplicationFailure)) throw error;
    return { type: cause.type, message: cause.message };
  }
}

/** Refuses so many messages with this code, after it took them into its history, and takes all others. Queries: how many came, and for which requests. */
export async function refuses(times: number, code: string): Promise<void> {
  const asked: string[] = [];
  setHandler(defineQuery('asked'), () => asked.length);
  setHandler(defineQuery('approvals'), () => asked.map((requestId) => ({ requestId })));
  const answer = ({ requestId = '' }: { requestId?: string }) =>
    asked.push(requestId) <= times
      ? { requestId, accepted: false, code, message: 'refused' }
      : { requestId, accepted: true, message: 'done' };
  for (const name of ['decide', 'setPolicy']) {
    setHandler(defineUpdate<unknown, [object]>(name), (payload) => {
      if (Array.isArray(payload)) return payload.map(answer);
      const receipt = answer(payload);
      if (receipt.accepted) return receipt;
      throw ApplicationFailure.nonRetryable(receipt.message, code, receipt);
    });
  }
  await condition(() => false);
}

/** Signals a run that is not its own. */
export async function signals(workflowId: string, name: string, message: unknown): Promise<void> {
  await getExternalWorkflowHandle(workflowId).signal(name, message);
}

interface Above {
  taskQueue: string;
  workflowId: string;
  input: unknown;
}

/** Starts a run, tells it what signal `tell` brings under the name of our own signal, and ends with it. */
export async function isAbove({ taskQueue, workflowId, input }: Above): Promise<unknown> {
  const run = await startChild('agentRun', { taskQueue, workflowId, args: [input] });
  setHandler(defineSignal<[unknown]>('tell'), (message) => run.signal('parentsChanged', message));
  return run.result();
}
