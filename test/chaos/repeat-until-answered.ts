import { setTimeout as sleep } from 'node:timers/promises';
import { WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure, WorkflowNotFoundError } from '@temporalio/common';
import { isUnprocessed } from '../../src/client/send/deliver.ts';
import { isProblemError } from '../../src/core/base/problem.ts';
import type { Sender } from './senders.ts';

const attemptMs = 8_000;
const pauseMs = 250;

/**
 * Retries as a careful service would, until there is an answer or a definite refusal, whose code it returns. Returns
 * undefined if every attempt failed until `signal` aborted; an attempt in flight is finished first. Never throws for an
 * error of the run or the server.
 */
export async function repeatUntilAnswered<T>(
  { connection }: Pick<Sender, 'connection'>,
  signal: AbortSignal,
  send: () => Promise<T>,
): Promise<{ answer: T } | { refused: string } | undefined> {
  while (!signal.aborted) {
    try {
      return { answer: await connection.withDeadline(Date.now() + attemptMs, send) };
    } catch (error) {
      const refused = refusalOf(error);
      if (refused !== undefined) return { refused };
    }
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}

/** The code of a definite refusal; undefined if the result is unknown. */
function refusalOf(error: unknown): string | undefined {
  if (error instanceof WorkflowUpdateFailedError) {
    if (isUnprocessed(error)) return undefined;
    return error.cause instanceof ApplicationFailure ? (error.cause.type ?? 'internal') : 'internal';
  }
  if (error instanceof WorkflowNotFoundError) return 'run_closed';
  if (!isProblemError(error)) return undefined;
  return ['server_unreachable', 'no_worker', 'internal'].includes(error.code) ? undefined : error.code;
}
