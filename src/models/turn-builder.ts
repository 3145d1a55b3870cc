import type { LanguageModelV4Content, LanguageModelV4StreamPart, LanguageModelV4Usage } from '@ai-sdk/provider';
import type { Usage } from '../contract.ts';
import { ModelFailure, toModelFailure } from './model-failure.ts';

/** One turn as the model gave it. Arguments are raw text, and only sizes are checked. */
export interface RawTurn {
  text: string;
  /** At most `maxCallsOfTurn`, and the first call that is one too many. */
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
const maxTextCharacters = 1_048_576;
/** The most argument text that is read before the answer is rejected. The run's limits decide how much it accepts. */
const maxArgumentCharacters = 16_777_216;
/** Later calls of a turn are dropped, so that endless calls do not fill the memory; the model is told. */
export const maxCallsOfTurn = 128;

type Part = LanguageModelV4StreamPart | Exclude<LanguageModelV4Content, { type: 'text' }>;

/** Collects the parts of an answer. Throws a `ModelFailure` for a part that ends the turn, or makes it too large. */
export class TurnBuilder {
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
      if (this.#calls.length > maxCallsOfTurn) return;
      this.#calls.push({ id: part.toolCallId, tool: part.toolName, arguments: part.input });
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
