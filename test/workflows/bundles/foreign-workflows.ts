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

/** A workflow without a gate. It schedules a tool of a Countersign worker and returns how it was refused. */
export async function schedules({ tool, taskQueue, args }: Scheduled): Promise<unknown> {
  const activities = proxyActivities<Record<string, (...each: unknown[]) => Promise<unknown>>>({
    taskQueue,
    startToCloseTimeout: '1 minute',
  });
  try {
    return await activities[tool]!(...args);
  } catch (error) {
    const cause = error instanceof ActivityFailure ? error.cause : error;
    if (!(cause instanceof ApplicationFailure)) throw error;
    return { type: cause.type, nonRetryable: cause.nonRetryable };
  }
}

/** The same under the name of the real workflow: anybody with write access to the namespace can register it. */
export function agentRun(input: Scheduled | Continued | Shown): Promise<unknown> {
  if ('shown' in input) return shows(input);
  return 'carried' in input ? continuesAs(input) : schedules(input);
}

export function approvalChannels(input: Scheduled): Promise<unknown> {
  return schedules(input);
}

interface Shown {
  shown: { requestId: string };
}

/** Answers as a run does that has this request, until it is terminated. */
export async function shows({ shown }: Shown): Promise<void> {
  setHandler(defineQuery<unknown, [{ requestIds?: string[] }?]>('approvals'), (filter) => {
    if (filter?.requestIds !== undefined) return filter.requestIds.map((id) => (id === shown.requestId ? shown : null));
    return filter === undefined ? [shown] : shown;
  });
  await condition(() => false);
}

/** Has these requests, and answers each delegation with the same receipt. Query `asked` says how often. */
export async function answersDelegations({ shown, receipt }: { shown: unknown[]; receipt: unknown }): Promise<void> {
  let asked = 0;
  setHandler(defineQuery<unknown>('approvals'), () => shown);
  setHandler(defineQuery<unknown>('asked'), () => asked);
  setHandler(defineUpdate<unknown, [unknown]>('delegate'), () => {
    asked += 1;
    return receipt;
  });
  await condition(() => false);
}

interface Continued {
  workflowType: string;
  taskQueue: string;
  input: unknown;
  carried: object;
}

/** Continues as new as a workflow of a Countersign worker, with forged carried state. */
export function continuesAs({ workflowType, taskQueue, input, carried }: Continued): Promise<never> {
  const { workflowId, runId } = workflowInfo();
  const next = makeContinueAsNewFunc<(...args: unknown[]) => Promise<unknown>>({ workflowType, taskQueue });
  return next(input, { ...carried, writer: { workflowId, runId } });
}

/** Starts a run and sets the policies that bind it, as our own runs do for nested ones. */
export async function startsRun({ taskQueue, input }: { taskQueue: string; input: unknown }): Promise<unknown> {
  try {
    return await executeChild('agentRun', { taskQueue, args: [input] });
  } catch (error) {
    const cause = error instanceof ChildWorkflowFailure ? error.cause : error;
    if (!(cause instanceof ApplicationFailure)) throw error;
    return { type: cause.type, message: cause.message };
  }
}

/**
 * Refuses the first `times` messages with this code, after they are in its history, and accepts all others. Queries:
 * `asked` is the number of messages, `approvals` their request ids.
 */
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

/** Signals another run. */
export async function signals(workflowId: string, name: string, message: unknown): Promise<void> {
  await getExternalWorkflowHandle(workflowId).signal(name, message);
}

interface Above {
  taskQueue: string;
  workflowId: string;
  input: unknown;
}

/**
 * Starts a run, forwards the argument of signal `tell` to it as our own signal `parentsChanged`, and ends with the run.
 */
export async function isAbove({ taskQueue, workflowId, input }: Above): Promise<unknown> {
  const run = await startChild('agentRun', { taskQueue, workflowId, args: [input] });
  setHandler(defineSignal<[unknown]>('tell'), (message) => run.signal('parentsChanged', message));
  return run.result();
}
