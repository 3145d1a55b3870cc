import { MockActivityEnvironment } from '@temporalio/testing';
import { expect, test } from 'vitest';
import {
  createLookAtRequests,
  type LookedRequest,
  type LookInput,
} from '../../src/channels/activities/look-at-requests.ts';
import type { CallerNotices, Channel, ChannelRequest } from '../../src/channels/channel.ts';
import { channelRequest } from '../channels/channel-request.ts';

const caller: CallerNotices = { notify: () => undefined, settled: () => undefined };
const known = new Map<string, Channel>([
  ['desk', { notify: () => undefined }],
  ['also', { notify: () => undefined, caller }],
  ['only', { caller }],
  ['friends', { caller: { ...caller, knows: ({ callerUserId }) => callerUserId === 'eve' } }],
  [
    'throws',
    {
      caller: {
        ...caller,
        knows: () => {
          throw new Error('no directory');
        },
      },
    },
  ],
  ['careful', { notify: () => undefined, resolve: () => true, isAutomatic: () => true, caller }],
]);

async function look(channels: string[], more: Partial<ChannelRequest> = {}) {
  const request = { ...channelRequest({ callerUserId: 'carl', ...more }), channels };
  const activity = createLookAtRequests(
    { channels: known, batchMs: 0, quietHoursOf: () => undefined } as never,
    async () => [request],
    async () => undefined,
    { tags: null },
  );
  const input = { workflowId: request.workflowId, requestIds: [request.requestId] };
  const environment = new MockActivityEnvironment();
  const [looked] = await environment.run<[LookInput], LookedRequest[], typeof activity>(activity, input);
  return { names: looked!.names, told: looked!.channels.map(({ name }) => name) };
}

test.each<[string, string[], Partial<ChannelRequest>, { names: string[]; told: string[] }]>([
  ['reviewers alone', ['desk'], {}, { names: ['desk'], told: ['desk'] }],
  ['the caller, too', ['also'], {}, { names: ['also'], told: ['also', 'also:caller'] }],
  ['the caller by another channel', ['desk', 'only'], {}, { names: ['desk'], told: ['desk', 'only:caller'] }],
  ['the caller alone', ['only'], {}, { names: ['only'], told: ['only', 'only:caller'] }],
  ['a run without a caller', ['also'], { callerUserId: null }, { names: ['also'], told: ['also'] }],
  ['a caller who is asked', ['also'], { approvers: ['Carl'] }, { names: ['also'], told: ['also'] }],
  ['a caller whom it does not know', ['friends'], {}, { names: ['friends'], told: ['friends'] }],
  ['a channel that cannot say whom it knows', ['throws'], {}, { names: ['throws'], told: ['throws'] }],
  ['a channel that answers by itself', ['careful'], {}, { names: ['careful'], told: ['careful'] }],
  ['a channel that the worker lacks', ['attic', 'only'], {}, { names: ['attic'], told: ['only:caller'] }],
])('%s', async (_name, channels, more, expected) => {
  expect(await look(channels, more)).toEqual(expected);
});
