/** Messages `extend` and `delegate`: more time for a request, another reviewer for a seat. */
import { messageNames } from '../../contract.ts';
import {
  instantMs,
  readDelegate,
  readExtend,
  type DelegateMessage,
  type ExtendMessage,
} from '../../core/messages/control.ts';
import type { Sender } from '../../core/messages/sender.ts';
import { latestDeadlineMs } from '../../core/ledger/extend-and-delegate.ts';
import { requestOf, type LedgerCommand } from '../../core/ledger/ledger.ts';
import type { GateState } from '../state/gate-state.ts';
import type { ActivePolicies } from '../state/active-policies.ts';
import { inTimeIfRuns } from './decide.ts';
import type { MessageKind } from './message-kind.ts';

export function extendMessages(state: GateState, policies: () => ActivePolicies): MessageKind<ExtendMessage> {
  const messages = ofOneRequest(state, messageNames.extend, readExtend, (message, atMs, { voter }) => {
    const found = requestOf(state.ledger, message.requestId);
    const latestMs = found === undefined ? null : latestDeadlineMs(found, policies().policies);
    return { kind: 'extend', atMs, ...aboutOne(message), untilMs: instantMs(message.until)!, latestMs, voter };
  });
  return { ...messages, undatedAtMs: ({ requestId }) => inTimeIfRuns(state, requestId) };
}

export function delegateMessages(state: GateState): MessageKind<DelegateMessage> {
  return ofOneRequest(state, messageNames.delegate, readDelegate, (message, atMs, { voter, operator }) => {
    const { to, from } = message;
    return { kind: 'delegate', atMs, ...aboutOne(message), to, voter, ...(from !== undefined && { from, operator }) };
  });
}

function ofOneRequest<Message extends ExtendMessage | DelegateMessage>(
  state: GateState,
  name: string,
  parse: MessageKind<Message>['parse'],
  commandOf: (message: Message, atMs: number, sender: Sender) => LedgerCommand,
): MessageKind<Message> {
  return {
    name,
    parse,
    concerns: ({ requestId }) => [requestId],
    preview: (message, sender, atMs) => state.preview(commandOf(message, atMs, sender)),
    apply: (message, sender, atMs) => state.answer(commandOf(message, atMs, sender)),
  };
}

function aboutOne({ requestId, reason }: ExtendMessage | DelegateMessage): { requestId: string; reason?: string } {
  return { requestId, reason };
}
