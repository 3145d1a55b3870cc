import { createOpenAI } from '@ai-sdk/openai';
import { chatFiles } from './file-rules.ts';
import {
  firstOf,
  identifier,
  matchTurns,
  parseArguments,
  pieces,
  repeated,
  type GivenCall,
  type GivenTurn,
  type WireEvent,
  type WireProtocol,
} from './wire-protocol.ts';

// The rules are those of https://platform.openai.com/docs/api-reference/chat/create and
// https://platform.openai.com/docs/guides/function-calling; the longest id is in the answers of the API, as quoted in
// https://github.com/vercel/ai/issues/5171.

export interface ChatCall {
  id: string;
  function: { name: string; arguments: string };
  extra_content?: { google?: { thought_signature?: string } };
}

export interface ChatMessage {
  role: string;
  content?: string | { type: string; text?: string }[] | null;
  reasoning_content?: string;
  tool_calls?: ChatCall[];
  tool_call_id?: string;
}

export interface ChatBody {
  messages: ChatMessage[];
  stream?: boolean;
  stream_options?: { include_usage?: boolean };
  tools?: object[];
  response_format?: { type: string; json_schema?: SchemaFormat };
}

export interface SchemaFormat {
  name: string;
  strict?: boolean;
  schema: ObjectSchema;
}

interface ObjectSchema {
  properties?: object;
  required?: string[];
  additionalProperties?: unknown;
}

/** Members that another provider adds to the answers of this format. */
export interface ChatAdditions {
  reasoning?(turn: GivenTurn): string | undefined;
  call?(turn: GivenTurn, index: number): object;
}

export const openaiChat: WireProtocol = {
  path: /^\/v1\/chat\/completions$/,
  createModel: (url, thinks) =>
    createOpenAI({ baseURL: `${url}/v1`, apiKey: 'none' }).chat(thinks ? 'gpt-5-mini' : 'gpt-4.1'),
  callId: (turn, index) => `call_${identifier(`chat ${turn} ${index}`, 24)}`,
  wantsStream: wantsChatStream,
  check: (body) => firstOf(chatProblems(body as ChatBody, { addresses: true, documents: true })),
  refusal: (message) => ({ error: { message, type: 'invalid_request_error', param: 'messages', code: null } }),
  // Chat completions of OpenAI never tell what the model thought.
  whole: (turn) => completion(turn),
  events: (turn) => completionEvents(turn),
};

export function wantsChatStream(body: unknown): boolean {
  return (body as ChatBody).stream === true;
}

/** The turns of the server in a transcript, for the messages with calls. */
export function matchedMessages(
  { messages }: ChatBody,
  given: readonly GivenTurn[],
): { at: number; message: ChatMessage; turn: GivenTurn | undefined }[] {
  const sent = messages.map(({ tool_calls: calls }) =>
    (calls ?? []).map(({ id, function: called }) => ({
      id,
      name: called.name,
      args: parseArguments(called.arguments),
    })),
  );
  const turns = matchTurns(sent, given);
  return messages.flatMap((message, at) => (sent[at]!.length > 0 ? [{ at, message, turn: turns[at] }] : []));
}

/** `takes`: the files beside text. */
export function* chatProblems(
  { messages, response_format: format }: ChatBody,
  takes: Parameters<typeof chatFiles>[2],
): Iterable<string> {
  if (messages.length === 0) yield emptyArray('messages');
  for (const [at, message] of messages.entries()) {
    yield* contentProblems(at, message);
    yield* chatFiles(at, message.content, takes);
    yield* callProblems(at, message.tool_calls);
    yield* answerProblems(at, messages);
  }
  const ids = messages.flatMap(({ tool_calls: calls }) => (calls ?? []).map(({ id }) => id));
  for (const id of repeated(ids)) yield `Invalid parameter: Duplicate value for 'tool_call_id' of '${id}'.`;
  if (format?.json_schema !== undefined) yield* strictProblems(format.json_schema);
  if (format?.type === 'json_object' && !/json/i.test(JSON.stringify(messages))) {
    yield "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.";
  }
}

function emptyArray(where: string): string {
  return `Invalid '${where}': empty array. Expected an array with minimum length 1, but got an empty array instead.`;
}

/** What https://platform.openai.com/docs/guides/structured-outputs asks of the outermost object of a strict schema. */
export function* strictProblems({ name, strict, schema }: SchemaFormat): Iterable<string> {
  if (strict !== true) return;
  const where = `Invalid schema for response_format '${name}': In context=()`;
  if (schema.additionalProperties !== false) {
    yield `${where}, 'additionalProperties' is required to be supplied and to be false.`;
  }
  const optional = Object.keys(schema.properties ?? {}).find((key) => schema.required?.includes(key) !== true);
  if (optional !== undefined) {
    yield `${where}, 'required' is required to be supplied and to be an array including every key in properties. Missing '${optional}'.`;
  }
}

/** A tool may answer with an empty text; nobody else. */
function* contentProblems(at: number, { role, content, tool_calls: calls }: ChatMessage): Iterable<string> {
  const where = `messages[${at}].content`;
  if (content === undefined || content === null) {
    if (calls === undefined) yield `Invalid value for '${where}': expected a string, got null.`;
    return;
  }
  if (typeof content !== 'string' && content.length === 0) yield emptyArray(where);
  const texts = typeof content === 'string' ? [content] : content.map(({ text }) => text);
  if (role !== 'tool' && texts.includes('')) {
    yield `Invalid '${where}': string too short. Expected a string with minimum length 1, but got an empty string instead.`;
  }
}

const longestId = 40;

function* callProblems(at: number, calls: readonly ChatCall[] | undefined): Iterable<string> {
  if (calls?.length === 0) yield emptyArray(`messages[${at}].tool_calls`);
  for (const [index, { id, function: called }] of (calls ?? []).entries()) {
    const where = `messages[${at}].tool_calls[${index}]`;
    if (id.length > longestId) {
      yield `Invalid '${where}.id': string too long. Expected a string with maximum length ${longestId}, but got a string with length ${id.length} instead.`;
    }
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(called.name)) {
      yield `Invalid '${where}.function.name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]{1,64}$'.`;
    }
  }
}

function* answerProblems(at: number, messages: readonly ChatMessage[]): Iterable<string> {
  const { role, tool_calls: calls, tool_call_id: id } = messages[at]!;
  if (role === 'tool') {
    const asking = messages.slice(0, at).findLast((message) => message.role !== 'tool');
    if (asking?.tool_calls === undefined) {
      yield "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
    } else if (!asking.tool_calls.some((call) => call.id === id)) {
      yield `Invalid parameter: 'tool_call_id' of '${id}' not found in 'tool_calls' of previous message.`;
    }
  }
  const later = messages.slice(at + 1);
  const end = later.findIndex((message) => message.role !== 'tool');
  const answered = (end < 0 ? later : later.slice(0, end)).map(({ tool_call_id: id }) => id);
  const open = (calls ?? []).map((call) => call.id).filter((each) => !answered.includes(each));
  if (open.length > 0) {
    yield `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${open.join(', ')}`;
  }
}

export const chatUsage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

function envelope({ number }: GivenTurn, object: string): object {
  return { id: `chatcmpl-${identifier(`completion ${number}`, 29)}`, object, created: 1_700_000_000, model: 'wire' };
}

/** Mistral has the same reasons. */
export function chatFinishReason({ finish, calls }: GivenTurn): string {
  if (finish !== undefined) return finish === 'length' ? 'length' : 'content_filter';
  return calls.length > 0 ? 'tool_calls' : 'stop';
}

export function completion(turn: GivenTurn, additions: ChatAdditions = {}): object {
  const reasoning = additions.reasoning?.(turn);
  const calls = turn.calls.map((call, index) => ({
    ...callOf(call, JSON.stringify(call.args)),
    ...additions.call?.(turn, index),
  }));
  const message = {
    role: 'assistant',
    content: turn.text === '' ? null : turn.text,
    ...(reasoning === undefined ? {} : { reasoning_content: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
  };
  return {
    ...envelope(turn, 'chat.completion'),
    choices: [{ index: 0, message, finish_reason: chatFinishReason(turn) }],
    usage: chatUsage,
  };
}

function callOf({ id, name }: GivenCall, text: string): object {
  return { id, type: 'function', function: { name, arguments: text } };
}

export function completionEvents(turn: GivenTurn, additions: ChatAdditions = {}): WireEvent[] {
  const base = envelope(turn, 'chat.completion.chunk');
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    ...base,
    choices: [{ index: 0, delta, finish_reason }],
  });
  const wantsUsage = (turn.request as ChatBody).stream_options?.include_usage === true;
  return [
    chunk({ role: 'assistant', content: '' }),
    ...pieces(additions.reasoning?.(turn) ?? '').map((piece) => chunk({ reasoning_content: piece })),
    ...pieces(turn.text).map((piece) => chunk({ content: piece })),
    ...turn.calls.flatMap((call, index) => [
      chunk({ tool_calls: [{ index, ...callOf(call, ''), ...additions.call?.(turn, index) }] }),
      ...pieces(JSON.stringify(call.args)).map((piece) =>
        chunk({ tool_calls: [{ index, function: { arguments: piece } }] }),
      ),
    ]),
    chunk({}, chatFinishReason(turn)),
    ...(wantsUsage ? [{ ...base, choices: [], usage: chatUsage }] : []),
    '[DONE]',
  ].map((data) => ({ data }));
}
