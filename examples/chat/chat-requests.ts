/** When and what a page with `useChat` of the AI SDK sends to the gateway: copy this file beside your page. */
import type { PrepareSendMessagesRequest, UIMessage } from 'ai';

type Part = UIMessage['parts'][number];
const hasAnswer = (part: Part): boolean => part.type === 'dynamic-tool' && part.state === 'approval-responded';

const sent = new Set<string>();

/** An answer is sent at once, also on an older card and whatever else is asked beside it: the gateway takes each by itself. */
export function isAnswered({ messages }: { messages: UIMessage[] }): boolean {
  const fresh = new Set<string>();
  for (const part of messages.flatMap(({ parts }) => parts)) {
    if (part.type !== 'dynamic-tool' || part.approval === undefined) continue;
    const { id } = part.approval;
    // An answer that was refused is given again.
    if (part.state === 'approval-requested') sent.delete(id);
    if (part.state === 'approval-responded' && !sent.has(id)) fresh.add(id);
  }
  for (const id of fresh) sent.add(id);
  return fresh.size > 0;
}

/** Sends what the gateway reads: the newest messages and all answers, without what tools were given and returned. */
export const smallRequest: PrepareSendMessagesRequest<UIMessage> = ({ id, messages, trigger, messageId }) => {
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  const needed = messages.filter(({ parts }, index) => index >= last || parts.some(hasAnswer));
  return { body: { id, trigger, messageId, messages: needed.map(withoutResults) } };
};

function withoutResults({ id, role, parts }: UIMessage): object {
  if (role === 'user') return { id, role, parts };
  const small = parts.flatMap((part): object[] => {
    if (part.type === 'text') return [{ type: part.type, providerMetadata: part.providerMetadata }];
    if (part.type !== 'dynamic-tool') return [];
    const { type, toolCallId, state, approval } = part;
    return [{ type, toolCallId, state, approval }];
  });
  return { id, role, parts: small };
}
