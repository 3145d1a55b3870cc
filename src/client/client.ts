import { type Decision, type Grant, type Receipt, type RunStatus, defaultTaskQueue, queryNames } from '../contract.ts';
import { audit } from './audit/audit.ts';
import { cancelRun } from './send/cancel-run.ts';
import { checkSetUp } from './doctor/check-set-up.ts';
import { connect, openSession } from './server/connect.ts';
import { connectionSettings } from '../connection/connection-settings.ts';
import {
  type RequestOptions,
  closeRun,
  delegateRequest,
  extendRequest,
  messageRun,
  revokeGrants,
  setPolicyOf,
} from './send/control-run.ts';
import { decideAll } from './send/decide-all.ts';
import { decideMany, decideOne } from './send/decide.ts';
import { getApproval } from './send/get-approval.ts';
import { fetchHistoryChain } from './history/history-chain.ts';
import { fetchJournal } from './history/fetch-journal.ts';
import { listApprovals } from './inbox/list-approvals.ts';
import { listRuns } from './inbox/list-runs.ts';
import { queryRun } from './server/query-run.ts';
import { runResult } from './inbox/run-result.ts';
import { showRun } from './inbox/show-run.ts';
import { startRun } from './send/start-run.ts';
import { approvalsOf } from './inbox/tool-approvals.ts';
import { setPolicyOfRuns } from './send/set-policy-of-runs.ts';
import { setUp } from './doctor/set-up.ts';
import { watchRun } from './watch/watch-run.ts';
import { noWorker, waitForWorker } from './server/worker-presence.ts';
import type { ClientOptions, CountersignClient, RunHandle } from './countersign-client.ts';

/**
 * Connects to the Temporal server and returns a client. Close it when done: an open connection keeps the process alive.
 * Throws `server_unreachable`, and `internal` for options that are invalid.
 *
 * @example
 * ```ts
 * import { createClient } from 'countersign/client';
 *
 * const client = await createClient();
 * const { status, output } = await (await client.start('clerk', 'Where is order 7?')).result();
 * console.log(status, output); // completed It is on its way.
 * await client.close();
 * ```
 */
export async function createClient(options: ClientOptions = {}): Promise<CountersignClient> {
  const { connection, taskQueue = defaultTaskQueue } = options;
  const session =
    connection === undefined
      ? await connect(options)
      : openSession(connection, {
          ...options,
          namespace: connectionSettings(options).namespace,
          address: connection.options.address,
        });

  const run = (workflowId: string): RunHandle => ({
    workflowId,
    result: (options) => runResult(session, workflowId, options),
    status: () => queryRun<RunStatus>(session, workflowId, queryNames.run),
    cancel: (cancelOptions) => cancelRun(session, workflowId, cancelOptions),
  });

  function decide(decision: Decision, decideOptions?: RequestOptions): Promise<Receipt>;
  function decide(decisions: Decision[], decideOptions?: RequestOptions): Promise<Receipt[]>;
  function decide(decisions: Decision | Decision[], decideOptions?: RequestOptions): Promise<Receipt | Receipt[]> {
    return Array.isArray(decisions)
      ? decideMany(session, decisions, decideOptions)
      : decideOne(session, decisions, decideOptions);
  }

  return {
    session,
    run,
    decide,
    decideAll: (reviewed, decision, sendOptions) => decideAll(session, reviewed, decision, sendOptions),
    start: async (agent, input, startOptions) => {
      const name = typeof agent === 'string' ? agent : agent.name;
      return run(
        await startRun(session, name, input, { ...startOptions, taskQueue: startOptions?.taskQueue ?? taskQueue }),
      );
    },
    runs: (filter) => listRuns(session, filter),
    show: (workflowId) => showRun(session, workflowId),
    approvals: approvalsOf({
      list: (filter) => listApprovals(session, filter),
      get: (requestId, getOptions) => getApproval(session, requestId, getOptions),
    }),
    extend: (message, sendOptions) => extendRequest(session, message, sendOptions),
    delegate: (message, sendOptions) => delegateRequest(session, message, sendOptions),
    grants: (workflowId) => queryRun<Grant[]>(session, workflowId, queryNames.grants),
    revoke: (workflowId, message, sendOptions) => revokeGrants(session, workflowId, message, sendOptions),
    setPolicy: (workflowId, message, sendOptions) => setPolicyOf(session, workflowId, message, sendOptions),
    setPolicyOfRuns: (message, runsOptions) => setPolicyOfRuns(session, message, runsOptions),
    message: (workflowId, message, sendOptions) => messageRun(session, workflowId, message, sendOptions),
    cancel: (workflowId, cancelOptions) => cancelRun(session, workflowId, cancelOptions),
    closeRun: (workflowId, message) => closeRun(session, workflowId, message),
    journal: (workflowId) => fetchJournal(session, workflowId),
    events: (workflowId, watchOptions) => watchRun(session, workflowId, watchOptions),
    audit: (scope, auditOptions) =>
      audit(session, typeof scope === 'string' ? { workflowId: scope } : scope, auditOptions),
    historyChain: (workflowId) => fetchHistoryChain(session, workflowId),
    waitForWorker: (timeoutMs, queue) => waitForWorker(session, queue ?? taskQueue, timeoutMs),
    requireWorker: async (timeoutMs, queue = taskQueue) => {
      if (!(await waitForWorker(session, queue, timeoutMs))) throw noWorker(session, queue);
    },
    setUp: () => setUp(session),
    check: (checkOptions) => checkSetUp(session, taskQueue, checkOptions),
    close: () => session.close(),
  };
}
