import { ApplicationFailure, Context } from '@temporalio/activity';
import type { Session } from '../../client/server/session.ts';
import { recordsOf } from '../../client/server/records.ts';
import { byteLength } from '../../core/base/text.ts';
import type { Settlement } from '../../contract.ts';
import { defaultAssessment } from '../../core/assess/assessment.ts';
import type { Json } from '../../core/base/tool-call.ts';
import { type ChannelSet, ofCallers } from '../channel-set.ts';
import type { Channel, ChannelAnswer, ChannelRequest, ChannelStep, NotifyContext, ResolveContext } from '../channel.ts';
import { checkAnswer } from '../channel-answer.ts';
import { failureOf, interrupted, ofChannel } from './call-failures.ts';
import { type RequestFacts, isCalledByChannelsOf, type RequestsOfRun } from './look-at-requests.ts';
import { PartlySent, retryAfterOf } from '../outgoing/not-taken.ts';
import type { WaitingAnswers } from './waiting-answers.ts';

/** The input of an activity that calls a channel. The activity reads the requests from the run by their ids. */
export interface ChannelCall {
  channel: string;
  workflowId: string;
  /** The ids of the requests. The call is about the first; the channel's message also contains the others. */
  requestIds: string[];
  sent?: Json;
}

export interface NotifyCall extends ChannelCall {
  step: ChannelStep;
  key: string;
  /** How many calls for this message have failed before. Absent: none. */
  failed?: number;
}

export interface ResolveCall extends ChannelCall {
  refused?: ResolveContext['refused'];
}

export interface SettledCall extends ChannelCall {
  key: string;
  /** The ids of the requests that were settled since the last call, of which the channel is to notify people. */
  settledIds: string[];
  /** By request id, the facts of requests that the run no longer has, as the workflow read them before. */
  gone?: Record<string, RequestFacts>;
}

/** What `notify` returned last, by which the channel finds its message again. Absent: it has returned nothing. */
export interface LastSent {
  sent?: Json;
}

export interface SentMessage extends LastSent {
  /** Why some recipients do not have the message yet. Absent if all have it. */
  rest?: { why: string; retryAfterMs?: number };
}

/**
 * The activities that call channels. `ofChannel` marks the errors that a channel throws, so that the workflow can tell
 * them from an activity's own. The name of an error becomes the failure's type, so it must not contain a secret.
 */
export interface ChannelCalls {
  notify: (call: NotifyCall) => Promise<SentMessage>;
  resolve: (call: ResolveCall) => Promise<ChannelAnswer>;
  settled: (call: SettledCall) => Promise<LastSent>;
}

type Settled = ChannelRequest & { settled: Settlement };

const maxSentBytes = 4_000;
/** How often an activity heartbeats, in milliseconds. By heartbeats it learns that it is cancelled. */
const heartbeatMs = 1_000;

/** Creates the activities that call this worker's channels. Each first reads the present requests from the run. */
export function createChannelCalls(
  set: ChannelSet | undefined,
  { session, requestsOf, waiting }: { session: () => Session; requestsOf: RequestsOfRun; waiting: WaitingAnswers },
): ChannelCalls {
  return {
    notify: ({ step, key, failed = 0, ...call }) =>
      calling(call, async (channel, found, { signal, attempt }) => {
        // A caller gets no message about reminders, warnings and escalations.
        if (call.channel.endsWith(ofCallers) && step.kind !== 'asked') return {};
        const requests = found.filter((each) => isCarriedBy(call.channel, each) && !isExpired(each));
        const [request] = requests;
        if (request === undefined) return {};
        const shown = stepToShow(step, request);
        if (shown === undefined) return {};
        const { sent } = call;
        const records = recordsOf(session());
        const context = { step: shown, key, attempt: failed + attempt, requests, sent, records, signal };
        return ofChannel(() => sentMessage(channel, request, context));
      }),
    resolve: ({ refused, ...call }) =>
      calling(call, async (channel, [request], { attempt }) => {
        if (channel.resolve === undefined) throw new Error('the channel of this worker does not answer');
        // The channel may have been switched off, or the request settled, since the workflow scheduled this call.
        if (request === undefined || !isCarriedBy(call.channel, request)) {
          throw new Error('the request does not have this channel');
        }
        const { sent } = call;
        const context = { attempt, ...(sent !== undefined && { sent }), ...(refused && { refused }) };
        const key = [call.workflowId, request.requestId, call.channel].join(' ');
        return waiting.answer(key, async (signal) => checkAnswer(await channel.resolve!(request, signal, context)));
      }),
    settled: ({ key, settledIds, gone = {}, ...call }) =>
      calling(call, async (channel, found, { signal, attempt, isLastAttempt, isRunGone }) => {
        const isGone = (id: string): boolean =>
          Object.hasOwn(gone, id) && !found.some(({ requestId }) => requestId === id);
        const goneIds = settledIds.filter(isGone);
        // Trust the facts in `gone` only from the workflow of the run's channels, which has read them from the run.
        const isProven = goneIds.length > 0 && (await isCalledByChannelsOf(session(), call.workflowId));
        const reason = isRunGone ? 'The run is gone.' : 'The run does not have this request any more.';
        const requests = [
          ...found,
          ...(isProven ? goneIds : []).map((id) => goneRequest(call.workflowId, id, gone[id]!, reason)),
        ];
        const news = requests.filter(
          (each): each is Settled => settledIds.includes(each.requestId) && each.settled !== undefined,
        );
        const records = recordsOf(session());
        let { sent } = call;
        // With `batch`, call once for all requests. Otherwise call for each, with the `sent` of the call before.
        for (const settled of channel.batch === true ? [news] : news.map((each) => [each])) {
          const [request] = settled;
          if (request === undefined) continue;
          const context = { key, attempt, isLastAttempt, sent, requests, settled, records, signal };
          const before = sent;
          const callSettled = async (): Promise<LastSent> =>
            sentOf(await channel.settled?.(request, request.settled, context), before);
          ({ sent } = await ofChannel(callSettled));
        }
        return sent === undefined ? {} : { sent };
      }),
  };

  /** Calls `act` with the channel and its requests, and heartbeats meanwhile. Turns errors into Temporal's failures. */
  async function calling<Result>(
    { channel: name, workflowId, requestIds }: ChannelCall,
    act: (
      channel: Channel,
      requests: ChannelRequest[],
      call: { signal: AbortSignal; attempt: number; isLastAttempt: boolean; isRunGone: boolean },
    ) => Promise<Result>,
  ): Promise<Result> {
    const context = Context.current();
    const channel = channelFor(set, name);
    if (channel === undefined) throw failureOf(new Error(`this worker has no channel '${name}'`));
    context.heartbeat();
    const beats = setInterval(() => context.heartbeat(), heartbeatMs);
    try {
      const requests = await requestsOf(workflowId, requestIds);
      const { attempt, retryPolicy } = context.info;
      const isLastAttempt = attempt === retryPolicy?.maximumAttempts;
      const signal = context.cancellationSignal;
      return await act(channel, requests ?? [], { signal, attempt, isLastAttempt, isRunGone: requests === undefined });
    } catch (error) {
      throw context.cancellationSignal.aborted ? interrupted(context, error) : failureOf(error);
    } finally {
      clearInterval(beats);
    }
  }
}

/** Builds a cancelled request for one that its run no longer has. It has the known facts, and no argument values. */
function goneRequest(workflowId: string, requestId: string, facts: RequestFacts, reason: string): Settled {
  const { severity, argumentNames, ...names } = facts;
  const settledAt = new Date().toISOString();
  return {
    requestId,
    workflowId,
    ...names,
    arguments: {},
    shown: 'part',
    notShown: argumentNames,
    assessment: { ...defaultAssessment(names.riskLevel), severity, reasons: [] },
    callerUserId: null,
    contextSummary: '',
    reason: '',
    lineage: [],
    metadata: {},
    reviewers: [],
    settled: { outcome: 'cancelled', runs: false, reason, settledAt },
  };
}

/** Returns the channel of this name; for a name with the suffix `ofCallers`, that channel's functions for callers. */
function channelFor(set: ChannelSet | undefined, name: string): Channel | undefined {
  return name.endsWith(ofCallers) ? set?.channels.get(channelOf(name))?.caller : set?.channels.get(name);
}

function channelOf(name: string): string {
  return name.endsWith(ofCallers) ? name.slice(0, -ofCallers.length) : name;
}

/** True if the request is open and still goes to this channel. */
function isCarriedBy(name: string, { settled, channels = [] }: ChannelRequest): boolean {
  return settled === undefined && channels.includes(channelOf(name));
}

/** True once the deadline of a request has passed, even if the run has not settled it yet. */
function isExpired({ deadline }: ChannelRequest): boolean {
  return deadline !== null && Date.parse(deadline) <= Date.now();
}

/**
 * Returns the step to show. An escalation keeps only names that are reviewers of the request, because anyone can signal
 * other names. Undefined if no name is left, or if the model has received the user's message meanwhile.
 */
function stepToShow(step: ChannelStep, { reviewers, userMessages }: ChannelRequest): ChannelStep | undefined {
  if (step.kind === 'user_wrote' && userMessages === undefined) return undefined;
  if (step.kind !== 'escalated') return { kind: step.kind };
  const to = (step.to ?? []).filter((name) => reviewers.includes(name));
  return to.length === 0 ? undefined : { kind: step.kind, to };
}

/** Calls `notify`. If it reached only some recipients, returns what it sent and why the rest failed, for the retry. */
async function sentMessage(channel: Channel, request: ChannelRequest, context: NotifyContext): Promise<SentMessage> {
  try {
    return sentOf(await channel.notify?.(request, context), context.sent);
  } catch (error) {
    if (!(error instanceof PartlySent)) throw error;
    const { message, cause } = error;
    const waitMs = retryAfterOf(cause);
    const rest = { why: message.slice(0, 300), ...(waitMs !== undefined && { retryAfterMs: waitMs }) };
    return { ...sentOf(error.sent, context.sent), rest };
  }
}

/** Returns what the channel returned, or `before` if it returned nothing. Throws if the result is too large to keep. */
function sentOf(result: Json | void, before: Json | undefined): LastSent {
  const sent = result === undefined || result === null ? before : result;
  if (sent === undefined) return {};
  const bytes = byteLength(JSON.stringify(sent));
  if (bytes <= maxSentBytes) return { sent };
  throw ApplicationFailure.nonRetryable(`the channel returned ${bytes} bytes; at most ${maxSentBytes}`, 'too_large');
}
