import { getClient } from '@temporalio/activity';
import type { Connection } from '@temporalio/client';
import { type Session, sessionOf } from '../../client/server/session.ts';
import { activityNames, type Receipt } from '../../contract.ts';
import type { AttributeNames } from '../../core/base/attribute-names.ts';
import type { ChannelSet } from '../channel-set.ts';
import { announce } from '../../activities/announce.ts';
import { createChannelCalls } from './call-channel.ts';
import { createLookAtRequests, createRequestsOfRun } from './look-at-requests.ts';
import { createEnsureLooking, createLookForEndedRuns } from './look-for-ended-runs.ts';
import type { WaitingAnswers } from './waiting-answers.ts';
import { decideMany } from '../../client/send/decide.ts';
import { answerDecision } from '../channel-answer.ts';
import type { ChannelAnswer } from '../channel.ts';

export interface ChannelSide {
  attributes: AttributeNames;
  /** The workflow types whose requests channels carry. */
  workflowTypes: readonly string[];
  waiting: WaitingAnswers;
}

/** The activities of the workflow that calls a run's channels, and of the runs that start that workflow. */
export function channelActivities(
  set: ChannelSet | undefined,
  { attributes, workflowTypes, waiting }: ChannelSide,
): Record<string, unknown> {
  const session = (): Session => sessionOfWorker(attributes);
  const requestsOf = createRequestsOfRun(session, workflowTypes);
  const { notify, resolve, settled } = createChannelCalls(set, { session, requestsOf, waiting });
  return {
    [activityNames.announce]: announce,
    [activityNames.lookAtRequests]: createLookAtRequests(set, requestsOf, createEnsureLooking(session), attributes),
    [activityNames.channelNotify]: notify,
    [activityNames.channelResolve]: resolve,
    [activityNames.channelDecide]: createDecideForChannel(session),
    [activityNames.channelSettled]: settled,
    [activityNames.lookForEndedRuns]: createLookForEndedRuns(session),
  };
}

/** Returns the worker's connection, for functions of the client. It works only in an activity. */
export function sessionOfWorker(attributes: AttributeNames): Session {
  const client = getClient();
  return sessionOf({
    // The worker's connection is of another class, but has all members that the client uses.
    connection: client.connection as unknown as Connection,
    client,
    address: 'the server of this worker',
    namespace: client.options.namespace,
    attributes,
    hasCodecs: client.options.loadedDataConverter.payloadCodecs.length > 0,
  });
}

export interface ChannelDecision {
  channel: string;
  workflowId: string;
  requestId: string;
  answer: ChannelAnswer;
  /** The id of the decision, the same for every attempt to send this answer. */
  decisionId: string;
}

export type DecideForChannel = (decision: ChannelDecision) => Promise<Receipt>;

/** The activity `countersign.channelDecide`: sends a channel's answer to the run, as any client would. */
export function createDecideForChannel(session: () => Session): DecideForChannel {
  return async ({ channel, workflowId, requestId, answer, decisionId }) => {
    const decision = { reviewerId: `channel:${channel}`, ...answerDecision(answer, channel), requestId, decisionId };
    const [receipt] = await decideMany(session(), [decision], { workflowId });
    return receipt!;
  };
}
