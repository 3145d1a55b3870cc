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
  /** The reviewer of every answer that does not name one. Only `sign` proves who it is. */
  reviewerId?: string;
  /** Signs the answers. */
  sign?: Signer;
}

/**
 * The open requests as a queue, for a page or a program that answers them, in any process. The queue only remembers
 * which requests it has shown: if it is lost, none is lost. Methods throw the client's errors.
 */
export interface ApprovalQueue {
  /** The open requests, the earliest deadline first. Needs no worker. */
  pending(): Promise<ApprovalSummary[]>;
  /**
   * Waits for a request that this queue has not returned yet, polling once a second, and returns it with its arguments.
   * It retries a request that cannot be read now, because no worker answers. Throws the signal's reason if it aborts.
   */
  next(signal?: AbortSignal): Promise<ApprovalDetails>;
  /**
   * Answers a request, as the queue has shown it. Also throws `InvalidAnswer`. After `request_changed`, because the
   * user has written since, `next` returns the request again.
   */
  respond(requestId: string, answer: ChannelAnswer | boolean): Promise<Receipt>;
  /**
   * Approves the shown requests (`pending`, `next`) that are open and not answered here; never a newer one. Returns a
   * receipt for each.
   */
  approveAll(reason?: string): Promise<Receipt[]>;
  /** Denies all requests that are open now, shown or not. Returns a receipt for each. */
  denyAll(reason?: string): Promise<Receipt[]>;
}

const lookEveryMs = 1_000;
/** A pause lasts this many times as long as the poll before it, so polling takes at most a fifth of the time. */
const pausePerLook = 4;
/** How long an unreadable request is skipped, in milliseconds: an attempt takes seconds, and others wait meanwhile. */
const unreadAgainMs = 5_000;

/**
 * The open requests as a queue. Throws a `DefinitionError` for an unknown option.
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
  // The next three collections are by the key of a request, and keep only requests that are open.
  /** The requests as the queue has first shown them: answers are about the shown content. */
  const shown = new Map<string, ApprovalSummary & Pick<ChannelAnswer, 'userMessages'>>();
  const given = new Set<string>();
  /** The requests that could not be read, with the time at which they are read again, in milliseconds. */
  const unread = new Map<string, number>();

  const look = async (): Promise<ApprovalSummary[]> => {
    const { approvals } = await client.approvals.list({ ...filter, limit: Infinity });
    const open = new Set(approvals.map(requestKey));
    for (const each of [shown, given, unread]) {
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
  /** Reads a request that `next` has not returned yet. Undefined: it was settled meanwhile, or cannot be read now. */
  const take = async (row: ApprovalSummary): Promise<ApprovalDetails | undefined> => {
    const key = requestKey(row);
    if (given.has(key) || (unread.get(key) ?? 0) > performance.now()) return undefined;
    given.add(key);
    try {
      const request = await client.approvals.get(row.requestId, { workflowId: row.workflowId });
      if (request.settled !== undefined) return undefined;
      shown.set(key, { ...row, ...whatWasShown(request) });
      return request;
    } catch (error) {
      given.delete(key);
      unread.set(key, performance.now() + unreadAgainMs);
      if (isProblemError(error) && error.code !== 'server_unreachable') return undefined;
      throw error;
    }
  };

  return {
    pending: async () => {
      const rows = await look();
      for (const row of rows) if (!shown.has(requestKey(row))) shown.set(requestKey(row), row);
      return rows;
    },
    next: async (signal) => {
      for (;;) {
        signal?.throwIfAborted();
        const beganMs = performance.now();
        for (const row of await look()) {
          const request = await take(row);
          if (request !== undefined) return request;
        }
        const pauseMs = Math.max(lookEveryMs, (performance.now() - beganMs) * pausePerLook);
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
        // The user has written since the request was shown: `next` returns it again.
        const isChanged = isProblemError(error) && error.code === 'request_changed';
        if (row !== undefined && isChanged) given.delete(requestKey(row));
        throw error;
      });
      if (row !== undefined) shown.delete(requestKey(row));
      return receipt;
    },
    approveAll: async (reason) => {
      await look();
      return answerAll(shown.values(), true, reason);
    },
    denyAll: async (reason) => answerAll(await look(), false, reason),
  };
}

/** Everyone who can start workflows can list a request under the id of another run's. */
function requestKey({ requestId, workflowId }: ApprovalSummary): string {
  return `${requestId} ${workflowId}`;
}
