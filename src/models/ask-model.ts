import {
  type JSONSchema7,
  type LanguageModelV4,
  type LanguageModelV4CallOptions,
  UnsupportedFunctionalityError,
  InvalidResponseDataError,
  type LanguageModelV4StreamPart,
} from '@ai-sdk/provider';
import type { ModelCallOptions } from '../agents/model-call.ts';
import { refusesRequest, ModelFailure } from './model-failure.ts';
import { type RawTurn, TurnBuilder } from './turn-builder.ts';

interface AskOptions {
  /** Default `auto`. */
  streaming?: ModelCallOptions['stream'];
  /** Called with each piece of text that is streamed. */
  onText?: (text: string) => void;
}

/**
 * Requests one turn. Rejects with the provider's error, with a `ModelFailure` for an answer that is cut off, too large,
 * or not a requested stream, and with `signal.reason` on abort, even if the model ignores the signal. If a server
 * refuses the schema of a `responseFormat`, the call is repeated without one.
 */
export async function askModel(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
  signal: AbortSignal,
  { streaming = 'auto', onText = () => {} }: AskOptions = {},
): Promise<RawTurn> {
  let abort = (): void => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    abort = () => reject(signal.reason as Error);
  });
  // Without this handler, an abort after the last race would be an unhandled rejection.
  aborted.catch(() => {});
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    const asked = { ...options, abortSignal: signal };
    const orAborted = <T>(value: PromiseLike<T>): Promise<T> => Promise.race([value, aborted]);
    return await askInFormat(model, asked, orAborted, { streaming, onText });
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

type OrAborted = <T>(value: PromiseLike<T>) => Promise<T>;

/** Schemas that a server has refused: they are not sent to it again. Each belongs to one agent, which has one model. */
const refusedSchemas = new WeakSet<JSONSchema7>();

/**
 * Asks for an answer in a format, and again without it if the model refuses the format. That is remembered for the
 * schema once it has worked.
 */
async function askInFormat(
  model: LanguageModelV4,
  { responseFormat, ...rest }: LanguageModelV4CallOptions,
  orAborted: OrAborted,
  options: Required<AskOptions>,
): Promise<RawTurn> {
  const schema = responseFormat?.type === 'json' ? responseFormat.schema : undefined;
  if (schema === undefined || refusedSchemas.has(schema)) return ask(model, rest, orAborted, options);
  try {
    return await ask(model, { ...rest, responseFormat }, orAborted, options);
  } catch (error) {
    // A wrong guess costs one request.
    if (!refusesRequest(error) && !UnsupportedFunctionalityError.isInstance(error)) throw error;
  }
  const turn = await ask(model, rest, orAborted, options);
  refusedSchemas.add(schema);
  return turn;
}

/** Models whose server has answered only without streaming: later calls do not stream. */
const withoutStreaming = new WeakSet<LanguageModelV4>();

/** Asks with streaming, or without it if `streaming` is off or the model cannot stream, which is remembered. */
async function ask(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
  orAborted: OrAborted,
  { streaming, onText }: Required<AskOptions>,
): Promise<RawTurn> {
  if (streaming === 'on') return stream(model, options, orAborted, onText);
  if (streaming === 'off' || typeof model.doStream !== 'function' || withoutStreaming.has(model)) {
    return generate(model, options, orAborted);
  }
  try {
    return await stream(model, options, orAborted, onText);
  } catch (error) {
    const isFinal = !(error instanceof NotStreamed || refusesStreaming(error));
    if (isFinal || typeof model.doGenerate !== 'function') throw error;
  }
  const turn = await generate(model, options, orAborted);
  withoutStreaming.add(model);
  return turn;
}

/**
 * Reads a streamed answer to its end; `onText` gets each piece. Throws `NotStreamed` if the model turns out not to
 * stream.
 */
async function stream(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
  orAborted: OrAborted,
  onText: (text: string) => void,
): Promise<RawTurn> {
  const result = await orAborted(model.doStream(options));
  const reader = result.stream.getReader();
  const turn = new TurnBuilder();
  let hasBegun = false;
  try {
    for (;;) {
      const { done, value } = await orAborted(reader.read());
      if (!hasBegun && isUnstreamed(value)) throw new NotStreamed();
      if (done) return turn.finish();
      turn.add(value);
      if (value.type === 'text-delta') onText(value.delta);
      hasBegun ||= value.type !== 'stream-start';
    }
  } finally {
    // Frees the connection of an unfinished stream; does nothing for a finished one.
    reader.cancel().catch(() => {});
  }
}

/** Asks without streaming. The turn is built from the same parts as that of a stream. */
async function generate(model: LanguageModelV4, options: LanguageModelV4CallOptions, orAborted: OrAborted) {
  const result = await orAborted(model.doGenerate(options));
  const turn = new TurnBuilder();
  for (const part of result.content) {
    if (part.type !== 'text' && part.type !== 'reasoning') turn.add(part);
    else {
      const { type, text: delta, providerMetadata } = part;
      turn.add({ type: `${type}-start`, id: '', providerMetadata });
      turn.add({ type: `${type}-delta`, id: '', delta });
    }
  }
  turn.add({ type: 'finish', usage: result.usage, finishReason: result.finishReason });
  return turn.finish();
}

// The signs of a server that cannot stream when a stream is requested.

/** The answer contained no event: most likely it was plain JSON, which the provider's event parser skips. */
export class NotStreamed extends ModelFailure {
  constructor() {
    super('model_output_invalid', "The model's answer holds no event of a stream: set modelCall.stream to 'off'.");
  }
}

/**
 * True for the first part of an answer without any event, after `stream-start`. Some providers report such an answer as
 * an error, others as one that finished for an unknown reason, which would complete the run with an empty text.
 */
export function isUnstreamed(part: LanguageModelV4StreamPart | undefined): boolean {
  if (part === undefined) return true;
  if (part.type === 'error') return InvalidResponseDataError.isInstance(part.error);
  return part.type === 'finish' && part.finishReason.unified === 'other';
}

/** True if the server refused the request and named streaming; a wrong guess costs one request. */
export function refusesStreaming(error: unknown): boolean {
  return refusesRequest(error) && /\bstream/i.test(error.responseBody ?? '');
}
