import { z } from '@hono/zod-openapi';
import type { ChatAnswer, UnreadAnswer } from './chat-answers.ts';
import { saidMessage, type SaidMessage } from './say.ts';
import type { SeenItems } from './chat-thread.ts';

const approvalShape = z.looseObject({
  id: z.string(),
  approved: z.boolean().optional(),
  reason: z.string().nullish(),
  signature: z.string().nullish(),
});

const part = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  mediaType: z.string().optional(),
  url: z.string().optional(),
  filename: z.string().optional(),
  toolCallId: z.string().optional(),
  state: z.string().optional(),
  approval: approvalShape.nullish(),
  providerMetadata: z.unknown().optional(),
});

const toldText = z.looseObject({ countersign: z.looseObject({ textId: z.string() }) });

/** The part of `DefaultChatTransport`'s body that this gateway reads; it ignores everything else. */
export const chatRequest = z
  .looseObject({
    id: z.string().min(1).max(500),
    messages: z.array(z.looseObject({ id: z.string(), role: z.string(), parts: z.array(part).max(5_000) })).max(5_000),
    messageId: z.string().optional(),
    trigger: z.string().optional(),
  })
  .openapi('ChatRequest');

export type AiSdkRequest = z.infer<typeof chatRequest>;
type Part = z.infer<typeof part>;

/** The texts of the user, oldest first. Messages of other roles are unverified claims, and are ignored. */
export function aiSdkTexts({ messages }: AiSdkRequest): string[] {
  return messages.filter(({ role }) => role === 'user').map(messageText);
}

/**
 * Returns the user's messages after the assistant's last one. Throws `invalid_message` for a file without type or URL.
 */
export function aiSdkFresh({ messages }: AiSdkRequest): SaidMessage[] {
  const fresh = messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1);
  return fresh
    .filter(({ role }) => role === 'user')
    .map(({ id, parts }) =>
      saidMessage(
        id,
        parts.map(({ type, text = '', ...file }) =>
          type === 'file' ? { file } : { text: type === 'text' ? text : '' },
        ),
      ),
    );
}

/**
 * Returns the id of the assistant's message that the stream continues: the one that the request names, because a
 * request on its card was answered, else the last one. Undefined if a newer message of the user follows.
 */
export function continuedMessage({ messages, messageId }: AiSdkRequest): string | undefined {
  const named = messages.find(({ id }) => id === messageId) ?? messages.at(-1);
  return named?.role === 'assistant' ? named.id : undefined;
}

function messageText({ parts }: AiSdkRequest['messages'][number]): string {
  return parts.map(({ type, text = '' }) => (type === 'text' ? text : '')).join('');
}

/** The items that the front end claims to have. */
export function aiSdkItems(request: AiSdkRequest): SeenItems {
  const continued = continuedMessage(request);
  const parts = toolParts(request);
  const ids = (some: readonly Part[]): Set<string> => new Set(some.map(({ toolCallId }) => toolCallId!));
  const calls = ids(parts);
  const own = ids(toolParts({ messages: request.messages.filter(({ id }) => id === continued) }));
  return {
    calls,
    results: ids(parts.filter(({ state = '' }) => state.startsWith('output-'))),
    texts: new Set(request.messages.flatMap(toldTexts)),
    answers: new Set(parts.flatMap(({ approval }) => (approval == null ? [] : [approval.id]))),
    elsewhere: new Set([...calls].filter((id) => !own.has(id))),
  };
}

function toldTexts({ role, parts }: AiSdkRequest['messages'][number]): string[] {
  if (role !== 'assistant') return [];
  return parts.flatMap(({ providerMetadata }) => {
    const parsed = toldText.safeParse(providerMetadata);
    return parsed.success ? [parsed.data.countersign.textId] : [];
  });
}

/** The answers without a result so far. Those sent before are sent again: each counts once. */
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

function toolParts({ messages }: Pick<AiSdkRequest, 'messages'>): Part[] {
  return messages.flatMap(({ role, parts }) =>
    role === 'assistant' ? parts.filter(({ toolCallId }) => toolCallId !== undefined) : [],
  );
}
