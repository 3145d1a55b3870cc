/** A server of Temporal's worker API whose tasks a test writes itself, for what a real server does in a rare moment. */
import { createServer, type ServerHttp2Stream } from 'node:http2';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import proto, { type temporal as Temporal } from '@temporalio/proto';
import { listen } from '../../support/listen.ts';

const { temporal } = proto;
const api = temporal.api.workflowservice.v1;
const service = '/temporal.api.workflowservice.v1.WorkflowService/';
const unimplemented = '12';

type Long = NonNullable<Temporal.api.workflowservice.v1.IRespondWorkflowTaskCompletedResponse['resetHistoryEventId']>;

export type PolledTask = Temporal.api.workflowservice.v1.IPollWorkflowTaskQueueResponse;

/** A worker's answer to a task, by the name of the call that brought it. */
export interface TaskAnswer {
  call: 'RespondWorkflowTaskCompleted' | 'RespondWorkflowTaskFailed' | 'RespondQueryTaskCompleted';
  commands: Temporal.api.command.v1.ICommand[];
  /** Why a task or a query failed. */
  failure?: string;
}

export interface ScriptedServer {
  address: string;
  /**
   * Hands the task to the next worker that polls a queue which is not sticky, and returns its answer. `withdrawnTo`: the
   * server withdraws the task once it is answered, and history ends again with the task that started there.
   */
  give(task: PolledTask, options?: { withdrawnTo?: string }): Promise<TaskAnswer>;
  /** Lets every poll return without a task, so that the worker can shut down. */
  stopPolls(): void;
  close(): Promise<void>;
}

interface Given {
  task: PolledTask;
  token: string;
}

export async function openScriptedServer(): Promise<ScriptedServer> {
  const waiting: Given[] = [];
  const pollers: ((given: Given | undefined) => void)[] = [];
  const answers = new Map<string, (answer: TaskAnswer) => void>();
  const withdrawn = new Map<string, string>();
  let tokens = 0;

  const nextTask = (): Promise<Given | undefined> =>
    new Promise((resolve) => {
      const given = waiting.shift();
      if (given === undefined) pollers.push(resolve);
      else resolve(given);
    });
  const answered = (token: Uint8Array, answer: TaskAnswer): void => {
    const key = Buffer.from(token).toString();
    answers.get(key)?.(answer);
    answers.delete(key);
  };

  const calls: Record<string, (body: Uint8Array) => Uint8Array | Promise<Uint8Array>> = {
    // With it a patch also makes a search attribute, as on a real server.
    GetSystemInfo: () =>
      api.GetSystemInfoResponse.encode({ serverVersion: '1.31.0', capabilities: { sdkMetadata: true } }).finish(),
    DescribeNamespace: () =>
      api.DescribeNamespaceResponse.encode({ namespaceInfo: { name: 'default', id: 'default' } }).finish(),
    PollWorkflowTaskQueue: async (body) => {
      const { taskQueue } = api.PollWorkflowTaskQueueRequest.decode(body);
      const isSticky = taskQueue?.kind === temporal.api.enums.v1.TaskQueueKind.TASK_QUEUE_KIND_STICKY;
      const given = isSticky ? undefined : await nextTask();
      // A worker polls again at once after an empty answer.
      if (given === undefined) await sleep(isSticky ? 1_000 : 0);
      const task =
        given === undefined
          ? {}
          : { workflowExecutionTaskQueue: { name: 'scripted' }, ...given.task, taskToken: Buffer.from(given.token) };
      return api.PollWorkflowTaskQueueResponse.encode(task).finish();
    },
    RespondWorkflowTaskCompleted: (body) => {
      const { taskToken, commands } = api.RespondWorkflowTaskCompletedRequest.decode(body);
      const resetHistoryEventId = Number(withdrawn.get(Buffer.from(taskToken).toString()) ?? 0) as unknown as Long;
      answered(taskToken, { call: 'RespondWorkflowTaskCompleted', commands });
      return api.RespondWorkflowTaskCompletedResponse.encode({ resetHistoryEventId }).finish();
    },
    RespondWorkflowTaskFailed: (body) => {
      const { taskToken, failure } = api.RespondWorkflowTaskFailedRequest.decode(body);
      answered(taskToken, { call: 'RespondWorkflowTaskFailed', commands: [], failure: failure?.message ?? '' });
      return api.RespondWorkflowTaskFailedResponse.encode({}).finish();
    },
    RespondQueryTaskCompleted: (body) => {
      const { taskToken, completedType, errorMessage } = api.RespondQueryTaskCompletedRequest.decode(body);
      const isFailed = completedType === temporal.api.enums.v1.QueryResultType.QUERY_RESULT_TYPE_FAILED;
      answered(taskToken, {
        call: 'RespondQueryTaskCompleted',
        commands: [],
        ...(isFailed && { failure: errorMessage }),
      });
      return api.RespondQueryTaskCompletedResponse.encode({}).finish();
    },
    ShutdownWorker: () => api.ShutdownWorkerResponse.encode({}).finish(),
  };

  const server = createServer();
  server.on('stream', (stream, headers) => {
    void answerCall(stream, calls[String(headers[':path']).replace(service, '')]);
  });
  const { address, close } = await listen(server);
  return {
    address,
    give: (task, { withdrawnTo } = {}) =>
      new Promise((resolve) => {
        const token = `task-${++tokens}`;
        answers.set(token, resolve);
        if (withdrawnTo !== undefined) withdrawn.set(token, withdrawnTo);
        const poller = pollers.shift();
        if (poller === undefined) waiting.push({ task, token });
        else poller({ task, token });
      }),
    stopPolls: () => {
      for (const poller of pollers.splice(0)) poller(undefined);
    },
    close,
  };
}

/** One call of gRPC: a message with a prefix of five bytes, both ways. */
async function answerCall(
  stream: ServerHttp2Stream,
  call: ((body: Uint8Array) => Uint8Array | Promise<Uint8Array>) | undefined,
): Promise<void> {
  const chunks: Buffer[] = [];
  stream.on('error', () => {
    // The worker has gone.
  });
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  const received = Buffer.concat(chunks);
  const isCompressed = received[0] === 1;
  const answer = await call?.(isCompressed ? gunzipSync(received.subarray(5)) : received.subarray(5));
  if (stream.destroyed) return;
  const head = { ':status': 200, 'content-type': 'application/grpc+proto' };
  if (answer === undefined) {
    stream.respond({ ...head, 'grpc-status': unimplemented }, { endStream: true });
    return;
  }
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(answer.length, 1);
  stream.respond(head, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  stream.end(Buffer.concat([prefix, answer]));
}
