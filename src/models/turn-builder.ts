import type {
  LanguageModelV4Content,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import type { ModelUsage } from '../core/base/model-answer.ts';
import type { JsonObject } from '../core/base/tool-call.ts';
import { ModelFailure, toModelFailure } from './model-failure.ts';
import type { ProviderPart } from '../contract/provider-turn.ts';

/** One turn of the model. Arguments are raw text, and only sizes are checked. */
export interface RawTurn {
  text: string;
  /** The turn's parts, if the provider returned more than text and calls with them. */
  parts?: ProviderPart[];
  /** At most `maxCallsOfTurn`, and the first call that is one too many. */
  calls: RawCall[];
  usage: ModelUsage;
  /** `stop`, `tool-calls`, `length`, `content-filter` or `other`. */
  finishReason: string;
}

export interface RawCall {
  id: string;
  tool: string;
  arguments: string;
}

/**
 * History stores the text of a turn, and the parts that the provider requires back, and a payload of 2 MB ends a run.
 */
const maxTextCharacters = 1_048_576;
/** Each part counts as this many characters more than its text has: endless empty parts end the turn, too. */
const partCharacters = 32;
/**
 * The most argument text that is read before the answer is rejected. The run's limits determine how much it accepts.
 */
const maxArgumentCharacters = 16_777_216;
/** Later calls of a turn are dropped, so that endless calls do not fill the memory; the model is notified. */
export const maxCallsOfTurn = 128;

type Part = LanguageModelV4StreamPart | Exclude<LanguageModelV4Content, { type: 'text' | 'reasoning' }>;
type Metadata = SharedV4ProviderMetadata | undefined;
type Step = 'start' | 'delta' | 'end';

/** A part of text whose end is still unknown. */
interface Written {
  type: 'text' | 'reasoning';
  texts: string[];
  metadata?: JsonObject;
}

/** Collects the parts of an answer. Throws a `ModelFailure` for a part that ends the turn, or makes it too large. */
export class TurnBuilder {
  readonly #parts: (Written | Exclude<ProviderPart, { type: 'text' | 'reasoning' }>)[] = [];
  /** The parts to which the provider may still add, by kind and the provider's id. */
  readonly #open = new Map<string, Written>();
  readonly #calls: RawCall[] = [];
  #textCharacters = 0;
  #argumentCharacters = 0;
  #finish: { usage: ModelUsage; finishReason: string } | undefined;

  /**
   * Adds one part of a model's answer. Throws if the answer becomes too large, or if the provider ran a call itself.
   */
  add(part: Part): void {
    switch (part.type) {
      case 'text-start':
      case 'text-delta':
      case 'text-end':
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        this.#write(part);
        break;
      case 'tool-input-delta':
        // Counted while streaming, so that endless arguments are rejected before they fill the memory.
        this.#countArguments(part.delta.length / 2);
        break;
      case 'tool-call':
        if (part.providerExecuted === true) throw ranElsewhere(part.toolName);
        this.#countArguments(part.input.length / 2);
        if (this.#calls.length > maxCallsOfTurn) return;
        this.#calls.push({ id: part.toolCallId, tool: part.toolName, arguments: part.input });
        this.#parts.push({ type: 'call', ...this.#kept(part.providerMetadata) });
        break;
      case 'custom':
        // It names the sender of the answer, and no provider requires it back.
        if (part.kind.endsWith('.message_start')) break;
        this.#countText(partCharacters + part.kind.length);
        this.#parts.push({ type: 'custom', kind: part.kind, ...this.#kept(part.providerMetadata) });
        break;
      case 'tool-result':
        throw ranElsewhere(part.toolName);
      case 'error':
        throw toModelFailure(part.error, Date.now());
      case 'finish':
        this.#finish = { usage: toUsage(part.usage), finishReason: part.finishReason.unified };
        break;
      // Not stored.
      case 'file':
      case 'ping':
      case 'raw':
      case 'reasoning-file':
      case 'response-metadata':
      case 'source':
      case 'stream-start':
      case 'tool-approval-request':
      case 'tool-input-end':
      case 'tool-input-start':
    }
  }

  /** Later metadata replaces earlier: some providers sign a part at its end. */
  #write(part: Extract<LanguageModelV4StreamPart, { type: `${Written['type']}-${Step}` }>): void {
    const [type, step] = part.type.split('-') as [Written['type'], Step];
    const key = `${type} ${part.id}`;
    let written = step === 'start' ? undefined : this.#open.get(key);
    if (written === undefined) {
      this.#countText(partCharacters);
      written = { type, texts: [] };
      this.#parts.push(written);
      this.#open.set(key, written);
    }
    Object.assign(written, this.#kept(part.providerMetadata));
    if ('delta' in part) {
      this.#countText(part.delta.length);
      written.texts.push(part.delta);
    }
    if (step === 'end') this.#open.delete(key);
  }

  finish(): RawTurn {
    const { usage, finishReason } = this.#finish ?? { finishReason: 'interrupted' };
    if (usage === undefined || finishReason === 'interrupted' || finishReason === 'error') {
      throw new ModelFailure('model_unavailable', 'The model broke off before the end of its answer.');
    }
    const text = this.#parts.map((part) => (part.type === 'text' ? part.texts.join('') : '')).join('');
    const parts = this.#parts.map(providerPart);
    const isPlain = parts.every(({ type, metadata }) => (type === 'text' || type === 'call') && metadata === undefined);
    return { text, ...(!isPlain && { parts }), calls: this.#calls, usage, finishReason };
  }

  #kept(metadata: Metadata): { metadata?: JsonObject } {
    if (metadata === undefined || Object.keys(metadata).length === 0) return {};
    this.#countText(JSON.stringify(metadata).length);
    return { metadata: metadata as JsonObject };
  }

  #countText(characters: number): void {
    this.#textCharacters += characters;
    if (this.#textCharacters > maxTextCharacters) throw tooLarge(`more than ${maxTextCharacters} characters`);
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

function providerPart(part: Written | ProviderPart): ProviderPart {
  if (!('texts' in part)) return part;
  const { type, texts, ...rest } = part;
  const text = texts.join('');
  return type === 'text' ? { type, length: text.length, ...rest } : { type, text, ...rest };
}

/** A tool that the provider runs does not pass the gate (I1). */
function ranElsewhere(tool: string): ModelFailure {
  const name = JSON.stringify(tool.slice(0, 64));
  return new ModelFailure(
    'model_refused',
    `The provider ran a tool itself (${name}), which no policy can gate: switch its own tools off.`,
  );
}

function toUsage(usage: LanguageModelV4Usage): ModelUsage {
  const tokens = (total: number | undefined): number =>
    typeof total === 'number' && Number.isFinite(total) && total > 0 ? Math.round(total) : 0;
  const cachedInputTokens = tokens(usage.inputTokens.cacheRead);
  return {
    inputTokens: tokens(usage.inputTokens.total),
    outputTokens: tokens(usage.outputTokens.total),
    ...(cachedInputTokens > 0 && { cachedInputTokens }),
  };
}
