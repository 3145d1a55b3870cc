import type { Connection } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import type {
  CloseMessage,
  Decision,
  DelegateMessage,
  ExtendMessage,
  Grant,
  Message,
  Receipt,
  RevokeMessage,
  RunResult,
  RunStatus,
  SetPolicyMessage,
  UserMessage,
} from '../contract.ts';
import type { CancelOptions, RequestOptions, SendOptions } from './send/control-run.ts';
import type { Check, Setup } from './doctor/check.ts';
import type { CheckOptions } from './doctor/check-set-up.ts';
import type { Session } from './server/session.ts';
import type { CommonDecision, ReviewedRequest } from './send/decide.ts';
import type { AttributeNameOptions } from '../core/base/attribute-names.ts';
import type { LargePayloads } from '../payload-folder/large-payloads.ts';
import type { HistoryChain } from './history/history-chain.ts';
import type { SealedLine } from '../audit/audit-line.ts';
import type { AuditOptions, AuditScope } from './audit/audit.ts';
import type { Journal } from './history/fetch-journal.ts';
import type { ListedRun, RunFilter } from './inbox/list-runs.ts';
import type { RunView } from './inbox/show-run.ts';
import type {
  DelegateAllOptions,
  DelegatedUntil,
  DelegationUntil,
  StandingDelegations,
} from './inbox/standing-delegations.ts';
import type { Approvals, ToolApprovals, ToolLike } from './inbox/tool-approvals.ts';
import type { PolicyResult, SetPolicyOfRunsOptions } from './send/set-policy-of-runs.ts';
import type { StartOptions } from './send/start-run.ts';
import type { TimeLimitOptions } from './server/time-limits.ts';
import type { WatchOptions } from './watch/watch-run.ts';
import type { RunEvent } from '../events/run-event.ts';

/** Options of `createClient`. */
export interface ClientOptions extends TimeLimitOptions {
  /** An open connection for the client to use. The caller closes it. */
  connection?: Connection;
  /** The address of the server, `HOST:PORT`. Default: Temporal's environment configuration, then 127.0.0.1:7233. */
  address?: string;
  /** The namespace of the runs. Default: Temporal's environment configuration, then `default`. */
  namespace?: string;
  /** The task queue on which runs start. Default `countersign`. */
  taskQueue?: string;
  /** The workers' folder of large payloads; `false` for none. Default: the folder in `COUNTERSIGN_PAYLOAD_FOLDER`. */
  largePayloads?: LargePayloads | false;
  /** The workers' codecs and failure converter, such as `encrypted()`. Countersign sets the payload converter. */
  dataConverter?: DataConverter;
  /**
   * The names of the inbox's search attributes, which must be those of the workers. Default: `COUNTERSIGN_ATTRIBUTES`,
   * else ApprovalIds, ApprovalTags and ApprovalDue.
   */
  attributes?: AttributeNameOptions;
}

/** A run of an agent. Its workflow id identifies it, even if it continues as new. */
export interface RunHandle {
  /** The workflow id, unique in the namespace. */
  readonly workflowId: string;
  /** Waits until the run ends. Throws a `ProblemError` if it failed, and the reason of `signal` if that aborts. */
  result(options?: { signal?: AbortSignal }): Promise<RunResult>;
  /** Asks a worker for counts, outcomes and refused decisions. Throws `no_worker`, `run_not_found`. */
  status(): Promise<RunStatus>;
  /** Cancels the run, as `client.cancel` does. */
  cancel(options?: CancelOptions): Promise<void>;
}

/**
 * The client that `createClient` returns. Every method throws a `ProblemError` with one of the codes that it names,
 * with `server_unreachable`, or with `arguments_invalid` for an unknown option.
 *
 * @example
 * Start a run, and approve what it asks about:
 *
 * ```ts
 * import { setTimeout as sleep } from 'node:timers/promises';
 * import { createClient } from 'countersign/client';
 *
 * const client = await createClient();
 * const run = await client.start('support', 'Please refund order o-17', { caller: { userId: 'carl' } });
 * const inbox = () => client.approvals.list({ workflowId: run.workflowId });
 * while ((await inbox()).approvals.length === 0) await sleep(100);
 * for (const { requestId } of (await inbox()).approvals) {
 *   await client.decide({ requestId, approved: true, reviewerId: 'rita' });
 * }
 * console.log((await run.result()).output); // refunded 20 for o-17
 * await client.close();
 * ```
 *
 * @example
 * Look at a request before you answer it, and allow further calls like it:
 *
 * ```ts
 * import { createClient } from 'countersign/client';
 *
 * const client = await createClient();
 * const { approvals } = await client.approvals.list({ tool: 'refund', limit: 1 });
 * for (const { requestId, digest } of approvals) {
 *   const request = await client.approvals.get(requestId);
 *   console.log(request.arguments, request.reason); // { orderId: 'o-17', amount: 20 } Money leaves the house
 *   const always = { kind: 'arguments', match: { orderId: 'o-*' }, uses: 10 } as const;
 *   const receipt = await client.decide({ requestId, approved: true, digest, always });
 *   console.log(receipt.outcome, receipt.grantId); // approved grant-1
 * }
 * await client.close();
 * ```
 *
 * @example
 * Give one answer to all that was reviewed, and to nothing that has come since:
 *
 * ```ts
 * import { createClient } from 'countersign/client';
 *
 * const client = await createClient();
 * const { approvals: reviewed } = await client.approvals.list({ tool: 'refund' });
 * const receipts = await client.decideAll(reviewed, { approved: false, reason: 'The shop is closed' });
 * console.log(receipts.map(({ outcome }) => outcome)); // [ 'denied' ]
 * console.log((await client.decideAll(reviewed, { approved: true })).map(({ code }) => code)); // [ 'already_settled' ]
 * await client.close();
 * ```
 *
 * @example
 * Follow a run, and answer what it asks:
 *
 * ```ts
 * import { createClient } from 'countersign/client';
 *
 * const client = await createClient();
 * const run = await client.start('support', 'Please refund order o-17', { caller: { userId: 'carl' } });
 * for await (const event of client.events(run.workflowId)) {
 *   if (event.type === 'ApprovalRequestEvent') await client.decide({ requestId: event.requestId, approved: true });
 *   if (event.type === 'RunCompleteEvent') console.log(event.output); // refunded 20 for o-17
 * }
 * await client.close();
 * ```
 *
 * @example
 * Keep a run open, and say more to it:
 *
 * ```ts
 * import { createClient } from 'countersign/client';
 *
 * const client = await createClient();
 * const { workflowId } = await client.start('clerk', 'Where is order 7?', { session: true });
 * for await (const event of client.events(workflowId)) {
 *   if (event.type !== 'RunItemEvent' || event.item.type !== 'message' || event.item.role !== 'assistant') continue;
 *   if (event.item.turn === 1) await client.message(workflowId, { content: 'And order 8?' });
 *   if (event.item.turn === 2) await client.closeRun(workflowId);
 * }
 * console.log((await client.run(workflowId).result()).status); // closed
 * await client.close();
 * ```
 *
 * @example
 * Give a request more time, change the policy of its run, and read what was decided:
 *
 * ```ts
 * import { createClient } from 'countersign/client';
 *
 * const client = await createClient();
 * const { approvals } = await client.approvals.list({ tool: 'refund' });
 * for (const { requestId, workflowId } of approvals) {
 *   await client.extend({ requestId, until: new Date(Date.now() + 3_600_000).toISOString() });
 *   const policy = { rules: [{ pattern: 'refund', action: 'deny', reason: 'The shop is closed' }] };
 *   const { settled } = await client.setPolicy(workflowId, { policy, by: 'rita' });
 *   console.log(settled?.map(({ outcome }) => outcome)); // [ 'superseded' ]
 *   const { entries } = await client.journal(workflowId);
 *   console.log(entries.map(({ kind }) => kind).slice(0, 3)); // [ 'opened', 'extended', 'policy' ]
 * }
 * await client.close();
 * ```
 */
export interface CountersignClient {
  /** The connection and Temporal's own client, for operations that this client lacks. */
  readonly session: Session;
  /**
   * Starts a run of an agent, given by its name or its definition. Throws `already_started` if the `workflowId` was
   * used before, or if the `idempotencyKey` has started a different run.
   */
  start(agent: string | { name: string }, input: string | Message[], options?: StartOptions): Promise<RunHandle>;
  /** Returns the handle of an existing run, without a call to the server. */
  run(workflowId: string): RunHandle;
  /** Lists runs, the newest first. It reads Temporal's visibility, which lags by up to seconds. */
  runs(filter?: RunFilter): AsyncIterable<ListedRun>;
  /** Returns the present state of a run, even without a worker. Throws `run_not_found`, `server_unreachable`. */
  show(workflowId: string): Promise<RunView>;
  /**
   * The inbox, with `list` and `get`. `approvals(refund)` is the part about one tool, where `get` returns arguments of
   * the tool's type. For a client that imports only the type, `approvals<typeof refund>('refund')` does the same.
   * Without a value, nothing is filtered or checked.
   */
  readonly approvals: Approvals & (<T extends ToolLike>(tool?: T | string) => ToolApprovals<T>);
  /**
   * Sends one decision and returns its receipt. Throws the refusal (`already_settled`, `expired`, `not_entitled`,
   * `digest_mismatch`, `arguments_invalid`, `denied_by_policy`, …). The receipt has an `outcome`, or `votes` while a
   * quorum is not complete. It has `recorded` if no worker answered in time, as for all messages below: history has the
   * message, and the next worker applies it as of now. A repeated `decisionId` gets the first receipt.
   */
  decide(decision: Decision, options?: RequestOptions): Promise<Receipt>;
  /** Sends several decisions. Returns a receipt for each, in order; the receipt of a refused one has a `code`. */
  decide(decisions: Decision[], options?: RequestOptions): Promise<Receipt[]>;
  /**
   * Gives one answer to exactly the reviewed requests: it counts only while a request has the reviewed digest. Returns
   * a receipt for each, in order. A refusal does not throw: its receipt has a `code`, such as `digest_mismatch` if the
   * request has changed, or `already_settled`, with `settledBy`. All requests of a run are sent in one update.
   */
  decideAll(reviewed: readonly ReviewedRequest[], decision: CommonDecision, options?: SendOptions): Promise<Receipt[]>;
  /**
   * Gives a request more time: `until` is an ISO 8601 instant after the present deadline, within the operator's
   * `max_timeout`. Throws `invalid_message`, `not_permitted_by_ceiling`, `not_entitled`, `expired`, `already_settled`,
   * `unknown_request`.
   */
  extend(message: ExtendMessage, options?: RequestOptions): Promise<Receipt>;
  /** Transfers the seat of the reviewer `by` for a request to `to`. Throws as `extend` does. */
  delegate(message: DelegateMessage, options?: RequestOptions): Promise<Receipt>;
  /**
   * Delegates each open request that `by` may answer and has not answered. A refused one has a receipt with a `code`.
   * With `until`, a workflow on the client's task queue also delegates later requests, within about a minute and
   * unsigned. Throws `invalid_message`, `too_large`, `already_started` if `by` has such a delegation, and
   * `server_unreachable`.
   */
  delegateAll(message: DelegationUntil, options?: DelegateAllOptions): Promise<DelegatedUntil>;
  /** Lists and stops the delegations that `delegateAll` with `until` has started. */
  readonly standingDelegations: StandingDelegations;
  /** Returns the grants and denials that "always" decisions made. Throws `no_worker`, `run_not_found`. */
  grants(workflowId: string): Promise<Grant[]>;
  /** Revokes grants, by their ids or `'all'`. Throws `grant_unknown`, and `not_permitted_by_ceiling` for denials. */
  revoke(workflowId: string, message: RevokeMessage, options?: SendOptions): Promise<Receipt>;
  /**
   * Replaces the policy that an open run has below the operator's ceiling. Open requests are ruled on again; `settled`
   * in the receipt names those that the change settled. Throws `policy_invalid`, `not_permitted_by_ceiling`,
   * `run_closed`.
   */
  setPolicy(workflowId: string, message: SetPolicyMessage, options?: SendOptions): Promise<Receipt>;
  /**
   * Changes the policy of every open run that a visibility query finds, and yields the result for each. A run that has
   * the policy already gets no message. Throws `policy_invalid`, and `invalid_message` for a query that the server
   * refuses.
   */
  setPolicyOfRuns(
    message: Omit<SetPolicyMessage, 'signature'>,
    options?: SetPolicyOfRunsOptions,
  ): AsyncIterable<PolicyResult>;
  /**
   * Sends the next message of the user to a run that was started with `session: true`. The model receives it before its
   * next turn, after the results of the calls in progress. Throws `invalid_message` for another run, `run_closed`,
   * `too_large` if the transcript cannot hold it, and `rate_limited` while 100 messages wait.
   */
  message(workflowId: string, message: UserMessage, options?: Omit<SendOptions, 'sign'>): Promise<Receipt>;
  /**
   * Cancels a run: open requests are settled as cancelled, and running tools are asked to stop. Returns when the server
   * has recorded it; a worker does the rest. Throws `run_closed`, `run_not_found`, `too_large` for a long reason.
   */
  cancel(workflowId: string, options?: CancelOptions): Promise<void>;
  /** Ends a run with status `closed`, and cancels everything open in it. Throws `run_closed`, `run_not_found`. */
  closeRun(workflowId: string, message?: CloseMessage): Promise<Receipt>;
  /** Returns each ruling, request, vote and outcome of a run, from its history. Throws `run_not_found`. */
  journal(workflowId: string): Promise<Journal>;
  /**
   * Yields the events of a run, past and future, in order and each once, until the run ends or the client is closed.
   * With `follow: false` it ends after the past events. With `after`, it resumes after the event of this id, even if
   * the run is over. It waits while the server is unavailable, and adds nothing to the history. Throws `run_not_found`,
   * and `invalid_message` for an id that is not of this run.
   */
  events(workflowId: string, options?: WatchOptions): AsyncIterable<RunEvent>;
  /**
   * Exports the decisions of a run, or of all runs that a visibility query finds, for `verifyAudit` (docs/audit.md).
   * Needs no worker. Throws `run_not_found`, and `arguments_invalid` for a member that cannot be withheld.
   */
  audit(scope: string | AuditScope, options?: AuditOptions): AsyncIterable<SealedLine>;
  /** Returns the histories of all executions of a run as Temporal stores them. Throws `run_not_found`. */
  historyChain(workflowId: string): Promise<HistoryChain>;
  /** Returns true once a worker polls the task queue (default: the client's); false after `timeoutMs` milliseconds. */
  waitForWorker(timeoutMs: number, taskQueue?: string): Promise<boolean>;
  /** Waits for a worker on the task queue. Throws `no_worker` after `timeoutMs` milliseconds without one. */
  requireWorker(timeoutMs: number, taskQueue?: string): Promise<void>;
  /** Registers the inbox's search attributes, and returns the namespace's retention. A repetition changes nothing. */
  setUp(): Promise<Setup>;
  /**
   * Checks what runs and clients need, as `countersign doctor` does: the SDK, server, workers, versions, codecs and
   * more. It does not throw for a problem, but returns it with a remedy.
   */
  check(options?: CheckOptions): Promise<Check[]>;
  /** Ends all watches of runs, and closes the connection, if this client opened it. */
  close(): Promise<void>;
}
