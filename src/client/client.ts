import type { Connection } from '@temporalio/client';
import {
  type Decision,
  type Message,
  type Receipt,
  type RunResult,
  type RunStatus,
  type ApprovalDetails,
  defaultTaskQueue,
  queryNames,
} from '../contract.ts';
import { cancelRun } from './cancel-run.ts';
import { type Session, connect, openSession } from './connect.ts';
import { connectionSettings } from './connection-settings.ts';
import { type DecideOptions, decideMany, decideOne } from './decide.ts';
import type { LargePayloads } from '../payload-folder/large-payloads.ts';
import { getApproval } from './get-approval.ts';
import { type HistoryChain, fetchHistoryChain } from './history-chain.ts';
import { type ApprovalFilter, type ApprovalList, listApprovals } from './list-approvals.ts';
import { queryRun } from './query-run.ts';
import { runResult } from './run-result.ts';
import { type RunView, showRun } from './show-run.ts';
import { type StartOptions, startRun } from './start-run.ts';
import { type Setup, setUp } from './set-up.ts';
import { noWorker, waitForWorker } from './worker-presence.ts';

export interface ClientOptions {
  /** An open connection to use; it stays the caller's to close. */
  connection?: Connection;
  /** `HOST:PORT`; default: Temporal's environment configuration, then 127.0.0.1:7233. */
  address?: string;
  /** Default: Temporal's environment configuration, then `default`. */
  namespace?: string;
  /** Where runs start. Default `countersign`. */
  taskQueue?: string;
  /**
   * The folder in which the workers keep large payloads, to read them here and to send large ones. Default:
   * `COUNTERSIGN_PAYLOAD_FOLDER`; `false`: none, whatever it says.
   */
  largePayloads?: LargePayloads | false;
}

/** A run, by its workflow id: one agent execution however many times it continues as new. */
export interface RunHandle {
  readonly workflowId: string;
  /** Waits for the end, or until `signal` aborts the wait. Throws the code and sentence with which the run failed. */
  result(options?: { signal?: AbortSignal }): Promise<RunResult>;
  /** Counts, outcomes and refused decisions, as a worker tells them. Throws `no_worker`, `run_not_found`. */
  status(): Promise<RunStatus>;
  /** Asks the run to stop; open requests are settled as cancelled. Throws `run_closed`, `run_not_found`. */
  cancel(): Promise<void>;
}

export interface CountersignClient {
  /** For what this client does not offer. */
  readonly session: Session;
  /** Starts a run of an agent, by its name or its definition. Throws `already_started` for an id used before. */
  start(agent: string | { name: string }, input: string | Message[], options?: StartOptions): Promise<RunHandle>;
  /** The handle of a run that exists; nothing is asked of the server yet. */
  run(workflowId: string): RunHandle;
  /** What can be seen of a run now, with or without a worker. */
  show(workflowId: string): Promise<RunView>;
  readonly approvals: {
    list(filter?: ApprovalFilter): Promise<ApprovalList>;
    get(requestId: string, options?: { workflowId?: string }): Promise<ApprovalDetails>;
  };
  /** One decision: its receipt, or a `ProblemError`. */
  decide(decision: Decision, options?: DecideOptions): Promise<Receipt>;
  /** Several: a receipt for each, in order; refused ones carry a code. */
  decide(decisions: Decision[], options?: DecideOptions): Promise<Receipt[]>;
  /** The raw histories of all links of a run. */
  historyChain(workflowId: string): Promise<HistoryChain>;
  /** True once a worker polls the task queue (default: the client's); false after `timeoutMs`. */
  waitForWorker(timeoutMs: number, taskQueue?: string): Promise<boolean>;
  /** Throws `no_worker` unless a worker polls the task queue within `timeoutMs`. */
  requireWorker(timeoutMs: number, taskQueue?: string): Promise<void>;
  /** Registers the search attributes of the inbox on the cluster. */
  setUp(): Promise<Setup>;
  /** Closes the connection, if this client opened it. */
  close(): Promise<void>;
}

/** Connects to the Temporal server and returns a client. Throws `server_unreachable` in one sentence. */
export async function createClient(options: ClientOptions = {}): Promise<CountersignClient> {
  const { connection, taskQueue = defaultTaskQueue } = options;
  const session =
    connection === undefined
      ? await connect(options)
      : await openSession(connection, {
          namespace: connectionSettings(options).namespace,
          address: connection.options.address,
          largePayloads: options.largePayloads,
        });

  const run = (workflowId: string): RunHandle => ({
    workflowId,
    result: (options) => runResult(session, workflowId, options),
    status: () => queryRun<RunStatus>(session, workflowId, queryNames.run),
    cancel: () => cancelRun(session, workflowId),
  });

  function decide(decision: Decision, decideOptions?: DecideOptions): Promise<Receipt>;
  function decide(decisions: Decision[], decideOptions?: DecideOptions): Promise<Receipt[]>;
  function decide(decisions: Decision | Decision[], decideOptions?: DecideOptions): Promise<Receipt | Receipt[]> {
    return Array.isArray(decisions)
      ? decideMany(session, decisions, decideOptions)
      : decideOne(session, decisions, decideOptions);
  }

  return {
    session,
    run,
    decide,
    start: async (agent, input, startOptions) => {
      const name = typeof agent === 'string' ? agent : agent.name;
      return run(
        await startRun(session, name, input, { ...startOptions, taskQueue: startOptions?.taskQueue ?? taskQueue }),
      );
    },
    show: (workflowId) => showRun(session, workflowId),
    approvals: {
      list: (filter) => listApprovals(session, filter),
      get: (requestId, getOptions) => getApproval(session, requestId, getOptions),
    },
    historyChain: (workflowId) => fetchHistoryChain(session, workflowId),
    waitForWorker: (timeoutMs, queue) => waitForWorker(session, queue ?? taskQueue, timeoutMs),
    requireWorker: async (timeoutMs, queue = taskQueue) => {
      if (!(await waitForWorker(session, queue, timeoutMs))) throw noWorker(session, queue);
    },
    setUp: () => setUp(session),
    close: async () => {
      if (connection === undefined) await session.connection.close();
    },
  };
}
