import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { ModelCallOptions } from '../agents/model-call.ts';
import { isUnstreamed, NotStreamed, refusesStreaming } from './not-streamed.ts';
import { type RawTurn, TurnBuilder } from './turn-builder.ts';

interface AskOptions {
  /** Default `auto`. */
  streaming?: ModelCallOptions['stream'];
  /** Called with each piece of text that is streamed. */
  onText?: (text: string) => void;
}

/**
 * Requests one turn. Rejects with the provider's error, with a `ModelFailure` for an
 * answer that is cut off, too large, or no stream although one was wanted, and with `signal.reason` on abort, even if
 * the model ignores the signal.
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
    return await ask(model, asked, orAborted, { streaming, onText });
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

type OrAborted = <T>(value: PromiseLike<T>) => Promise<T>;

/** Models whose server has answered only without streaming: they are not asked for a stream again. */
const withoutStreaming = new WeakSet<LanguageModelV4>();

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
    // Frees the connection of a stream that is left early; does nothing for a finished one.
    reader.cancel().catch(() => {});
  }
}

async function generate(model: LanguageModelV4, options: LanguageModelV4CallOptions, orAborted: OrAborted) {
  const result = await orAborted(model.doGenerate(options));
  const turn = new TurnBuilder();
  for (const part of result.content) {
    turn.add(part.type === 'text' ? { type: 'text-delta', id: '', delta: part.text } : part);
  }
  turn.add({ type: 'finish', usage: result.usage, finishReason: result.finishReason });
  return turn.finish();
}
