import { decideMany } from '../../client/send/decide.ts';
import type { Session } from '../../client/server/connect.ts';
import type { Receipt } from '../../contract.ts';
import { answerDecision } from '../answer-decision.ts';
import type { ChannelAnswer } from '../channel.ts';

export interface ChannelDecision {
  channel: string;
  workflowId: string;
  requestId: string;
  answer: ChannelAnswer;
  /** The same for each attempt to send this answer. */
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
