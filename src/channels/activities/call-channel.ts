import { ApplicationFailure, Context } from '@temporalio/activity';
import { aborted } from '../../core/base/aborted.ts';
import type { Session } from '../../client/connect.ts';
import { recordsOf } from '../../client/records.ts';
import { byteLength } from '../../core/base/byte-length.ts';
import type { Json } from '../../core/base/tool-call.ts';
import type { ChannelSet } from '../channel-set.ts';
import type { Channel, ChannelAnswer, ChannelRequest, ChannelStep, ResolveContext } from '../channel.ts';
import { checkAnswer } from '../check-answer.ts';
import { requestOfRun } from './look-at-requests.ts';

/** One call of a channel. Requests are read from the run when the call is made. */
export interface ChannelCall {
  channel: string;
  workflowId: string;
  /** The request of the call first; then the others of the same message. */
  requestIds: string[];
  /** What `notify` returned before. */
  sent?: Json;
}

export interface NotifyCall extends ChannelCall {
  step: ChannelStep;
  key: string;
}

export interface ResolveCall extends ChannelCall {
  refused?: ResolveContext['refused'];
}

export interface SettledCall extends ChannelCall {
  key: string;
}

/** What `notify` returned last, by which the channel finds its message again. Absent: nothing. */
export interface Sent {
  sent?: Json;
}

/** The calls of channels, as activities. Errors keep their name as the failure's type; no secret is in a name. */
export interface ChannelCalls {
  notify: (call: NotifyCall) => Promise<Sent>;
  resolve: (call: ResolveCall) => Promise<ChannelAnswer>;
  settled: (call: SettledCall) => Promise<Sent>;
}

const maxSentBytes = 4_000;
/** How often the activity heartbeats: with a heartbeat it learns that the answer is not needed any more. */
const heartbeatMs = 1_000;

export function createChannelCalls(set: ChannelSet | undefined, session: () => Session): ChannelCalls {
  return {
    notify: ({ step, key, ...call }) =>
      calling(call, async (channel, found, { signal, attempt, isLastAttempt }) => {
        const requests = found.filter(({ settled }) => settled === undefined);
        const [request] = requests;
        if (request === undefined) return {};
        const shown = stepOf(step, request);
        if (shown === undefined) return {};
        const { sent } = call;
        const records = recordsOf(session());
        const context = { step: shown, key, attempt, isLastAttempt, requests, sent, records, signal };
        return sentOf(await channel.notify?.(request, context), sent);
      }),
    resolve: ({ refused, ...call }) =>
      calling(call, async (channel, [request], { signal, attempt }) => {
        if (request === undefined || channel.resolve === undefined) throw new Error('there is nothing to answer');
        const { sent } = call;
        const context = { attempt, ...(sent !== undefined && { sent }), ...(refused && { refused }) };
        // A function may ignore the signal.
        return checkAnswer(await Promise.race([channel.resolve(request, signal, context), aborted(signal)]));
      }),
    settled: ({ key, ...call }) =>
      calling(call, async (channel, requests, { signal, attempt, isLastAttempt }) => {
        const { sent } = call;
        const request = requests.find(({ requestId }) => requestId === call.requestIds[0]);
        if (request?.settled === undefined) return {};
        const records = recordsOf(session());
        const context = { key, attempt, isLastAttempt, sent, requests, records, signal };
        return sentOf(await channel.settled?.(request, request.settled, context), sent);
      }),
  };

  async function calling<Result>(
    { channel: name, workflowId, requestIds }: ChannelCall,
    act: (
      channel: Channel,
      requests: ChannelRequest[],
      call: { signal: AbortSignal; attempt: number; isLastAttempt: boolean },
    ) => Promise<Result>,
  ): Promise<Result> {
    const context = Context.current();
    const channel = set?.channels.get(name);
    if (channel === undefined) throw notCalled(`this worker has no channel '${name}'`);
    context.heartbeat();
    const beats = setInterval(() => context.heartbeat(), heartbeatMs);
    try {
      const requests = await readRequests(workflowId, requestIds);
      const { attempt, retryPolicy } = context.info;
      const isLastAttempt = attempt === retryPolicy?.maximumAttempts;
      return await act(channel, requests, { signal: context.cancellationSignal, attempt, isLastAttempt });
    } catch (error) {
      throw context.cancellationSignal.aborted ? interrupted(context, error) : failureOf(error);
    } finally {
      clearInterval(beats);
    }
  }

  async function readRequests(workflowId: string, requestIds: readonly string[]): Promise<ChannelRequest[]> {
    try {
      const found = await Promise.all(requestIds.map((id) => requestOfRun(session(), workflowId, id)));
      return found.filter((request) => request !== undefined);
    } catch (error) {
      throw notCalled(error instanceof Error ? error.message.slice(0, 2_000) : 'the run does not answer');
    }
  }
}

/**
 * The step without the names that a signal made up: only reviewers of the request stay. Undefined if nobody is left.
 */
function stepOf(step: ChannelStep, { reviewers }: ChannelRequest): ChannelStep | undefined {
  if (step.kind !== 'escalated') return { kind: step.kind };
  const to = (step.to ?? []).filter((name) => reviewers.includes(name));
  return to.length === 0 ? undefined : { kind: step.kind, to };
}

/** The channel was not called, so it has not failed: another attempt, perhaps by another worker, may call it. */
function notCalled(message: string): ApplicationFailure {
  return ApplicationFailure.retryable(message, 'NotCalled');
}

function sentOf(result: Json | void, before: Json | undefined): Sent {
  const sent = result === undefined || result === null ? before : result;
  if (sent === undefined) return {};
  const bytes = byteLength(JSON.stringify(sent));
  if (bytes <= maxSentBytes) return { sent };
  throw ApplicationFailure.nonRetryable(`the channel returned ${bytes} bytes; at most ${maxSentBytes}`, 'too_large');
}

/** A worker that shuts down interrupts its channels: the call is made again, whatever the channel threw at its signal. */
function interrupted({ cancellationDetails, cancellationSignal }: Context, error: unknown): unknown {
  if (cancellationDetails?.workerShutdown !== true) return cancellationSignal.reason ?? error;
  return ApplicationFailure.retryable('the worker was shut down', 'WorkerShutdown');
}

/** The failure has the error's name, which the model may be told, and its message, which the history keeps. */
function failureOf(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof ApplicationFailure) return error;
  return ApplicationFailure.create({ message: error.message.slice(0, 2_000), type: error.name, nonRetryable: false });
}
