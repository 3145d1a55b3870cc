import { setTimeout as sleep } from 'node:timers/promises';
import { checkOptions } from '../agents/check-options.ts';
import type { CountersignClient } from '../client/countersign-client.ts';
import type { ReviewedRequest } from '../client/send/decide.ts';
import { type Signer, signerNames } from '../client/send/sign-message.ts';
import type { ApprovalDetails, ApprovalSummary, Receipt } from '../contract.ts';
import type { ChannelAnswer } from './channel.ts';
import { isProblemError, ProblemError } from '../core/base/problem.ts';
import { answerDecision, whatWasShown, checkAnswer } from './channel-answer.ts';

/** Options of `approvalQueue`. */
export interface QueueOptions {
  /** Only requests of this agent. */
  agent?: string;
  /** Only requests about this tool. */
  tool?: string;
  /** Only requests of this run. */
  workflowId?: string;
  /** The reviewer of each answer that names none. Without `sign`, the run cannot verify who that is. */
  reviewerId?: string;
  /** Signs the answers. */
  sign?: Signer;
}

/**
 * A queue of the open requests, for a page or a program that answers them, in any process. The queue only remembers
 * which requests it has shown, so a lost queue loses no request. Its methods throw the client's errors.
 */
export interface ApprovalQueue {
  /** Lists the open requests, the earliest deadline first. This works without a running worker. */
  pending(): Promise<ApprovalSummary[]>;
  /**
   * Waits for an open request that `next` has not returned yet, polling once a second, and returns it with its
   * arguments. If no worker can read a request now, retries it later. Throws the signal's reason if it aborts.
   */
  next(signal?: AbortSignal): Promise<ApprovalDetails>;
  /**
   * Answers a request as the queue has shown it. Throws `InvalidAnswer` for an invalid answer, and `request_changed` if
   * the user has written since the request was shown; then `next` returns the request again.
   */
  respond(requestId: string, answer: ChannelAnswer | boolean): Promise<Receipt>;
  /** Approves the requests that `pending` or `next` returned and `respond` did not answer. Returns their receipts. */
  approveAll(reason?: string): Promise<Receipt[]>;
  /** Denies all requests that are open now, shown or not. Returns a receipt for each. */
  denyAll(reason?: string): Promise<Receipt[]>;
}

const pollEveryMs = 1_000;
/** How many times longer the pause after a poll is than the poll itself: polling takes at most a fifth of the time. */
const pausePerPoll = 4;
/** How long `next` skips a request that it could not read, in milliseconds. Each attempt delays the others. */
const unreadAgainMs = 5_000;

/**
 * Creates a queue of the open requests. Throws a `DefinitionError` for an unknown option.
 *
 * @example
 * ```ts
 * import { approvalQueue } from 'countersign/channels';
 * import { createClient } from 'countersign/client';
 *
 * const client = await createClient();
 * const queue = approvalQueue(client, { tool: 'refund', reviewerId: 'rita' });
 * const { requestId, arguments: args } = await queue.next();
 * console.log(args); // { orderId: 'o-17', amount: 20 }
 * const receipt = await queue.respond(requestId, { approved: false, reason: 'The shop is closed' });
 * console.log(receipt.outcome); // denied
 * await client.close();
 * ```
 */
export function approvalQueue(client: CountersignClient, options: QueueOptions = {}): ApprovalQueue {
  checkOptions('approvalQueue', options, { agent: true, tool: true, workflowId: true, reviewerId: true, sign: true });
  if (options.sign !== undefined) checkOptions('approvalQueue: sign', options.sign, signerNames);
  const { reviewerId, sign, ...filter } = options;
  // The keys of these three collections come from `requestKey`. `listOpen` removes those of requests that are not open.
  /** The requests in the state in which the queue has shown them, because an answer is about what was shown. */
  const shown = new Map<string, ApprovalSummary & Pick<ChannelAnswer, 'userMessages'>>();
  const returned = new Set<string>();
  /** The requests that could not be read, with the time (of `performance.now`) at which `readNew` tries again. */
  const unread = new Map<string, number>();

  const listOpen = async (): Promise<ApprovalSummary[]> => {
    const { approvals } = await client.approvals.list({ ...filter, limit: Infinity });
    const open = new Set(approvals.map(requestKey));
    for (const each of [shown, returned, unread]) {
      for (const key of each.keys()) if (!open.has(key)) each.delete(key);
    }
    return approvals;
  };
  const answerAll = (rows: Iterable<ReviewedRequest>, approved: boolean, reason: string | undefined) =>
    client.decideAll(
      [...rows].map(({ requestId, digest, workflowId }) => ({ requestId, digest, workflowId })),
      { approved, ...(reason !== undefined && { reason }), ...(reviewerId !== undefined && { reviewerId }) },
      { sign },
    );
  /** Reads a request. Undefined if `next` has already returned it, or if it is settled or unreadable now. */
  const readNew = async (row: ApprovalSummary): Promise<ApprovalDetails | undefined> => {
    const key = requestKey(row);
    if (returned.has(key) || (unread.get(key) ?? 0) > performance.now()) return undefined;
    // Mark it before the read, so that a concurrent `next` does not return it, too.
    returned.add(key);
    try {
      const request = await client.approvals.get(row.requestId, { workflowId: row.workflowId });
      if (request.settled !== undefined) return undefined;
      shown.set(key, { ...row, ...whatWasShown(request) });
      return request;
    } catch (error) {
      returned.delete(key);
      unread.set(key, performance.now() + unreadAgainMs);
      if (isProblemError(error) && error.code !== 'server_unreachable') return undefined;
      throw error;
    }
  };

  return {
    pending: async () => {
      const rows = await listOpen();
      for (const row of rows) if (!shown.has(requestKey(row))) shown.set(requestKey(row), row);
      return rows;
    },
    next: async (signal) => {
      for (;;) {
        signal?.throwIfAborted();
        const beganMs = performance.now();
        for (const row of await listOpen()) {
          const request = await readNew(row);
          if (request !== undefined) return request;
        }
        const pauseMs = Math.max(pollEveryMs, (performance.now() - beganMs) * pausePerPoll);
        await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
      }
    },
    respond: async (requestId, answer) => {
      const [row, second] = [...shown.values()].filter((each) => each.requestId === requestId);
      if (second !== undefined) {
        const message = `Two runs list request ${requestId}: answer it by client.decide, with the workflowId of one.`;
        throw new ProblemError({ code: 'unknown_request', message });
      }
      const decision = {
        ...(reviewerId !== undefined && { reviewerId }),
        ...answerDecision({
          ...(row !== undefined && { digest: row.digest }),
          ...(row?.userMessages !== undefined && { userMessages: row.userMessages }),
          ...checkAnswer(answer),
        }),
        requestId,
      };
      const place = { sign, ...(row && { workflowId: row.workflowId }) };
      const receipt = await client.decide(decision, place).catch((error: unknown) => {
        // The user has written since the request was shown, so let `next` return it again.
        const isChanged = isProblemError(error) && error.code === 'request_changed';
        if (row !== undefined && isChanged) returned.delete(requestKey(row));
        throw error;
      });
      if (row !== undefined) shown.delete(requestKey(row));
      return receipt;
    },
    approveAll: async (reason) => {
      await listOpen();
      return answerAll(shown.values(), true, reason);
    },
    denyAll: async (reason) => answerAll(await listOpen(), false, reason),
  };
}

/** The key includes the run, because anyone who can start workflows can list a request with an id from another run. */
function requestKey({ requestId, workflowId }: ApprovalSummary): string {
  return `${requestId} ${workflowId}`;
}
