import { ApplicationFailure } from '@temporalio/common';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { expect, test } from 'vitest';
import { createChannelCalls } from '../../src/channels/activities/call-channel.ts';
import { WaitingAnswers } from '../../src/channels/activities/waiting-answers.ts';
import type { Channel, ChannelRequest } from '../../src/channels/channel.ts';
import { channelRequest } from '../support/channel-request.ts';

/** What is no fault of a channel denies nothing: its workflow makes the call again. */

const request = { ...channelRequest(), channels: ['desk', 'hall'] };
const { requestId, workflowId } = request;

interface Case {
  channel?: string;
  found?: () => ChannelRequest[];
}

function resolve({ channel = 'desk', found = () => [request] }: Case): Promise<unknown> {
  const channels = new Map<string, Channel>([
    ['desk', { resolve: () => true }],
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
});

test('a call that is made gives the answer', async () => {
  expect(await resolve({})).toEqual({ approved: true });
});
