import { z } from '@hono/zod-openapi';
import type { Problem } from 'countersign/base';
import type { ChatAnswer, UnreadAnswer } from './chat-answers.ts';
import { type SaidPart, saidMessage, type SaidMessage } from './say.ts';
import type { SeenItems } from './chat-thread.ts';

const source = z.looseObject({ type: z.string(), value: z.string(), mimeType: z.string().optional() });

const contentPart = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  /** Of `image`, `audio`, `video` and `document`. */
  source: source.optional(),
  /** Of `binary`. */
  mimeType: z.string().optional(),
  url: z.string().optional(),
  data: z.string().optional(),
  filename: z.string().optional(),
});
type ContentPart = z.infer<typeof contentPart>;

const message = z.looseObject({
  id: z.string(),
  role: z.string(),
  content: z.union([z.string(), z.array(contentPart)]).nullish(),
  toolCallId: z.string().optional(),
  toolCalls: z.array(z.looseObject({ id: z.string() })).optional(),
});

const resumePart = z.looseObject({
  interruptId: z.string(),
  status: z.enum(['resolved', 'cancelled']),
  payload: z.unknown().optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
});

/** The part of AG-UI's `RunAgentInput` that this gateway reads; it ignores everything else. */
export const runAgentInput = z
  .looseObject({
    threadId: z.string().min(1).max(500),
    runId: z.string().min(1).max(500),
    messages: z.array(message).max(5_000).default([]),
    state: z.unknown().optional(),
    resume: z.array(resumePart).max(100).optional(),
  })
  .openapi('RunAgentInput');

export type RunAgentInput = z.infer<typeof runAgentInput>;
type ResumePart = z.infer<typeof resumePart>;

const payloadShape = z.looseObject({
  approved: z.boolean(),
  reason: z.string().nullish(),
  editedArgs: z.record(z.string(), z.json()).nullish(),
  digest: z.string().optional(),
});

/** The texts of the user, oldest first. Messages of other roles are unverified claims, and are ignored. */
export function agUiTexts({ messages }: RunAgentInput): string[] {
  return messages.filter(({ role }) => role === 'user').map(({ content }) => messageText(content));
}

/**
 * Returns the user's messages after the assistant's last one. Throws `invalid_message` for a file without type or URL.
 */
export function agUiFresh({ messages }: RunAgentInput): SaidMessage[] {
  const answered = messages.findLastIndex(({ role }) => role === 'assistant' || role === 'tool');
  return messages
    .slice(answered + 1)
    .filter(({ role }) => role === 'user')
    .map(({ id, content }) =>
      saidMessage(
        id,
        content == null || typeof content === 'string' ? [{ text: content ?? '' }] : content.map(saidPart),
      ),
    );
}

function saidPart({ type, text = '', source: given, filename, ...binary }: ContentPart): SaidPart {
  if (type === 'text') return { text };
  const { mimeType: mediaType, url = dataUrl(mediaType, binary.data) } =
    given === undefined
      ? binary
      : { mimeType: given.mimeType, url: given.type === 'data' ? dataUrl(given.mimeType, given.value) : given.value };
  return { file: { mediaType, url, filename } };
}

function dataUrl(mediaType: string | undefined, data: string | undefined): string | undefined {
  return mediaType === undefined || data === undefined ? undefined : `data:${mediaType};base64,${data}`;
}

/** The items that the front end claims to have. */
export function agUiItems({ messages }: RunAgentInput): SeenItems {
  const assistant = messages.filter(({ role }) => role === 'assistant');
  return {
    calls: new Set(assistant.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id))),
    results: new Set(
      messages.flatMap(({ role, toolCallId }) => (role === 'tool' && toolCallId !== undefined ? [toolCallId] : [])),
    ),
    texts: new Set(assistant.filter(({ content }) => messageText(content) !== '').map(({ id }) => id)),
    answers: new Set(),
  };
}

/** A cancelled part denies. A part that cannot be read answers nothing. */
export function answerOf({ interruptId: answerId, status, payload, metadata }: ResumePart): ChatAnswer | UnreadAnswer {
  if (status === 'cancelled') return { answerId, approved: false, reason: 'The question was dismissed.' };
  const parsed = payloadShape.safeParse(payload);
  if (!parsed.success) return { answerId, problem: unreadable };
  const { approved, reason, editedArgs, digest = metadata?.['digest'] } = parsed.data;
  return {
    answerId,
    approved,
    ...(reason != null && { reason }),
    ...(editedArgs != null && { editedArguments: editedArgs }),
    ...(typeof digest === 'string' && { digest }),
  };
}

const unreadable: Problem = {
  code: 'invalid_decision',
  message: 'The payload of an answer is { approved: true or false, reason?, editedArgs? }.',
};

function messageText(content: RunAgentInput['messages'][number]['content']): string {
  if (content == null || typeof content === 'string') return content ?? '';
  return content.map(({ type, text = '' }) => (type === 'text' ? text : '')).join('');
}
