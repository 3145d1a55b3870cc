import { ApplicationFailure, isCancellation, TimeoutFailure } from '@temporalio/workflow';
import { thrownByChannel } from '../../core/base/tool-call.ts';

const mostKept = 20;

export class Failures {
  readonly #kept: { requestId: string; text: string }[] = [];

  note(requestId: string, text: string): void {
    this.#kept.push({ requestId, text });
    this.#kept.splice(0, this.#kept.length - mostKept);
  }

  of(requestId: string): string[] {
    return this.#kept.filter((each) => each.requestId === requestId).map(({ text }) => text);
  }
}

/** True if a channel has refused a message or a settlement for good, or the workflow was cancelled. */
export function isRefused(error: unknown): boolean {
  const cause = causeOf(error);
  return isCancellation(error) || (isThrownByChannel(cause) && cause.nonRetryable === true);
}

/** Returns the milliseconds that the receiver demands to wait before the next call; 0 if it demands no wait. */
export function retryAfterMs(error: unknown): number {
  const cause = causeOf(error);
  const asked: unknown = isThrownByChannel(cause) ? cause.details?.[1] : undefined;
  return typeof asked === 'number' && asked > 0 ? asked : 0;
}

/** True if a call is over for good: its channel threw, or took too long, or the workflow was cancelled. */
export function isFinal(error: unknown): boolean {
  const cause = causeOf(error);
  if (isThrownByChannel(cause)) return true;
  if (cause instanceof TimeoutFailure && cause.timeoutType === 'START_TO_CLOSE') return true;
  return isCancellation(error);
}

/** Why a call failed, in one sentence of at most 300 characters. */
export function failureReason(error: unknown): string {
  const cause = causeOf(error);
  if (cause instanceof ApplicationFailure) return `${cause.type ?? 'Error'}: ${cause.message}`.slice(0, 300);
  return cause instanceof Error ? cause.message.slice(0, 300) : 'it failed';
}

function isThrownByChannel(cause: unknown): cause is ApplicationFailure {
  return cause instanceof ApplicationFailure && cause.details?.[0] === thrownByChannel;
}

function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof Error ? error.cause : error;
}
