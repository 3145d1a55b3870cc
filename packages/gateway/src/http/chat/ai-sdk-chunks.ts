import { parseJson } from 'countersign/json';
import { problemOf } from '../responses/problem-response.ts';
import type { SeenItems } from './chat-thread.ts';
import { type AskedRequest, type ChatStep, endText, questionText, waitsText } from './chat-step.ts';

/** A chunk of the UI message stream of the AI SDK. */
export type UiChunk = { type: string } & Record<string, unknown>;

interface ChunkOptions {
  messageId: string;
  seen: SeenItems;
  /** The front end has the beginning of the message. */
  continues: boolean;
  failed: (error: unknown) => void;
}

/** Translates the steps of a run into chunks of the AI SDK's UI message stream. */
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

class ChunkTranslator {
  /** The requests that the front end has. */
  readonly #asked: Set<string>;
  /** The calls of the message in progress: a chunk about another one is an error in the front end. */
  readonly #calls: Set<string>;
  /** The calls that the front end knows as denied. */
  readonly #denied = new Set<string>();
  /** The message of the present turn. */
  #step: string | undefined;
  #hasBegunStep = false;

  constructor({ seen, continues }: Omit<ChunkOptions, 'failed' | 'messageId'>) {
    this.#asked = new Set(seen.answers);
    this.#calls = new Set([...seen.calls].filter((id) => seen.elsewhere?.has(id) !== true));
    // The calls of a turn stay in one step: the AI SDK checks only the last step for open answers.
    const last = [...this.#calls].at(-1);
    if (continues && last !== undefined) this.#step = last.slice(0, last.lastIndexOf('.'));
  }

  /** The chunks of the AI SDK's stream for a step. */
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
        // It returns with the next request, so that the text is sent once.
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

  /** The chunks that ask for an approval, after the call itself if the page does not have it yet. */
  *#asks(request: AskedRequest): Generator<UiChunk, void, undefined> {
    const { answerId, callId, refused, digest, deadline, details } = request;
    this.#asked.add(answerId);
    if (!this.#calls.has(callId)) yield inputChunk(request);
    this.#calls.add(callId);
    yield {
      type: 'tool-approval-request',
      approvalId: answerId,
      toolCallId: callId,
      reason: questionText(request),
      // It returns with the answer, so that the answer counts for this very call only.
      signature: digest,
      approvalDescriptor: {
        ...(deadline !== null && { deadline }),
        ...(details !== undefined && {
          severity: details.assessment.severity,
          rule: details.rule,
          shown: details.shown,
        }),
        ...(refused !== undefined && { refused }),
      },
    };
  }

  /** The chunks for a decision that was made elsewhere; none if the page does not know the request. */
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
    // Sent at once: the result follows when all calls of the turn have ended, and until then the page would resend the
    // answer.
    this.#denied.add(callId);
    yield { type: 'tool-output-denied', toolCallId: callId };
  }

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

/** A denial in the AI SDK's terms needs the approval request, which this front end may lack. */
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
