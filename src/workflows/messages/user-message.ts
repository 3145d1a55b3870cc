/** Message `message`: what the user of a session says next. The run hands it to the model before the next turn. */
import { messageNames } from '../../contract.ts';
import { jsonDigest } from '../../core/base/digest.ts';
import type { Problem } from '../../core/base/problem.ts';
import { readUserMessage, type UserMessage } from '../../core/messages/control.ts';
import type { GateState } from '../state/gate-state.ts';
import type { MessageKind } from './message-kind.ts';
import { acceptable, refused } from './message-kind.ts';

/** What takes the messages of a run's user. */
export interface UserMessageTaker {
  /** Why the run does not take this text now; undefined if it does. */
  problem(content: string): Problem | undefined;
  take(content: string): void;
}

export function userMessages(state: GateState, taker: UserMessageTaker): MessageKind<UserMessage> {
  return {
    name: messageNames.message,
    parse: readUserMessage,
    concerns: () => [],
    preview: ({ content }) => {
      const closed = { code: 'run_closed', message: 'the run was closed already' } as const;
      const problem = state.closing === undefined ? taker.problem(content) : closed;
      return problem === undefined ? acceptable : refused('', problem);
    },
    apply: ({ content, by, reason }, _sender, atMs) => {
      // The journal names who claims to have written it, and has no text of it.
      const voter = by ? ({ reviewerId: by, identity: 'claimed' } as const) : ({ identity: 'anonymous' } as const);
      state.apply({ kind: 'message', atMs, digest: jsonDigest(content), voter, reason: reason || undefined });
      taker.take(content);
      return { requestId: '', accepted: true, message: 'the model gets the message before its next turn' };
    },
  };
}
