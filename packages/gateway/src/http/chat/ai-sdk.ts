import { z } from '@hono/zod-openapi';
import { parseJson } from 'countersign/json';
import type { ChatAnswer, UnreadAnswer } from './chat-answers.ts';
import { saidMessage, type SaidMessage } from './say.ts';
import type { SeenItems } from './chat-thread.ts';
import { problemOf } from '../responses.ts';
import { type AskedRequest, type ChatStep, endText, factsOf, questionText, waitsText } from './chat-step.ts';

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

const sentTextShape = z.looseObject({ countersign: z.looseObject({ textId: z.string() }) });

/** The members of a body of the AI SDK's `DefaultChatTransport` that the gateway reads. It ignores other members. */
export const chatRequest = z
  .looseObject({
    id: z.string().min(1).max(500),
    messages: z.array(z.looseObject({ id: z.string(), role: z.string(), parts: z.array(part).max(5_000) })).max(5_000),
    messageId: z.string().optional(),
    trigger: z.string().optional(),
  })
  .openapi('ChatRequest');

type AiSdkRequest = z.infer<typeof chatRequest>;
type Part = z.infer<typeof part>;

/** The user's texts, oldest first. Other roles are ignored, because a front end could forge the agent's messages. */
export function aiSdkTexts({ messages }: AiSdkRequest): string[] {
  return messages.filter(({ role }) => role === 'user').map(messageText);
}

/** The user's messages after the assistant's last one: texts and files. Throws `invalid_message` for a bad file. */
export function aiSdkFresh({ messages }: AiSdkRequest): SaidMessage[] {
  return messages
    .slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1)
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
 * Returns the id of the assistant's message that the stream continues. If the user answered a request in a message, the
 * body names that message. Otherwise the stream continues the last message. Undefined if the user wrote that message.
 */
export function continuedMessage({ messages, messageId }: AiSdkRequest): string | undefined {
  const named = messages.find(({ id }) => id === messageId) ?? messages.at(-1);
  return named?.role === 'assistant' ? named.id : undefined;
}

function messageText({ parts }: AiSdkRequest['messages'][number]): string {
  return parts.map(({ type, text = '' }) => (type === 'text' ? text : '')).join('');
}

/** Collects the ids of what the front end shows. `elsewhere`: the calls outside the message of this stream. */
export function aiSdkItems(request: AiSdkRequest): SeenItems {
  const continued = continuedMessage(request);
  const parts = toolParts(request);
  const partsOfContinued = toolParts({ messages: request.messages.filter(({ id }) => id === continued) });
  const callIds = (ofParts: readonly Part[]): Set<string> => new Set(ofParts.map(({ toolCallId }) => toolCallId!));
  const calls = callIds(parts);
  const callsOfContinued = callIds(partsOfContinued);
  return {
    calls,
    results: callIds(parts.filter(({ state = '' }) => state.startsWith('output-'))),
    texts: new Set(request.messages.flatMap(shownTexts)),
    answers: new Set(parts.flatMap(({ approval }) => (approval == null ? [] : [approval.id]))),
    elsewhere: new Set([...calls].filter((id) => !callsOfContinued.has(id))),
  };
}

/** The ids of the texts that the front end has completely. `uiChunks` sends each id with the end of its text. */
function shownTexts({ role, parts }: AiSdkRequest['messages'][number]): string[] {
  if (role !== 'assistant') return [];
  return parts.flatMap(({ providerMetadata }) => {
    const parsed = sentTextShape.safeParse(providerMetadata);
    return parsed.success ? [parsed.data.countersign.textId] : [];
  });
}

/** The answers to calls that have no result yet. The `signature` of an answer is the digest that `#asks` sent. */
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

type UiChunk = { type: string } & Record<string, unknown>;

interface ChunkOptions {
  messageId: string;
  seen: SeenItems;
  /** True: the stream continues a message that the front end has. False: it begins a new message. */
  continues: boolean;
  /** Gets the error that ends the stream early. */
  failed: (error: unknown) => void;
}

/** Translates a run's steps to chunks of a UI message. An error becomes the last chunk: the HTTP status was sent. */
export async function* uiChunks(
  steps: AsyncIterable<ChatStep>,
  options: ChunkOptions,
): AsyncGenerator<UiChunk, void, undefined> {
  const translator = new ChunkTranslator(options);
  yield { type: 'start', messageId: options.messageId };
  try {
    for await (const step of steps) yield* translator.chunks(step);
  } catch (error) {
    options.failed(error);
    yield { type: 'error', errorText: problemOf(error).message };
  }
}

/** Translates steps to chunks. It leaves out what the front end has, and chunks that the AI SDK would refuse. */
class ChunkTranslator {
  /** The answer ids of the requests that the page has. */
  readonly #asked: Set<string>;
  /** The calls of the message that the stream writes. The front end throws for a chunk about any other call. */
  readonly #calls: Set<string>;
  readonly #denied = new Set<string>();
  /** The id of the model's message to which the present step belongs. */
  #step: string | undefined;
  #hasBegunStep = false;

  constructor({ seen, continues }: Omit<ChunkOptions, 'failed' | 'messageId'>) {
    this.#asked = new Set(seen.answers);
    this.#calls = new Set([...seen.calls].filter((id) => seen.elsewhere?.has(id) !== true));
    // All calls of a turn are in one step, because the AI SDK looks for answers to send only in the last step. So the
    // stream continues the step of the last call. The id of that step is the id of the call up to the last dot.
    const last = [...this.#calls].at(-1);
    if (continues && last !== undefined) this.#step = last.slice(0, last.lastIndexOf('.'));
  }

  /** The chunks for a step; none if the page lacks the call that the step is about, or has the denial of that call. */
  *chunks(step: ChatStep): Generator<UiChunk, void, undefined> {
    switch (step.type) {
      case 'receipts':
        return yield { type: 'data-countersign-receipts', data: step.receipts, transient: true };
      case 'text_start':
        yield* this.#stepOf(step.messageId);
        return yield { type: 'text-start', id: step.messageId };
      case 'text':
        return yield { type: 'text-delta', id: step.messageId, delta: step.delta };
      case 'text_end':
        // The front end sends `textId` with its next request, so that the gateway knows that it has the text.
        return yield {
          type: 'text-end',
          id: step.messageId,
          ...(step.whole !== undefined && { providerMetadata: { countersign: { textId: step.whole } } }),
        };
      case 'call':
        yield* this.#stepOf(step.messageId);
        this.#calls.add(step.callId);
        return yield inputChunk(step);
      case 'arguments':
        if (this.#calls.has(step.callId)) yield inputChunk(step);
        return;
      case 'asked':
        return yield* this.#asks(step.request);
      case 'waits': {
        const data = { message: waitsText(step.waits), waits: step.waits };
        return yield { type: 'data-countersign-waiting', data, transient: true };
      }
      case 'decided':
        return yield* this.#decides(step);
      case 'result':
        if (!this.#denied.has(step.callId)) yield resultChunk(step);
        return;
      case 'waiting':
        // A request whose answer was refused is asked again, with the reason for the refusal.
        for (const request of step.requests) {
          if (request.refused !== undefined || !this.#asked.has(request.answerId)) yield* this.#asks(request);
        }
        return yield* this.#finish('tool-calls');
      case 'ended':
        if (step.status === 'completed') return yield* this.#finish(step.finish ?? 'stop');
        if (step.status === 'stopped') return yield { type: 'abort', reason: step.output };
        yield { type: 'error', errorText: endText(step) };
        return yield* this.#finish('error');
    }
  }

  /** The chunks that ask for an approval. The call itself comes first if the page does not have it yet. */
  *#asks(request: AskedRequest): Generator<UiChunk, void, undefined> {
    const { answerId, callId, digest, deadline } = request;
    this.#asked.add(answerId);
    if (!this.#calls.has(callId)) yield inputChunk(request);
    this.#calls.add(callId);
    yield {
      type: 'tool-approval-request',
      approvalId: answerId,
      toolCallId: callId,
      reason: questionText(request),
      // The front end sends the signature with its answer. The digest in it ties the answer to exactly this call.
      signature: digest,
      approvalDescriptor: { ...(deadline !== null && { deadline }), ...factsOf(request) },
    };
  }

  /** The chunks for a decision that was made elsewhere. Empty if the page does not have the request. */
  *#decides({ answerId, callId, approved, outcome, reason }: ChatStep & { type: 'decided' }): Generator<UiChunk> {
    if (!this.#asked.has(answerId) || !this.#calls.has(callId)) return;
    yield {
      type: 'tool-approval-response',
      approvalId: answerId,
      approved,
      ...(reason !== null && { reason }),
      providerMetadata: { countersign: { outcome } },
    };
    if (approved) return;
    // The result comes only at the end of the turn. Without this chunk, the page would repeat its answer until then.
    this.#denied.add(callId);
    yield { type: 'tool-output-denied', toolCallId: callId };
  }

  /** Begins another step of the UI message, unless the present step belongs to the same message of the model. */
  *#stepOf(messageId: string): Generator<UiChunk, void, undefined> {
    if (messageId === this.#step) return;
    if (this.#hasBegunStep) yield { type: 'finish-step' };
    this.#hasBegunStep = true;
    this.#step = messageId;
    yield { type: 'start-step' };
  }

  *#finish(finishReason: string): Generator<UiChunk, void, undefined> {
    if (this.#hasBegunStep) yield { type: 'finish-step' };
    yield { type: 'finish', finishReason };
  }
}

function inputChunk(call: Pick<AskedRequest, 'callId' | 'toolName' | 'arguments'>): UiChunk {
  const { callId: toolCallId, toolName, arguments: input } = call;
  return { type: 'tool-input-available', toolCallId, toolName, input, dynamic: true };
}

/** A denied call becomes an error, because the AI SDK's own denial needs a request that the front end may lack. */
function resultChunk({ callId: toolCallId, content, isError, denied }: ChatStep & { type: 'result' }): UiChunk {
  if (isError || denied) return { type: 'tool-output-error', toolCallId, errorText: content, dynamic: true };
  return { type: 'tool-output-available', toolCallId, output: jsonOrText(content), dynamic: true };
}

function jsonOrText(content: string): unknown {
  try {
    return parseJson(content);
  } catch {
    return content;
  }
}
