import { z } from '@hono/zod-openapi';
import type { ChatAnswer, UnreadAnswer } from './chat-answers.ts';
import type { SeenItems } from './seen-run.ts';

const approvalShape = z.looseObject({
  id: z.string(),
  approved: z.boolean().optional(),
  reason: z.string().nullish(),
  signature: z.string().nullish(),
});

const part = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  toolCallId: z.string().optional(),
  state: z.string().optional(),
  approval: approvalShape.nullish(),
});

/** What this gateway reads of the body that `DefaultChatTransport` sends; everything else in it is ignored. */
export const chatRequest = z
  .looseObject({
    id: z.string().min(1).max(500),
    messages: z.array(z.looseObject({ id: z.string(), role: z.string(), parts: z.array(part).max(5_000) })).max(5_000),
    messageId: z.string().optional(),
  })
  .openapi('ChatRequest');

export type AiSdkRequest = z.infer<typeof chatRequest>;
type Part = z.infer<typeof part>;

/**
 * The texts of the user up to the message that is answered or continued, oldest first. Messages of other roles are claims
 * about the past, and are ignored.
 */
export function aiSdkTexts({ messages, messageId }: AiSdkRequest): string[] {
  const continued = messages.findIndex(({ id, role }) => id === messageId && role === 'assistant');
  return (continued === -1 ? messages : messages.slice(0, continued))
    .filter(({ role }) => role === 'user')
    .map(({ parts }) => parts.map(({ type, text = '' }) => (type === 'text' ? text : '')).join(''));
}

/** True: the user said something; else an answer of the assistant goes on. */
export function isUserLast({ messages, messageId }: AiSdkRequest): boolean {
  const continues = messages.some(({ id, role }) => id === messageId && role === 'assistant');
  return messages.at(-1)?.role === 'user' && !continues;
}

/** What the front end says it has. */
export function aiSdkItems(request: AiSdkRequest): SeenItems {
  const parts = toolParts(request);
  const ids = (some: readonly Part[]): Set<string> => new Set(some.map(({ toolCallId }) => toolCallId!));
  return {
    calls: ids(parts),
    results: ids(parts.filter(({ state = '' }) => state.startsWith('output-'))),
    texts: new Set(),
    answers: new Set(parts.flatMap(({ approval }) => (approval == null ? [] : [approval.id]))),
  };
}

/** The answers that were given and have no result yet. Those that were sent before are sent again: each counts once. */
export function givenAnswers(request: AiSdkRequest): (ChatAnswer | UnreadAnswer)[] {
  return toolParts(request).flatMap(({ state, approval }): (ChatAnswer | UnreadAnswer)[] => {
    if (state !== 'approval-responded' || approval == null) return [];
    const { id: answerId, approved, reason, signature } = approval;
    if (approved === undefined) {
      const message = `An answer has 'approved': true or false.`;
      return [{ answerId, problem: { code: 'invalid_decision' as const, message } }];
    }
    return [{ answerId, approved, ...(reason != null && { reason }), ...(signature != null && { digest: signature }) }];
  });
}

function toolParts({ messages }: AiSdkRequest): Part[] {
  return messages.flatMap(({ role, parts }) =>
    role === 'assistant' ? parts.filter(({ toolCallId }) => toolCallId !== undefined) : [],
  );
}
