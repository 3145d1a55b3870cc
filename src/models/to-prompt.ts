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
/** Returns a clause that says why the model does not receive a file; undefined if it does. */
type WhyNot = (file: UserFile) => string | undefined;
type AssistantContent = Extract<LanguageModelV4Message, { role: 'assistant' }>['content'];

/**
 * Converts a run's transcript for a provider. A turn that `provider` itself returned keeps all its parts; any other
 * turn keeps only text and calls. If `whyNot` returns a reason for a file, a text with the reason replaces the file.
 *
 * Providers refuse blank texts, and repeated or malformed call ids. So each call gets a new id, unique in the
 * transcript, of nine letters and digits (as Mistral requires).
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
    // Left out is what has no content: an empty answer, after which a session may continue, or a refused input.
    if (next.content.length === 0) continue;
    if (next.role === 'tool' && last?.role === 'tool') last.content.push(...next.content);
    else if (next.role === 'user' && last?.role === 'tool') prompt.push(...beforeUser(provider), next);
    else prompt.push(next);
  }
  return prompt;
}

type Converted = Exclude<LanguageModelV4Message, { role: 'system' }>;

/** The request to repeat a final answer of the wrong shape. Providers accept it only as a message of the user. */
function correction(message: KeptMessage): Converted[] {
  if (message.role !== 'assistant' || message.outputProblem === undefined) return [];
  return [{ role: 'user', content: textPart(`Error: ${message.outputProblem}; write the whole answer again`) }];
}

/** Mistral alone refuses a user message right after a tool's result: an assistant message goes between them. */
function beforeUser(provider: string): LanguageModelV4Message[] {
  return provider.startsWith('mistral') ? [{ role: 'assistant', content: [{ type: 'text', text: '…' }] }] : [];
}

/** Converts a message. `ids`: the ids of an assistant's calls, or the one id of the call that a tool answers. */
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

/** Converts a message of the user. Each file is at its place in the text, or the reason why it is left out. */
function userContent({ content, files = [] }: SaidByUser, whyNot: WhyNot): UserContent {
  let from = 0;
  const parts = files.flatMap((file): UserContent => {
    const place = file.at ?? 0;
    const before = textPart(content.slice(from, place));
    from = place;
    const reason = whyNot(file);
    if (reason === undefined) return [...before, filePart(file)];
    return [...before, ...textPart(`[Left out: ${filesText([shownFile(file)])}: ${reason}]`)];
  });
  return [...parts, ...textPart(content.slice(from))];
}

/** The file for the provider: its bytes if the user sent them, else its address. */
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

/** Converts an earlier answer of the model: with all its parts if `provider` gave it, else with only text and calls. */
function assistantContent(message: Assistant, ids: readonly string[], provider: string): AssistantContent {
  const { content, toolCalls = [], providerTurn } = message;
  // No provider accepts a turn that has only reasoning.
  if (content.trim() === '' && toolCalls.length === 0) return [];
  const plain: ProviderPart[] = [
    { type: 'text', length: content.length },
    ...toolCalls.map(() => ({ type: 'call' as const })),
  ];
  const parts = providerTurn?.provider === provider ? providerTurn.parts : plain;
  // The parts take the text and the calls in order.
  let textPlace = 0;
  let callPlace = 0;
  return parts.flatMap((part): AssistantContent => {
    switch (part.type) {
      case 'text':
        textPlace += part.length;
        return textPart(content.slice(textPlace - part.length, textPlace), part.metadata);
      case 'reasoning':
        return [{ type: 'reasoning', text: part.text, ...options(part.metadata) }];
      case 'custom':
        return [{ type: 'custom', kind: part.kind, ...options(part.metadata) }];
      case 'call': {
        const index = callPlace;
        callPlace += 1;
        const { name, arguments: args } = toolCalls[index]!;
        const call = { toolCallId: ids[index]!, toolName: sendableName(name), input: sendableArguments(args) };
        return [{ type: 'tool-call', ...call, ...options(part.metadata) }];
      }
    }
  });
}

/** Assigns the ids of calls for a provider. Call `of` for each message in the order of the transcript. */
class CallIds {
  /** The new ids of the last turn's calls that have no answer yet, by the call's id in the transcript. */
  #open = new Map<string, string[]>();

  /** Returns the new ids of an answer's calls; for a tool's message that of its call, or the old id without a call. */
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
        // Answers take the ids from the end, by `pop`, so the id of the first call must be last.
        for (const open of this.#open.values()) open.reverse();
        return ids;
      }
      case 'tool':
        return [this.#open.get(message.toolCallId)?.pop() ?? message.toolCallId];
    }
  }
}

/** The id depends only on the positions of message and call, so the same transcript always has the same ids. */
function ownId(message: number, call: number): string {
  const [first, second] = [message, call].map((place) => place.toString(36).padStart(4, '0'));
  return `c${first}${second}`;
}

// A model may call a tool by an invalid name, or with arguments that are no object. Providers would refuse every later
// turn of the run that repeats such a call unchanged, so both are converted.

function sendableName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || '_';
}

function sendableArguments(value: Json): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : { unreadable: value };
}

/** Adds the format of the final answer to the instructions, in words, because every provider understands words. */
export function outputInstructions(instructions: string, schema: JsonObject): string {
  const format = `Write your final answer as one JSON object and nothing else: no text around it, no code fence. It must be valid by this JSON Schema:\n${JSON.stringify(schema)}`;
  return instructions === '' ? format : `${instructions}\n\n${format}`;
}

type Addresses = Awaited<LanguageModelV4['supportedUrls']>;

/**
 * Returns a function that says, as a clause, why the model does not get a file; undefined if it does. Another agent may
 * have accepted the file before a handoff, or the provider may not fetch its address; the worker never does.
 */
export async function leftOutFiles({
  name,
  files,
  model,
}: Pick<Agent, 'name' | 'files' | 'model'>): Promise<(file: UserFile) => string | undefined> {
  // The type promises `supportedUrls`, but a custom model may lack it.
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

/** Returns a sentence about the new files, if the request may have failed because of them; otherwise undefined. */
export function refusedFiles(
  error: unknown,
  { kind, message }: Pick<ModelFailure, 'kind' | 'message'>,
  files: readonly UserFile[],
): string | undefined {
  if (files.length === 0 || kind !== 'model_refused') return undefined;
  const refusal = `The input with ${filesText(files.map(shownFile))} was refused`;
  if (UnsupportedFunctionalityError.isInstance(error)) return `${refusal}: the model takes no such file.`;
  return refusesRequest(error) ? `${refusal}, which may be more than the model takes: ${message}` : undefined;
}
