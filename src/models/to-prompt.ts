import {
  type LanguageModelV4FilePart,
  type LanguageModelV4Message,
  type LanguageModelV4Prompt,
  type SharedV4ProviderOptions,
  type LanguageModelV4,
  UnsupportedFunctionalityError,
} from '@ai-sdk/provider';
import type { Message } from '../contract.ts';
import type { Json, JsonObject } from '../core/base/tool-call.ts';
import { dataOf, filesText, shownFile, type UserFile } from '../core/base/user-files.ts';
import type { KeptMessage, ProviderPart } from '../contract/provider-turn.ts';
import type { Agent } from '../agents/definitions.ts';
import { type ModelFailure, refusesRequest } from './model-failure.ts';

type Assistant = Extract<KeptMessage, { role: 'assistant' }>;
type SaidByUser = Extract<KeptMessage, { role: 'user' }>;
type UserContent = Extract<LanguageModelV4Message, { role: 'user' }>['content'];
/** Why the model does not receive a file, as a clause; undefined: it does. */
type WhyNot = (file: UserFile) => string | undefined;
type AssistantContent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'];

/**
 * Converts a run's transcript for a provider. A turn of `provider` is returned with all of its parts; others only with
 * text and calls. A file for which `whyNot` has a reason is replaced by a text with that reason.
 *
 * Providers refuse blank texts, and call ids that repeat or that they find malformed: so each call gets a new id,
 * unique in the transcript, of nine letters and digits (as Mistral requires).
 */
export function toPrompt(
  instructions: string,
  messages: readonly KeptMessage[],
  provider: string,
  whyNot: WhyNot = () => undefined,
): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Prompt = instructions === '' ? [] : [{ role: 'system', content: instructions }];
  const ids = new CallIds();
  const converted = messages.flatMap((message, index) => [
    toProviderMessage(message, ids.of(message, index), provider, whyNot),
    ...correction(message),
  ]);
  for (const next of converted) {
    const last = prompt.at(-1);
    // A session continues after an answer without a text.
    if (next.content.length === 0) continue;
    if (next.role === 'tool' && last?.role === 'tool') last.content.push(...next.content);
    else if (next.role === 'user' && last?.role === 'tool') prompt.push(...beforeUser(provider), next);
    else prompt.push(next);
  }
  return prompt;
}

type Converted = Exclude<LanguageModelV4Message, { role: 'system' }>;

/** The text for the model after a final answer of the wrong shape. Providers accept it only as the user's. */
function correction(message: KeptMessage): Converted[] {
  if (message.role !== 'assistant' || message.outputProblem === undefined) return [];
  return [{ role: 'user', content: textPart(`Error: ${message.outputProblem}; write the whole answer again`) }];
}

/** Only Mistral refuses a user message right after a tool's result. */
function beforeUser(provider: string): LanguageModelV4Message[] {
  return provider.startsWith('mistral') ? [{ role: 'assistant', content: [{ type: 'text', text: '…' }] }] : [];
}

/** `ids`: the ids of the message's calls, or of its answered call. */
function toProviderMessage(message: KeptMessage, ids: readonly string[], provider: string, whyNot: WhyNot): Converted {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: message.refused === true ? [] : userContent(message, whyNot) };
    case 'assistant':
      return { role: 'assistant', content: assistantContent(message, ids, provider) };
    case 'tool': {
      const { toolName, content, isError } = message;
      const value = content.trim() === '' ? 'The tool returned nothing.' : content;
      const output = { type: isError === true ? ('error-text' as const) : ('text' as const), value };
      return {
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId: ids[0]!, toolName: sendableName(toolName), output }],
      };
    }
  }
}

function userContent({ content, files = [] }: SaidByUser, whyNot: WhyNot): UserContent {
  let from = 0;
  const parts = files.flatMap((file): UserContent => {
    const before = textPart(content.slice(from, (from = file.at ?? 0)));
    const reason = whyNot(file);
    if (reason === undefined) return [...before, filePart(file)];
    return [...before, ...textPart(`[Left out: ${filesText([shownFile(file)])}: ${reason}]`)];
  });
  return [...parts, ...textPart(content.slice(from))];
}

function filePart(file: UserFile): LanguageModelV4FilePart {
  const { mediaType, url, filename } = file;
  const data = dataOf(file);
  return {
    type: 'file',
    mediaType,
    ...(filename !== undefined && { filename }),
    data: data === undefined ? { type: 'url', url: new URL(url) } : { type: 'data', data },
  };
}

function textPart(text: string, metadata?: JsonObject): { type: 'text'; text: string }[] {
  return text.trim() === '' && metadata === undefined ? [] : [{ type: 'text', text, ...options(metadata) }];
}

function options(metadata: JsonObject | undefined): { providerOptions?: SharedV4ProviderOptions } {
  return metadata === undefined ? {} : { providerOptions: metadata as SharedV4ProviderOptions };
}

/** An earlier answer for a provider: the one that gave it gets its parts; another one gets text and calls. */
function assistantContent(message: Assistant, ids: readonly string[], provider: string): AssistantContent {
  const { content, toolCalls = [], providerTurn } = message;
  // Reasoning without a result is not a turn for any provider.
  if (content.trim() === '' && toolCalls.length === 0) return [];
  const plain: ProviderPart[] = [
    { type: 'text', length: content.length },
    ...toolCalls.map(() => ({ type: 'call' as const })),
  ];
  const parts = providerTurn?.provider === provider ? providerTurn.parts : plain;
  let from = 0;
  let calls = 0;
  return parts.flatMap((part): AssistantContent => {
    switch (part.type) {
      case 'text':
        return textPart(content.slice(from, (from += part.length)), part.metadata);
      case 'reasoning':
        return [{ type: 'reasoning', text: part.text, ...options(part.metadata) }];
      case 'custom':
        return [{ type: 'custom', kind: part.kind, ...options(part.metadata) }];
      case 'call': {
        const index = calls++;
        const { name, arguments: args } = toolCalls[index]!;
        const call = { toolCallId: ids[index]!, toolName: sendableName(name), input: sendableArguments(args) };
        return [{ type: 'tool-call', ...call, ...options(part.metadata) }];
      }
    }
  });
}

/** The ids of a message's calls, or of its answered call, for a provider. Call it for each message in turn. */
class CallIds {
  /** The ids of calls without an answer so far, by the id in the transcript: an answer belongs to the last turn. */
  #open = new Map<string, string[]>();

  of(message: Message, place: number): string[] {
    switch (message.role) {
      case 'user':
        return [];
      case 'assistant': {
        const calls = message.toolCalls ?? [];
        const ids = calls.map((_call, index) => ownId(place, index));
        this.#open = new Map();
        for (const [index, { id }] of calls.entries()) {
          const open = this.#open.get(id);
          if (open === undefined) this.#open.set(id, [ids[index]!]);
          else open.push(ids[index]!);
        }
        // The first is popped first, from the end.
        for (const open of this.#open.values()) open.reverse();
        return ids;
      }
      case 'tool':
        return [this.#open.get(message.toolCallId)?.pop() ?? message.toolCallId];
    }
  }
}

/** By the positions of message and call, so that a repeated transcript has the same ids. */
function ownId(message: number, call: number): string {
  const [first, second] = [message, call].map((place) => place.toString(36).padStart(4, '0'));
  return `c${first}${second}`;
}

// A model may call a tool by an invalid name, or with arguments that are not an object. Providers refuse a transcript
// that repeats such a call unchanged, and the run could never take another turn.

function sendableName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || '_';
}

function sendableArguments(value: Json): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : { unreadable: value };
}

/** Instructions with the format of the final answer. In words, because every provider understands these. */
export function outputInstructions(instructions: string, schema: JsonObject): string {
  const format = `Write your final answer as one JSON object and nothing else: no text around it, no code fence. It must be valid by this JSON Schema:\n${JSON.stringify(schema)}`;
  return instructions === '' ? format : `${instructions}\n\n${format}`;
}

type Addresses = Awaited<LanguageModelV4['supportedUrls']>;

/**
 * Why a call leaves out a file, as a clause; undefined: it does not. Another agent may have accepted it before a
 * handover. Addresses that the provider does not fetch are left out: no other part fetches them.
 */
export async function leftOutFiles({
  name,
  files,
  model,
}: Pick<Agent, 'name' | 'files' | 'model'>): Promise<(file: UserFile) => string | undefined> {
  // A custom model may lack it.
  const addresses = ((await model.supportedUrls) as Addresses | undefined) ?? {};
  return (file) => {
    const { mediaType, url } = file;
    if (files?.types.includes(mediaType) !== true) return `agent '${name}' takes no ${mediaType}`;
    if (dataOf(file) !== undefined || isRead(mediaType, url, addresses)) return undefined;
    return `the model reads no ${mediaType} from this address`;
  };
}

function isRead(mediaType: string, url: string, addresses: Addresses): boolean {
  const [kind] = mediaType.split('/');
  const patterns = ['*', '*/*', `${kind}/*`, mediaType].flatMap((key) => addresses[key] ?? []);
  return patterns.some((pattern) => new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, '')).test(url));
}

/** Why a request with new files failed, if the files may be the reason: one sentence. Undefined: they are not. */
export function refusedFiles(
  error: unknown,
  { kind, message }: Pick<ModelFailure, 'kind' | 'message'>,
  files: readonly UserFile[],
): string | undefined {
  if (files.length === 0 || kind !== 'model_refused') return undefined;
  const told = `The input with ${filesText(files.map(shownFile))} was refused`;
  if (UnsupportedFunctionalityError.isInstance(error)) return `${told}: the model takes no such file.`;
  return refusesRequest(error) ? `${told}, which may be more than the model takes: ${message}` : undefined;
}
