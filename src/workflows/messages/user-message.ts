/** Message `message`: the next message of a session's user. The model receives it with the next turn. */
import { messageNames } from '../../contract.ts';
import { jsonDigest } from '../../core/base/digest.ts';
import type { Json } from '../../core/base/tool-call.ts';
import type { Problem } from '../../core/base/problem.ts';
import { readUserMessage, userMessageDigest, type UserMessage } from '../../core/messages/control.ts';
import type { UserFile } from '../../core/base/user-files.ts';
import type { GateState } from '../state/gate-state.ts';
import type { RequestRecord } from '../../core/ledger/ledger.ts';
import { userHasWritten } from '../../core/ledger/sentences.ts';
import { misusedId } from './idempotency.ts';
import { type MessageKind, acceptable, refused } from './message-kind.ts';

export interface UserMessageHandler {
  /** Why the run refuses this message now; undefined if it accepts the message. */
  problem(message: UserMessage): Problem | undefined;
  /** Applies a message. Returns why all open requests are withdrawn; undefined if they stay open. */
  take(message: UserMessage): string | undefined;
  readonly unheard: readonly string[];
  messageWithId(messageId: string): { content: string; files?: UserFile[] } | undefined;
}

/** Returns how to handle `message`. `noteStop` makes the gate write its journal, so that readers see a stop at once. */
export function userMessages(
  state: GateState,
  session: UserMessageHandler,
  noteStop: () => void,
): MessageKind<UserMessage> {
  return {
    name: messageNames.message,
    parse: readUserMessage,
    concerns: () => [],
    preview: (message) => {
      const closed = { code: 'run_closed', message: 'the run was closed already' } as const;
      const problem = state.closing === undefined ? session.problem(message) : closed;
      return problem === undefined ? acceptable : refused('', problem);
    },
    apply: (message, _sender, atMs) => {
      // A retry may come late: the pipeline remembers only the last hundred ids, and the transcript has all of them.
      const known = message.messageId === undefined ? undefined : session.messageWithId(message.messageId);
      if (known !== undefined) {
        const isSame = known.content === message.content && filesDigest(known) === filesDigest(message);
        if (!isSame) return misusedId(message.messageId!);
        return { requestId: '', accepted: true, message: 'the model has the message already' };
      }
      const { by, reason } = message;
      // The journal names the claimed author of the message, and does not have its text.
      const voter = by ? ({ reviewerId: by, identity: 'claimed' } as const) : ({ identity: 'anonymous' } as const);
      state.apply({ kind: 'message', atMs, digest: userMessageDigest(message), voter, reason: reason || undefined });
      const withdrawn = session.take(message);
      if (withdrawn !== undefined) {
        state.cancelOpen(withdrawn);
        noteStop();
      }
      if (message.content !== undefined) state.cancelOpen(userHasWritten, isWithdrawn);
      return { requestId: '', accepted: true, message: answerTo(message) };
    },
  };
}

function filesDigest({ files = [] }: { files?: UserFile[] }): string {
  return jsonDigest(files as unknown as Json);
}

function isWithdrawn({ terms }: RequestRecord): boolean {
  return terms.whenUserWrites === 'withdraw';
}

function answerTo({ retry, stop }: UserMessage): string {
  if (stop) return 'the turn is stopped: nothing more of it starts';
  return retry ? 'the model is asked again' : 'the model gets the message before its next turn';
}
