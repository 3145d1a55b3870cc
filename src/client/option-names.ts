import { checkCallOptions, type OptionNames } from '../text/check-call-options.ts';
import type { AuditOptions } from './audit/audit.ts';
import type { ClientOptions } from './countersign-client.ts';
import type { CheckOptions } from './doctor/check-set-up.ts';
import type { ApprovalFilter } from './inbox/list-approvals.ts';
import type { DelegateAllOptions } from './inbox/standing-delegations.ts';
import type { RunFilter } from './inbox/list-runs.ts';
import type { CancelOptions } from './send/cancel-run.ts';
import type { RequestOptions, SendOptions } from './send/control-run.ts';
import type { SetPolicyOfRunsOptions } from './send/set-policy-of-runs.ts';
import { signerNames } from './send/sign-message.ts';
import type { StartOptions } from './send/start-run.ts';
import type { WatchOptions } from './watch/watch-run.ts';

const send = { timeoutMs: true, sign: true } satisfies OptionNames<SendOptions>;
const request = { ...send, workflowId: true } satisfies OptionNames<RequestOptions>;
const cancel = { reason: true } satisfies OptionNames<CancelOptions>;

/** The options of a client, and those of its methods. */
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
  events: {
    after: true,
    signal: true,
    follow: true,
    tokens: true,
    redacted: true,
  } satisfies OptionNames<WatchOptions>,
  audit: {
    withhold: true,
    privateKey: true,
    follow: true,
    signal: true,
    intervalMs: true,
  } satisfies OptionNames<AuditOptions>,
  check: { longestWaitMs: true } satisfies OptionNames<CheckOptions>,
};

/** Returns the options. Throws `arguments_invalid` for one that the method does not have. */
export function checked<Options extends object>(
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

/** Throws `internal` for an option that a client does not have. */
export function checkClientOptions(options: ClientOptions): void {
  checkCallOptions('createClient', options, optionNames.createClient, 'internal');
}
