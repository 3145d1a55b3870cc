import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { CompleteAsyncError } from '@temporalio/activity';
import { expect, test } from 'vitest';
import { createChannelCalls } from '../../src/channels/activities/call-channel.ts';
import { WaitingAnswers } from '../../src/channels/activities/waiting-answers.ts';
import type { Channel, ChannelRequest } from '../../src/channels/channel.ts';
import { thrownByChannel } from '../../src/core/base/tool-call.ts';
import { channelRequest } from '../channels/channel-request.ts';

/** What is no fault of a channel denies nothing: its workflow makes the call again. */

const request = { ...channelRequest(), channels: ['desk', 'hall'] };
const { requestId, workflowId } = request;

interface Case {
  channel?: string;
  resolve?: () => unknown;
  found?: () => ChannelRequest[];
}

function resolve({ channel = 'desk', found = () => [request], resolve = () => true }: Case): Promise<unknown> {
  const channels = new Map<string, Channel>([
    ['desk', { resolve: resolve as Channel['resolve'] & object }],
    ['hall', { notify: () => undefined }],
  ]);
  const calls = createChannelCalls({ channels, batchMs: 0 } as never, {
    session: () => undefined as never,
    requestsOf: async () => found(),
    waiting: new WaitingAnswers(),
  });
  const environment = new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') });
  return environment.run(calls.resolve, { channel, workflowId, requestIds: [requestId] });
}

test.each<[string, Case]>([
  [
    'the run does not answer',
    {
      found: () => {
        throw new Error('no worker answers');
      },
    },
  ],
  ['the run does not have the request', { found: () => [] }],
  ['the channel was switched off', { found: () => [{ ...request, channels: ['hall'] }] }],
  ['the worker does not have the channel', { channel: 'attic' }],
  ['the channel of this worker only tells', { channel: 'hall' }],
])('%s: the call was not made', async (_name, given) => {
  const error: unknown = await resolve(given).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ApplicationFailure);
  expect(error).toMatchObject({ type: 'NotCalled', nonRetryable: false });
  expect((error as ApplicationFailure).details).not.toContain(thrownByChannel);
});

const throwing = (error: unknown) => () => {
  throw error;
};

test.each<[string, () => unknown, object]>([
  ['an error', throwing(new RangeError('closed')), { type: 'RangeError', message: 'closed', nonRetryable: false }],
  ['text', throwing('closed'), { type: 'Error', message: 'closed' }],
  [
    'an error with a name of ours',
    throwing(Object.assign(new Error('down'), { name: 'NotCalled' })),
    { type: 'Error' },
  ],
  [
    'a failure of its own',
    throwing(ApplicationFailure.nonRetryable('no', 'Closed', 7)),
    { type: 'Closed', nonRetryable: true, details: [thrownByChannel, null, 7] },
  ],
  [
    'a failure with a type of ours',
    throwing(ApplicationFailure.nonRetryable('no', 'WorkerShutdown')),
    { type: 'Error' },
  ],
  ['the wish to answer later', throwing(new CompleteAsyncError()), { type: 'CompleteAsyncError' }],
  ['an answer that is none', () => 'perhaps', { nonRetryable: false }],
])('%s from the channel is marked as its own', async (_name, given, expected) => {
  const error: unknown = await resolve({ resolve: given }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ApplicationFailure);
  expect(error).toMatchObject(expected);
  expect((error as ApplicationFailure).details?.[0]).toBe(thrownByChannel);
});

test('a call that is made gives the answer', async () => {
  expect(await resolve({})).toEqual({ approved: true });
});
