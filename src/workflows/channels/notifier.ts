import { ActivityCancellationType, CancellationScope, isCancellation, proxyActivities } from '@temporalio/workflow';
import type { ChannelCalls, NotifyCall } from '../../channels/activities/call-channel.ts';
import { activityNames } from '../../contract.ts';
import type { Json } from '../../core/base/tool-call.ts';
import { backoffMs } from '../timing/backoff.ts';
import { failureReason, isRefused, retryAfterMs } from './failures.ts';

type Calls = { [activityNames.channelNotify]: ChannelCalls['notify'] };
const timeouts = { startToCloseTimeout: '60s', heartbeatTimeout: '30s' } as const;

/** The first call about a step. It has one attempt, so that this workflow learns of a failure. */
const { [activityNames.channelNotify]: notifyOnce } = proxyActivities<Calls>({
  ...timeouts,
  retry: { maximumAttempts: 1 },
});

/** A call about a step whose first call failed. The server retries it until it succeeds, which adds no history. */
const { [activityNames.channelNotify]: notifyPatiently } = proxyActivities<Calls>({
  ...timeouts,
  retry: { initialInterval: '2s', backoffCoefficient: 2, maximumInterval: '2m' },
  // Wait for an attempt in flight: it may still send the message, which later calls find only by its result.
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

const afterInterruptionMs = 10_000;

export interface Notification extends Omit<NotifyCall, 'workflowId'> {
  /** True: an earlier call has reached some of the channel's people. */
  isPartlySent: boolean;
}

/** How a call ended. After `again`, the caller makes the call once more, after `afterMs` and for `requestIds`. */
export type Notified =
  | { state: 'sent'; sent?: Json }
  | { state: 'given_up'; why?: string }
  | { state: 'again'; sent?: Json; isPartlySent?: true; why?: string; afterMs: number; requestIds: string[] };

interface PatientCall {
  channel: string;
  /** The requests of the call that are still open. */
  requestIds: string[];
  scope: CancellationScope;
}

/** Calls `notify` of channels: the first call has one attempt, and a call after a failure is retried by the server. */
export class Notifier {
  readonly #workflowId: string;
  readonly #patient = new Set<PatientCall>();

  constructor(workflowId: string) {
    this.#workflowId = workflowId;
  }

  get isPatient(): boolean {
    return this.#patient.size > 0;
  }

  repeats(requestId: string, channel: string): boolean {
    return [...this.#patient].some((each) => each.channel === channel && each.requestIds.includes(requestId));
  }

  /** Calls `notify` of a channel, and returns how the call ended. Never rejects. */
  async notify({ isPartlySent, ...notification }: Notification): Promise<Notified> {
    const { channel, requestIds, step, failed = 0 } = notification;
    const call = { ...notification, workflowId: this.#workflowId };
    const summary = `${channel}: ${step.kind}`;
    // A message that has reached some people has one attempt: retries would delay later messages to these people.
    const isPatient = failed > 0 && !isPartlySent;
    const waiting: PatientCall = { channel, requestIds: [...requestIds], scope: new CancellationScope() };
    if (isPatient) this.#patient.add(waiting);
    try {
      const { sent, rest } = isPatient
        ? await waiting.scope.run(() => notifyPatiently.executeWithOptions({ summary }, [call]))
        : await notifyOnce.executeWithOptions({ summary }, [call]);
      if (rest === undefined) return { state: 'sent', sent };
      const afterMs = Math.max(backoffMs(failed), rest.retryAfterMs ?? 0);
      return { state: 'again', sent, isPartlySent: true, why: rest.why, afterMs, requestIds };
    } catch (error) {
      const left = waiting.requestIds;
      // `stop` or `interrupt` may have cancelled the call. Then make it again for the requests that are still open.
      const isInterrupted = isPatient && waiting.scope.consideredCancelled && isCancellation(error) && left.length > 0;
      if (isInterrupted && !CancellationScope.current().consideredCancelled) {
        return { state: 'again', afterMs: afterInterruptionMs, requestIds: left };
      }
      const why = isCancellation(error) ? undefined : failureReason(error);
      if (isRefused(error)) return { state: 'given_up', why };
      return { state: 'again', why, afterMs: Math.max(backoffMs(failed), retryAfterMs(error)), requestIds };
    } finally {
      this.#patient.delete(waiting);
    }
  }

  /** Ends repeated calls about a request. A call that is also about other requests is made again without this one. */
  stop(requestId: string, channels: readonly string[]): void {
    for (const waiting of this.#patient) {
      if (!channels.includes(waiting.channel) || !waiting.requestIds.includes(requestId)) continue;
      waiting.requestIds = waiting.requestIds.filter((id) => id !== requestId);
      waiting.scope.cancel();
    }
  }

  /** Ends all repeated calls, so that they are made again later, perhaps by the next execution. */
  interrupt(): void {
    for (const { scope } of this.#patient) scope.cancel();
    this.#patient.clear();
  }
}
