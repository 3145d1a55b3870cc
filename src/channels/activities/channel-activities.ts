import type { Session } from '../../client/connect.ts';
import { activityNames } from '../../contract.ts';
import type { AttributeNames } from '../../core/base/attribute-names.ts';
import type { ChannelSet } from '../channel-set.ts';
import { announce } from '../../activities/announce.ts';
import { createChannelCalls } from './call-channel.ts';
import { createDecideForChannel } from './decide-for-channel.ts';
import { createLookAtRequests } from './look-at-requests.ts';
import { sessionOfWorker } from './session-of-worker.ts';

/** The activities of the workflow that carries requests to channels, and of the runs that announce them. */
export function channelActivities(set: ChannelSet | undefined, attributes: AttributeNames): Record<string, unknown> {
  const session = (): Session => sessionOfWorker(attributes);
  const { notify, resolve, settled } = createChannelCalls(set, session);
  return {
    [activityNames.announce]: announce,
    [activityNames.lookAtRequests]: createLookAtRequests(set, session),
    [activityNames.channelNotify]: notify,
    [activityNames.channelResolve]: resolve,
    [activityNames.channelDecide]: createDecideForChannel(session),
    [activityNames.channelSettled]: settled,
  };
}
