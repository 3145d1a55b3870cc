import { parseJson } from 'countersign/json';
import { problemOf } from '../responses/problem-response.ts';
import type { SeenItems } from './seen-run.ts';
import { type AskedRequest, type ChatStep, endText, questionText } from './chat-step.ts';

/** A chunk of the UI message stream of the AI SDK. */
export type UiChunk = { type: string } & Record<string, unknown>;

/** Translates the steps of a run into chunks of the AI SDK's UI message stream. */
export async function* uiChunks(
  steps: AsyncIterable<ChatStep>,
  options: { messageId: string; seen: SeenItems; canAnswer: boolean; failed: (error: unknown) => void },
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
  readonly #canAnswer: boolean;
  /** The requests that the front end has: an answer to another one is an error there. */
  readonly #asked: Set<string>;
  /** The message of the present turn. */
  #step: string | undefined;

  constructor({ seen, canAnswer }: { seen: SeenItems; canAnswer: boolean }) {
    this.#canAnswer = canAnswer;
    this.#asked = new Set(seen.answers);
  }

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
        return yield { type: 'text-end', id: step.messageId };
      case 'call':
        yield* this.#stepOf(step.messageId);
        return yield {
          type: 'tool-input-available',
          toolCallId: step.callId,
          toolName: step.toolName,
          input: step.arguments,
          dynamic: true,
        };
      case 'asked':
        return yield* this.#asks(step.request);
      case 'decided':
        if (!this.#asked.has(step.answerId)) return;
        return yield {
          type: 'tool-approval-response',
          approvalId: step.answerId,
          approved: step.approved,
          ...(step.reason !== null && { reason: step.reason }),
        };
      case 'result':
        return yield resultChunk(step);
      case 'waiting':
        for (const request of step.requests) {
          if (request.refused !== undefined || !this.#asked.has(request.answerId)) yield* this.#asks(request);
        }
        return yield* this.#finish('tool-calls');
      case 'ended':
        if (step.status === 'completed') return yield* this.#finish('stop');
        yield { type: 'error', errorText: endText(step) };
        return yield* this.#finish('error');
    }
  }

  *#asks(request: AskedRequest): Generator<UiChunk, void, undefined> {
    const { answerId, callId, refused, digest, deadline, details } = request;
    const reason = questionText(request);
    if (!this.#canAnswer) {
      return yield { type: 'data-countersign-waiting', data: { toolCallId: callId, message: reason }, transient: true };
    }
    this.#asked.add(answerId);
    yield {
      type: 'tool-approval-request',
      approvalId: answerId,
      toolCallId: callId,
      reason,
      // It comes back with the answer, so that the answer counts for this very call only.
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

  *#stepOf(messageId: string): Generator<UiChunk, void, undefined> {
    if (messageId === this.#step) return;
    if (this.#step !== undefined) yield { type: 'finish-step' };
    this.#step = messageId;
    yield { type: 'start-step' };
  }

  *#finish(finishReason: string): Generator<UiChunk, void, undefined> {
    if (this.#step !== undefined) yield { type: 'finish-step' };
    yield { type: 'finish', finishReason };
  }
}

function resultChunk({ callId: toolCallId, content, isError, denied }: ChatStep & { type: 'result' }): UiChunk {
  if (denied) return { type: 'tool-output-denied', toolCallId };
  if (isError) return { type: 'tool-output-error', toolCallId, errorText: content, dynamic: true };
  return { type: 'tool-output-available', toolCallId, output: jsonOrText(content), dynamic: true };
}

function jsonOrText(content: string): unknown {
  try {
    return parseJson(content);
  } catch {
    return content;
  }
}
