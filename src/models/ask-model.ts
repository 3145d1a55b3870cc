import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from '@ai-sdk/provider';
import type { Usage } from '../contract.ts';
import { ModelFailure, toModelFailure } from './model-failure.ts';

/** One turn as the model gave it. Arguments are raw text, and only sizes are checked. */
export interface RawTurn {
  text: string;
  calls: RawCall[];
  usage: Usage;
  /** `stop`, `tool-calls`, `length`, `content-filter` or `other`. */
  finishReason: string;
}

export interface RawCall {
  id: string;
  tool: string;
  arguments: string;
}

/** The text of a turn is written to history, where a payload of 2 MB ends a run. */
export const maxTextCharacters = 1_048_576;
/** The most argument text that is read before the answer is rejected. The run's limits decide how much it accepts. */
export const maxArgumentCharacters = 16_777_216;
export const maxCallsOfTurn = 128;

/**
 * Requests one turn, streaming if the model can. Rejects with the provider's error, with a `ModelFailure` for an answer
 * that is cut off or too large, and with `signal.reason` on abort, even if the model ignores the signal.
 */
export async function askModel(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions,
  signal: AbortSignal,
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
    return await (typeof model.doStream === 'function'
      ? stream(model, asked, orAborted)
      : generate(model, asked, orAborted));
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

type OrAborted = <T>(value: PromiseLike<T>) => Promise<T>;

async function stream(model: LanguageModelV4, options: LanguageModelV4CallOptions, orAborted: OrAborted) {
  const result = await orAborted(model.doStream(options));
  const reader = result.stream.getReader();
  const turn = new TurnBuilder();
  try {
    for (;;) {
      const { done, value } = await orAborted(reader.read());
      if (done) return turn.finish();
      turn.add(value);
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

type Part = LanguageModelV4StreamPart | Exclude<LanguageModelV4Content, { type: 'text' }>;

class TurnBuilder {
  readonly #texts: string[] = [];
  readonly #calls: RawCall[] = [];
  #textCharacters = 0;
  #argumentCharacters = 0;
  #finish: { usage: Usage; finishReason: string } | undefined;

  add(part: Part): void {
    // Other parts (reasoning, sources, files) are not kept.
    if (part.type === 'text-delta') {
      this.#textCharacters += part.delta.length;
      if (this.#textCharacters > maxTextCharacters) throw tooLarge(`more than ${maxTextCharacters} characters`);
      this.#texts.push(part.delta);
    } else if (part.type === 'tool-input-delta') {
      // Counted while streaming, so that endless arguments are rejected before they fill the memory.
      this.#countArguments(part.delta.length / 2);
    } else if (part.type === 'tool-call') {
      if (part.providerExecuted === true) throw ranElsewhere(part.toolName);
      this.#countArguments(part.input.length / 2);
      this.#calls.push({ id: part.toolCallId, tool: part.toolName, arguments: part.input });
      if (this.#calls.length > maxCallsOfTurn) throw tooLarge(`more than ${maxCallsOfTurn} tool calls`);
    } else if (part.type === 'tool-result') {
      throw ranElsewhere(part.toolName);
    } else if (part.type === 'error') {
      throw toModelFailure(part.error, Date.now());
    } else if (part.type === 'finish') {
      this.#finish = { usage: toUsage(part.usage), finishReason: part.finishReason.unified };
    }
  }

  finish(): RawTurn {
    const { usage, finishReason } = this.#finish ?? { finishReason: 'interrupted' };
    if (usage === undefined || finishReason === 'interrupted' || finishReason === 'error') {
      throw new ModelFailure('model_unavailable', 'The model broke off before the end of its answer.');
    }
    return { text: this.#texts.join(''), calls: this.#calls, usage, finishReason };
  }

  #countArguments(characters: number): void {
    this.#argumentCharacters += characters;
    if (this.#argumentCharacters <= maxArgumentCharacters) return;
    throw tooLarge(`more than ${maxArgumentCharacters} characters of arguments`);
  }
}

function tooLarge(what: string): ModelFailure {
  return new ModelFailure('model_output_invalid', `The model's answer is too large (${what}).`);
}

/** A tool that the provider runs does not pass the gate (I1). */
function ranElsewhere(tool: string): ModelFailure {
  const name = JSON.stringify(tool.slice(0, 64));
  return new ModelFailure(
    'model_refused',
    `The provider ran a tool itself (${name}), which no policy can gate: switch its own tools off.`,
  );
}

function toUsage(usage: LanguageModelV4Usage): Usage {
  const tokens = (total: number | undefined): number =>
    typeof total === 'number' && Number.isFinite(total) && total > 0 ? Math.round(total) : 0;
  return { inputTokens: tokens(usage.inputTokens.total), outputTokens: tokens(usage.outputTokens.total) };
}
