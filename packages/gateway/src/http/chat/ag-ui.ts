import { z } from '@hono/zod-openapi';
import type { Problem } from 'countersign/base';
import type { ChatAnswer, UnreadAnswer } from './chat-answers.ts';
import { type SaidPart, saidMessage, type SaidMessage } from './say.ts';
import type { SeenItems } from './chat-thread.ts';
import { problemOf } from '../responses.ts';
import { type AskedRequest, type ChatStep, endText, factsOf, questionText, waitsText } from './chat-step.ts';

const source = z.looseObject({ type: z.string(), value: z.string(), mimeType: z.string().optional() });

const contentPart = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  /** Only parts of type `image`, `audio`, `video` and `document` have a source. */
  source: source.optional(),
  /** Only parts of type `binary` have the following members. */
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

/** The members of AG-UI's `RunAgentInput` that the gateway reads. The gateway ignores all other members. */
export const runAgentInput = z
  .looseObject({
    threadId: z.string().min(1).max(500),
    runId: z.string().min(1).max(500),
    messages: z.array(message).max(5_000).default([]),
    state: z.unknown().optional(),
    resume: z.array(resumePart).max(100).optional(),
  })
  .openapi('RunAgentInput');

type RunAgentInput = z.infer<typeof runAgentInput>;
type ResumePart = z.infer<typeof resumePart>;

const payloadShape = z.looseObject({
  approved: z.boolean(),
  reason: z.string().nullish(),
  editedArgs: z.record(z.string(), z.json()).nullish(),
  digest: z.string().optional(),
});

/** The user's texts, oldest first. Other roles are ignored, because a front end could forge the agent's messages. */
export function agUiTexts({ messages }: RunAgentInput): string[] {
  return messages.filter(({ role }) => role === 'user').map(({ content }) => messageText(content));
}

/** The user's messages after the last one of an assistant or tool. Throws `invalid_message` for an incomplete file. */
export function agUiFresh({ messages }: RunAgentInput): SaidMessage[] {
  const lastOfAgent = messages.findLastIndex(({ role }) => role === 'assistant' || role === 'tool');
  return messages
    .slice(lastOfAgent + 1)
    .filter(({ role }) => role === 'user')
    .map(({ id, content }) =>
      saidMessage(
        id,
        content == null || typeof content === 'string' ? [{ text: content ?? '' }] : content.map(saidPart),
      ),
    );
}

/** The text or file of a part. AG-UI has two forms of files: parts with a `source`, and parts of type `binary`. */
function saidPart({ type, text = '', source: fileSource, filename, ...binary }: ContentPart): SaidPart {
  if (type === 'text') return { text };
  if (fileSource === undefined) {
    // `saidMessage` refuses a part that has no media type or no URL here.
    const { mimeType: mediaType, data, url = dataUrl(mediaType, data) } = binary;
    return { file: { mediaType, url, filename } };
  }
  const { mimeType: mediaType, value } = fileSource;
  return { file: { mediaType, url: fileSource.type === 'data' ? dataUrl(mediaType, value) : value, filename } };
}

function dataUrl(mediaType: string | undefined, data: string | undefined): string | undefined {
  return mediaType === undefined || data === undefined ? undefined : `data:${mediaType};base64,${data}`;
}

/** Collects the ids of what the front end shows already. The messages of AG-UI contain no answers to requests. */
export function agUiItems({ messages }: RunAgentInput): SeenItems {
  const assistant = messages.filter(({ role }) => role === 'assistant');
  return {
    calls: new Set(assistant.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id))),
    results: new Set(
      messages.flatMap(({ role, toolCallId }) => (role === 'tool' && toolCallId !== undefined ? [toolCallId] : [])),
    ),
    // A message may have calls, but no text yet: then the stream still sends its text.
    texts: new Set(assistant.filter(({ content }) => messageText(content) !== '').map(({ id }) => id)),
    answers: new Set(),
  };
}

/** Reads the answer in a part of `resume`. A cancelled part denies; an unreadable part returns a `problem`. */
export function answerOf({ interruptId: answerId, status, payload, metadata }: ResumePart): ChatAnswer | UnreadAnswer {
  if (status === 'cancelled') return { answerId, approved: false, reason: 'The question was dismissed.' };
  const parsed = payloadShape.safeParse(payload);
  if (!parsed.success) return { answerId, problem: unreadable };
  // A front end may return the digest in the `metadata` of the interrupt, as it got it from `interruptOf`.
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

type Message = { id: string; role: string } & Record<string, unknown>;

/** Collects the messages for AG-UI's snapshot: first those of the front end, then those of the stream's steps. */
class SnapshotMessages {
  readonly #all: Message[];
  /** True once the assistant has a message that the front end did not send. */
  hasNew = false;

  constructor(sent: RunAgentInput['messages']) {
    this.#all = structuredClone(sent);
  }

  get all(): readonly Message[] {
    return this.#all;
  }

  /** Adds what a step shows: a part of a text, a call, changed arguments or a result. Other steps change nothing. */
  add(step: ChatStep): void {
    if (step.type === 'text') {
      const message = this.#assistant(step.messageId);
      const { content } = message;
      message['content'] = `${typeof content === 'string' ? content : ''}${step.delta}`;
    }
    if (step.type === 'call') {
      const message = this.#assistant(step.messageId);
      const calls = (message['toolCalls'] ?? []) as object[];
      const called = { name: step.toolName, arguments: JSON.stringify(step.arguments) };
      message['toolCalls'] = [...calls, { id: step.callId, type: 'function', function: called }];
    }
    if (step.type === 'arguments') {
      const calls = this.#all.flatMap(({ toolCalls = [] }) => toolCalls as { id: string; function?: object }[]);
      const call = calls.find(({ id }) => id === step.callId);
      if (call !== undefined) call.function = { ...call.function, arguments: JSON.stringify(step.arguments) };
    }
    if (step.type === 'result') {
      const { callId, content } = step;
      this.#all.push({ id: `${callId}-result`, role: 'tool', toolCallId: callId, content });
    }
  }

  /** Returns the assistant's message with this id. If there is none yet, adds an empty one. */
  #assistant(id: string): Message {
    const known = this.#all.find((message) => message.id === id && message.role === 'assistant');
    if (known !== undefined) return known;
    this.hasNew = true;
    const message = { id, role: 'assistant' };
    this.#all.push(message);
    return message;
  }
}

type AgUiEvent = { type: string } & Record<string, unknown>;

/** The AG-UI events for the steps of a run. An error goes to `failed`, and is the last event: the status was sent. */
export async function* agUiEvents(
  steps: AsyncIterable<ChatStep>,
  input: RunAgentInput,
  { failed }: { failed: (error: unknown) => void },
): AsyncGenerator<AgUiEvent, void, undefined> {
  const { threadId, runId } = input;
  const messages = new SnapshotMessages(input.messages);
  yield { type: 'RUN_STARTED', threadId, runId };
  try {
    for await (const step of steps) {
      messages.add(step);
      if (step.type === 'waiting') {
        yield { type: 'STATE_SNAPSHOT', snapshot: stateOf(input.state, step.requests) };
        // A snapshot is sent only if it has a new message, because assistant-ui otherwise drops the interrupt. The
        // snapshot has the older messages, too, because the front end deletes messages that a snapshot lacks.
        if (messages.hasNew && input.messages.length > 0) yield { type: 'MESSAGES_SNAPSHOT', messages: messages.all };
        const interrupts = step.requests.map((request) => interruptOf(request));
        yield { type: 'RUN_FINISHED', threadId, runId, outcome: { type: 'interrupt', interrupts } };
      } else if (step.type === 'ended' && step.status === 'completed') {
        yield { type: 'RUN_FINISHED', threadId, runId, outcome: { type: 'success' }, result: step.output };
      } else yield* eventsOf(step);
    }
  } catch (error) {
    failed(error);
    const { code, message } = problemOf(error);
    yield { type: 'RUN_ERROR', message, code };
  }
}

/** The events for a step. `asked` has none, as the last event lists all requests. `ended`: the run did not complete. */
function eventsOf(step: Exclude<ChatStep, { type: 'waiting' }>): AgUiEvent[] {
  switch (step.type) {
    case 'receipts':
      return [{ type: 'CUSTOM', name: 'countersign.receipts', value: step.receipts }];
    case 'text_start':
      return [{ type: 'TEXT_MESSAGE_START', messageId: step.messageId, role: 'assistant' }];
    case 'text':
      return [{ type: 'TEXT_MESSAGE_CONTENT', messageId: step.messageId, delta: step.delta }];
    case 'text_end':
      return [{ type: 'TEXT_MESSAGE_END', messageId: step.messageId }];
    case 'call': {
      const { callId: toolCallId, messageId: parentMessageId, toolName: toolCallName } = step;
      return [
        { type: 'TOOL_CALL_START', toolCallId, toolCallName, parentMessageId },
        { type: 'TOOL_CALL_ARGS', toolCallId, delta: JSON.stringify(step.arguments) },
        { type: 'TOOL_CALL_END', toolCallId },
      ];
    }
    case 'asked':
      return [];
    case 'waits': {
      const value = { message: waitsText(step.waits), waits: step.waits };
      return [{ type: 'CUSTOM', name: 'countersign.waiting', value }];
    }
    case 'arguments': {
      const { callId: toolCallId, toolName, arguments: args } = step;
      return [{ type: 'CUSTOM', name: 'countersign.arguments', value: { toolCallId, toolName, arguments: args } }];
    }
    case 'decided': {
      const { callId: toolCallId, answerId: interruptId, outcome, approved, reason } = step;
      const value = { interruptId, toolCallId, outcome, approved, ...(reason !== null && { reason }) };
      return [{ type: 'CUSTOM', name: 'countersign.decided', value }];
    }
    case 'result': {
      const { callId: toolCallId, content } = step;
      return [{ type: 'TOOL_CALL_RESULT', messageId: `${toolCallId}-result`, toolCallId, content, role: 'tool' }];
    }
    case 'ended':
      return [{ type: 'RUN_ERROR', message: endText(step), code: step.failure?.code ?? step.status }];
  }
}

/** Makes AG-UI's interrupt for a request. The front end answers it in `resume`, in its next HTTP request. */
function interruptOf(request: AskedRequest): object {
  const { answerId, requestId, workflowId, callId, toolName, digest, deadline, schema } = request;
  return {
    id: answerId,
    reason: 'tool_call',
    message: questionText(request),
    toolCallId: callId,
    responseSchema: {
      type: 'object',
      properties: {
        approved: { type: 'boolean' },
        reason: { type: 'string' },
        editedArgs: schema ?? { type: 'object', description: 'Replaces all arguments.' },
      },
      required: ['approved'],
    },
    ...(deadline !== null && { expiresAt: deadline }),
    metadata: { requestId, workflowId, toolName, arguments: request.arguments, digest, ...factsOf(request) },
  };
}

/** The front end's own state, with the open requests as `countersign`. A state that is no object counts as empty. */
function stateOf(state: unknown, requests: readonly AskedRequest[]): object {
  const own = typeof state === 'object' && state !== null && !Array.isArray(state) ? state : {};
  const open = requests.map(({ answerId, callId, toolName, digest }) => ({
    interruptId: answerId,
    toolCallId: callId,
    toolName,
    digest,
  }));
  return { ...own, countersign: { open } };
}
