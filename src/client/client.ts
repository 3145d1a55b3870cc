import { type Decision, type Grant, type Receipt, type RunStatus, defaultTaskQueue, queryNames } from '../contract.ts';
import { audit, type AuditOptions } from './audit/audit.ts';
import type { RequestOptions, CancelOptions, SendOptions } from './send/control-run.ts';
import * as control from './send/control-run.ts';
import { checkSetUp, type CheckOptions } from './doctor/check-set-up.ts';
import { connect, openSession } from './server/session.ts';
import { connectionSettings } from '../connection/connection-settings.ts';
import { decideAll, decideMany, decideOne } from './send/decide.ts';
import { getApproval } from './send/find-request.ts';
import { fetchHistoryChain } from './history/history-chain.ts';
import { fetchJournal } from './history/fetch-journal.ts';
import type { SendDelegation } from './inbox/delegate-all.ts';
import { listApprovals, type ApprovalFilter } from './inbox/list-approvals.ts';
import { listRuns, type RunFilter } from './inbox/list-runs.ts';
import { queryRun, noWorker, waitForWorker } from './server/ask-worker.ts';
import { showRun, runResult } from './inbox/show-run.ts';
import { startRun, type StartOptions } from './send/start-run.ts';
import { delegateAllUntil, standingDelegations, type DelegateAllOptions } from './inbox/standing-delegations.ts';
import { approvalsOf } from './inbox/tool-approvals.ts';
import { setPolicyOfRuns, type SetPolicyOfRunsOptions } from './send/set-policy-of-runs.ts';
import { setUp } from './doctor/check.ts';
import { watchRun, type WatchOptions } from './watch/watch-run.ts';
import type { ClientOptions, CountersignClient, RunHandle } from './countersign-client.ts';
import { checkCallOptions, type OptionNames } from '../text/check-call-options.ts';
import { signerNames } from './send/sign-message.ts';

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
  checkCallOptions('createClient', options, optionNames.createClient, 'internal');
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
    result: async (options) => runResult(session, workflowId, checked('result', options)),
    status: () => queryRun<RunStatus>(session, workflowId, queryNames.run),
    cancel: async (cancelOptions) => control.cancelRun(session, workflowId, checked('cancel', cancelOptions)),
  });

  function decide(decision: Decision, decideOptions?: RequestOptions): Promise<Receipt>;
  function decide(decisions: Decision[], decideOptions?: RequestOptions): Promise<Receipt[]>;
  async function decide(
    decisions: Decision | Decision[],
    decideOptions?: RequestOptions,
  ): Promise<Receipt | Receipt[]> {
    checked('decide', decideOptions);
    return Array.isArray(decisions)
      ? decideMany(session, decisions, decideOptions)
      : decideOne(session, decisions, decideOptions);
  }

  return {
    session,
    run,
    decide,
    decideAll: async (reviewed, decision, sendOptions) =>
      decideAll(session, reviewed, decision, checked('decideAll', sendOptions)),
    start: async (agent, input, startOptions) => {
      checked('start', startOptions);
      const name = typeof agent === 'string' ? agent : agent.name;
      return run(
        await startRun(session, name, input, { ...startOptions, taskQueue: startOptions?.taskQueue ?? taskQueue }),
      );
    },
    runs: (filter) => listRuns(session, checked('runs', filter)),
    show: (workflowId) => showRun(session, workflowId),
    approvals: approvalsOf({
      list: async (filter) => listApprovals(session, checked('approvals.list', filter)),
      get: async (requestId, getOptions) => getApproval(session, requestId, checked('approvals.get', getOptions)),
    }),
    extend: async (message, sendOptions) => control.extendRequest(session, message, checked('extend', sendOptions)),
    delegate: async (message, sendOptions) =>
      control.delegateRequest(session, message, checked('delegate', sendOptions)),
    delegateAll: async (delegation, allOptions) => {
      const { send, ...sendOptions } = checked('delegateAll', allOptions) ?? {};
      const sendOne: SendDelegation = (message, workflowId) =>
        control.delegateRequest(session, message, { ...sendOptions, workflowId });
      return delegateAllUntil(session, taskQueue, delegation, send ?? sendOne);
    },
    standingDelegations: standingDelegations(session),
    grants: (workflowId) => queryRun<Grant[]>(session, workflowId, queryNames.grants),
    revoke: async (workflowId, message, sendOptions) =>
      control.revokeGrants(session, workflowId, message, checked('revoke', sendOptions)),
    setPolicy: async (workflowId, message, sendOptions) =>
      control.setPolicyOf(session, workflowId, message, checked('setPolicy', sendOptions)),
    setPolicyOfRuns: (message, runsOptions) =>
      setPolicyOfRuns(session, message, checked('setPolicyOfRuns', runsOptions)),
    message: async (workflowId, message, sendOptions) =>
      control.messageRun(session, workflowId, message, checked('message', sendOptions)),
    cancel: async (workflowId, cancelOptions) =>
      control.cancelRun(session, workflowId, checked('cancel', cancelOptions)),
    closeRun: (workflowId, message) => control.closeRun(session, workflowId, message),
    journal: (workflowId) => fetchJournal(session, workflowId),
    events: (workflowId, watchOptions) => watchRun(session, workflowId, checked('events', watchOptions)),
    audit: (scope, auditOptions) =>
      audit(session, typeof scope === 'string' ? { workflowId: scope } : scope, checked('audit', auditOptions)),
    historyChain: (workflowId) => fetchHistoryChain(session, workflowId),
    waitForWorker: (timeoutMs, queue) => waitForWorker(session, queue ?? taskQueue, timeoutMs),
    requireWorker: async (timeoutMs, queue = taskQueue) => {
      if (!(await waitForWorker(session, queue, timeoutMs))) throw noWorker(session, queue);
    },
    setUp: () => setUp(session),
    check: async (checkOptions) => checkSetUp(session, taskQueue, checked('check', checkOptions)),
    close: () => session.close(),
  };
}

const send = { timeoutMs: true, sign: true } satisfies OptionNames<SendOptions>;
const request = { ...send, workflowId: true } satisfies OptionNames<RequestOptions>;
const cancel = { reason: true } satisfies OptionNames<CancelOptions>;

const optionNames = {
  createClient: {
    connection: true,
    address: true,
    namespace: true,
    taskQueue: true,
    largePayloads: true,
    dataConverter: true,
    attributes: true,
    connectTimeoutMs: true,
    queryTimeoutMs: true,
    glanceTimeoutMs: true,
    receiptTimeoutMs: true,
    lookUpTimeoutMs: true,
  } satisfies OptionNames<ClientOptions>,
  start: {
    workflowId: true,
    idempotencyKey: true,
    policy: true,
    mode: true,
    caller: true,
    metadata: true,
    session: true,
    taskQueue: true,
  } satisfies OptionNames<StartOptions>,
  result: { signal: true },
  runs: { status: true, agent: true, limit: true, redacted: true } satisfies OptionNames<RunFilter>,
  'approvals.list': {
    tool: true,
    agent: true,
    workflowId: true,
    limit: true,
    after: true,
  } satisfies OptionNames<ApprovalFilter>,
  'approvals.get': { workflowId: true, timeoutMs: true },
  decide: request,
  decideAll: send,
  extend: request,
  delegate: request,
  delegateAll: { ...send, send: true } satisfies OptionNames<DelegateAllOptions>,
  revoke: send,
  setPolicy: send,
  setPolicyOfRuns: {
    ...send,
    query: true,
    dryRun: true,
    signal: true,
    lookAgainMs: true,
  } satisfies OptionNames<SetPolicyOfRunsOptions>,
  message: { timeoutMs: true },
  cancel,
  events: { after: true, signal: true, follow: true, tokens: true, redacted: true } satisfies OptionNames<WatchOptions>,
  audit: {
    withhold: true,
    privateKey: true,
    follow: true,
    signal: true,
    intervalMs: true,
  } satisfies OptionNames<AuditOptions>,
  check: { longestWaitMs: true } satisfies OptionNames<CheckOptions>,
};

/** Returns the options. Throws `arguments_invalid` for an unknown one, also in the options `sign` and `caller`. */
function checked<Options extends object>(
  method: Exclude<keyof typeof optionNames, 'createClient'>,
  options: Options | undefined,
): Options | undefined {
  if (options === undefined) return undefined;
  checkCallOptions<object>(`client.${method}`, options, optionNames[method]);
  const { sign, caller } = options as Pick<SendOptions, 'sign'> & Pick<StartOptions, 'caller'>;
  if (sign !== undefined) checkCallOptions(`client.${method}: sign`, sign, signerNames);
  if (caller !== undefined) checkCallOptions('client.start: caller', caller, { userId: true, groups: true });
  return options;
}
