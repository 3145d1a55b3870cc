import type {
  JSONSchema7,
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  LanguageModelV4Content,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import { UnsupportedFunctionalityError, InvalidResponseDataError } from '@ai-sdk/provider';
import type { ModelCallOptions } from '../agents/model-call.ts';
import { refusesRequest, ModelFailure, toModelFailure } from './model-failure.ts';
import type { ModelUsage } from '../core/base/model-answer.ts';
import type { JsonObject } from '../core/base/tool-call.ts';
import type { ProviderPart } from '../contract/provider-turn.ts';

interface AskOptions {
  /** How the answer is streamed. Default `auto`. */
  streaming?: ModelCallOptions['stream'];
  /** A function that is called with each piece of text that is streamed. */
  onText?: (text: string) => void;
}

/**
 * Requests one turn of the model. Rejects with the provider's error; with a `ModelFailure` for an answer that is cut
 * off, too large or not a stream; and with `signal.reason` on abort, even if the model ignores the signal.
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

/** Awaits a value, and rejects once the call of the model is aborted. */
type OrAborted = <T>(value: PromiseLike<T>) => Promise<T>;

/** Schemas that a server has refused, so they are not sent again. A schema is the key, because it has only one model. */
const refusedSchemas = new WeakSet<JSONSchema7>();

/** Asks with the schema of the answer. If the server refuses the schema, asks without it, and remembers a success. */
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
    // The schema may not be the cause: then the second request fails, too.
    if (!refusesRequest(error) && !UnsupportedFunctionalityError.isInstance(error)) throw error;
  }
  const turn = await ask(model, rest, orAborted, options);
  refusedSchemas.add(schema);
  return turn;
}

/** Models whose server answered only without streaming. Later calls of them do not stream. */
const withoutStreaming = new WeakSet<LanguageModelV4>();

/** Asks with streaming, unless that is `off`; if it is `auto`, only models that can stream. Remembers which cannot. */
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

/** Asks with streaming. `onText` gets each piece of text. Throws `NotStreamed` if the model turns out not to stream. */
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

/** Asks without streaming, and gives the answer to `TurnBuilder` as the parts of a stream. */
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

/** The streamed answer has no event. Most likely it is plain JSON, which the provider's event parser skips. */
class NotStreamed extends ModelFailure {
  constructor() {
    super('model_output_invalid', "The model's answer holds no event of a stream: set modelCall.stream to 'off'.");
  }
}

/**
 * True if the first part shows an answer without any event. Some providers report an error; others report a normal end
 * for an unknown reason, which would complete the run with an empty text.
 */
function isUnstreamed(part: LanguageModelV4StreamPart | undefined): boolean {
  if (part === undefined) return true;
  if (part.type === 'error') return InvalidResponseDataError.isInstance(part.error);
  return part.type === 'finish' && part.finishReason.unified === 'other';
}

/** True if the server refused the request with a text about streaming. A wrong guess costs only one more request. */
export function refusesStreaming(error: unknown): boolean {
  return refusesRequest(error) && /\bstream/i.test(error.responseBody ?? '');
}

/** One turn of the model. The arguments of calls are unparsed text; only sizes have been checked. */
export interface RawTurn {
  text: string;
  /** The turn's parts. Absent if the provider returned nothing beside text and calls. */
  parts?: ProviderPart[];
  /** The first `maxCallsOfTurn` calls and, if the model made more, one that `check-calls.ts` answers with an error. */
  calls: RawCall[];
  usage: ModelUsage;
  /** The reason for the end: `stop`, `tool-calls`, `length`, `content-filter` or `other`. */
  finishReason: string;
}

export interface RawCall {
  id: string;
  tool: string;
  arguments: string;
}

/** The most characters of one turn. History stores them, and a payload over 2 MB would end the run. */
const maxTextCharacters = 1_048_576;
/** Each part counts as this many characters in addition to its text, so that endless empty parts end the turn, too. */
const partCharacters = 32;
/** The most characters of all arguments of one answer. The run may accept fewer. */
const maxArgumentCharacters = 16_777_216;
/** The most calls of one turn. Later ones are dropped to save memory, and the model is notified. */
export const maxCallsOfTurn = 128;

type Part = LanguageModelV4StreamPart | Exclude<LanguageModelV4Content, { type: 'text' | 'reasoning' }>;
type Metadata = SharedV4ProviderMetadata | undefined;
type Step = 'start' | 'delta' | 'end';

interface Written {
  type: 'text' | 'reasoning';
  texts: string[];
  metadata?: JsonObject;
}

/** Collects the parts of an answer into a turn. */
export class TurnBuilder {
  readonly #parts: (Written | Exclude<ProviderPart, { type: 'text' | 'reasoning' }>)[] = [];
  /** The parts to which the provider may still add, by their kind and by the provider's id. */
  readonly #open = new Map<string, Written>();
  readonly #calls: RawCall[] = [];
  #textCharacters = 0;
  #argumentCharacters = 0;
  #finish: { usage: ModelUsage; finishReason: string } | undefined;

  /** Adds one part. Throws a `ModelFailure` for an error, a call that the provider ran itself, or too much text. */
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
        // Arguments count while they stream, so that an endless call is refused before it fills the memory. The whole
        // call then repeats them, so each of the two counts half.
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
        // This part only names the sender of the answer, and no provider needs it back.
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
      // These parts are not stored.
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

  /** Adds to a text or a reasoning. Later metadata replaces earlier: some providers sign a part at its end. */
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

  /** Returns the turn; throws if the answer broke off. Omits `parts` that say no more than `text` and `calls`. */
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

/** The failure for a call that the provider ran itself: such a call passes no gate (I1). */
function ranElsewhere(tool: string): ModelFailure {
  const name = JSON.stringify(tool.slice(0, 64));
  return new ModelFailure(
    'model_refused',
    `The provider ran a tool itself (${name}), which no policy can gate: switch its own tools off.`,
  );
}

/** The provider's counts of tokens as whole numbers: 0 for a missing one, but cached tokens only if there are some. */
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
