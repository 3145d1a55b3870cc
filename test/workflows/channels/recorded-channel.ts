import type {
  Channel,
  ChannelAnswer,
  ChannelRequest,
  NotifyContext,
  SettledContext,
} from '../../../src/channels/channel.ts';
import type { Settlement } from '../../../src/contract.ts';

/** A channel that notes what it is asked to do, and answers what a test gives it. */
export interface RecordedChannel extends Channel {
  notified: { request: ChannelRequest; context: NotifyContext }[];
  settlements: { request: ChannelRequest; settlement: Settlement; context: SettledContext }[];
  /** The calls of `resolve`, with the signal of each. */
  asked: { request: ChannelRequest; signal: AbortSignal; attempt: number }[];
  /** Answers the oldest call of `resolve` without an answer. */
  answer(answer: unknown): void;
  fail(error: Error): void;
}

/** `resolves`: false for a channel that only tells. */
export function recordedChannel({
  resolves = true,
  ...options
}: Partial<Channel> & { resolves?: boolean } = {}): RecordedChannel {
  const waiting: PromiseWithResolvers<ChannelAnswer>[] = [];
  const recorded: RecordedChannel = {
    notified: [],
    settlements: [],
    asked: [],
    answer: (answer) => waiting.shift()!.resolve(answer as ChannelAnswer),
    fail: (error) => waiting.shift()!.reject(error),
    notify: (request, context) => {
      recorded.notified.push({ request, context });
      return { message: recorded.notified.length };
    },
    settled: (request, settlement, context) => {
      recorded.settlements.push({ request, settlement, context });
    },
    ...(resolves && {
      resolve: (request: ChannelRequest, signal: AbortSignal, { attempt }: { attempt: number }) => {
        recorded.asked.push({ request, signal, attempt });
        const next = Promise.withResolvers<ChannelAnswer>();
        waiting.push(next);
        return next.promise;
      },
    }),
    ...options,
  };
  return withOwnFields(recorded);
}

/** Makes an object no plain one, whose members are those of a channel only. */
export function withOwnFields<Own extends Channel>(channel: Own): Own {
  return Object.setPrototypeOf(channel, Object.create(Object.prototype)) as Own;
}
