import { createMistral } from '@ai-sdk/mistral';
import { mistralFiles } from './file-rules.ts';
import { chatFinishReason, chatUsage } from './openai-chat.ts';
import {
  firstOf,
  identifier,
  pieces,
  repeated,
  type GivenTurn,
  type WireEvent,
  type WireProtocol,
} from './wire-protocol.ts';

// The rules are those of https://docs.mistral.ai/capabilities/function_calling and of the validator that Mistral
// publishes: https://github.com/mistralai/mistral-common/blob/main/src/mistral_common/protocol/instruct/validator.py

interface Call {
  id: string;
  function: { name: string; arguments: string };
}

interface Message {
  role: string;
  content?: string | object[] | null;
  prefix?: boolean;
  tool_calls?: Call[];
  tool_call_id?: string;
}

interface Body {
  messages: Message[];
  stream?: boolean;
}

export const mistral: WireProtocol = {
  path: /^\/v1\/chat\/completions$/,
  createModel: (url, thinks) =>
    createMistral({ baseURL: `${url}/v1`, apiKey: 'none' }).languageModel(
      thinks ? 'magistral-medium-latest' : 'mistral-large-latest',
    ),
  callId: (turn, index) => identifier(`mistral ${turn} ${index}`, 9),
  wantsStream: (body) => (body as Body).stream === true,
  check: (body) => firstOf(problemsOf((body as Body).messages)),
  refusal: (message) => {
    const isCall = /^(?:Tool call id|Function name)/.test(message);
    const type = isCall ? 'invalid_function_call' : 'invalid_request_message_order';
    return { object: 'error', message, type, param: null, code: isCall ? '3280' : '3230' };
  },
  whole: (turn) => ({
    ...envelope(turn, 'chat.completion'),
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: contentOf(turn, turn.reasoning, turn.text), tool_calls: callsOf(turn) },
        finish_reason: chatFinishReason(turn),
      },
    ],
    usage: chatUsage,
  }),
  events,
};

/** Which roles may follow a role. */
const following: Readonly<Record<string, readonly string[]>> = {
  system: ['user', 'assistant', 'system'],
  user: ['assistant', 'system', 'user'],
  assistant: ['assistant', 'user', 'tool'],
  tool: ['assistant', 'tool'],
};

function* problemsOf(messages: readonly Message[]): Iterable<string> {
  const last = messages.at(-1);
  if (last === undefined) return yield 'Conversation must have at least one message';
  if (last.role === 'assistant' && last.prefix !== true) {
    yield 'Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant';
  }
  for (const [at, message] of messages.entries()) {
    const { role } = message;
    const before = messages[at - 1]?.role ?? 'system';
    if (following[before]?.includes(role) !== true) yield `Unexpected role '${role}' after role '${before}'`;
    if (role === 'assistant') yield* assistantProblems(message, messages.slice(at + 1));
    yield* idProblems(message);
    yield* mistralFiles(message.content);
  }
  const ids = messages.flatMap(({ tool_calls: calls }) => (calls ?? []).map(({ id }) => id));
  for (const id of repeated(ids)) yield `Duplicate tool call id ${id} in assistant message`;
}

function* idProblems({ role, tool_calls: calls, tool_call_id: answered }: Message): Iterable<string> {
  if (role === 'tool' && answered === undefined) yield 'Tool call id has to be defined.';
  for (const id of [...(calls ?? []).map((call) => call.id), ...(answered === undefined ? [] : [answered])]) {
    if (!/^[a-zA-Z0-9]{9}$/.test(id)) {
      yield `Tool call id was ${id} but must be a-z, A-Z, 0-9, with a length of 9.`;
    }
  }
  for (const { function: called } of calls ?? []) {
    if (!/^[a-zA-Z0-9_-]{1,64}$/.test(called.name)) {
      yield `Function name was ${called.name} but must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum length of 64.`;
    }
  }
}

function* assistantProblems({ content, tool_calls: calls }: Message, later: readonly Message[]): Iterable<string> {
  const asked = (calls ?? []).map(({ id }) => id);
  if ((content ?? '').length === 0 && asked.length === 0) {
    yield 'Assistant message must have either content or tool_calls, but not none.';
  }
  const end = later.findIndex(({ role }) => role !== 'tool');
  const answers = (end < 0 ? later : later.slice(0, end)).map(({ tool_call_id: id }) => id ?? '');
  const foreign = answers.find((id) => !asked.includes(id));
  if (foreign !== undefined && asked.length === answers.length) {
    yield `Unexpected tool call id ${foreign} in tool results`;
  }
  for (const id of repeated(answers)) yield `Duplicate tool call id ${id} in tool results`;
  if (answers.length !== asked.length) yield 'Not the same number of function calls and responses';
}

function envelope({ number }: GivenTurn, object: string): object {
  return { id: identifier(`completion ${number}`, 32), object, created: 1_700_000_000, model: 'wire' };
}

function contentOf({ reasoning: thinks }: GivenTurn, reasoning: string | undefined, text: string): string | object[] {
  if (thinks === undefined) return text;
  return [
    ...(reasoning === undefined ? [] : [{ type: 'thinking', thinking: [{ type: 'text', text: reasoning }] }]),
    ...(text === '' ? [] : [{ type: 'text', text }]),
  ];
}

function callsOf({ calls }: GivenTurn): object[] | null {
  if (calls.length === 0) return null;
  return calls.map(({ id, name, args }, index) => ({
    id,
    index,
    function: { name, arguments: JSON.stringify(args) },
  }));
}

/** Mistral streams each call at once, with the end of the turn. */
function events(turn: GivenTurn): WireEvent[] {
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    data: {
      ...envelope(turn, 'chat.completion.chunk'),
      choices: [{ index: 0, delta, finish_reason }],
      ...(finish_reason === null ? {} : { usage: chatUsage }),
    },
  });
  return [
    chunk({ role: 'assistant', content: '' }),
    ...pieces(turn.reasoning ?? '').map((piece) => chunk({ content: contentOf(turn, piece, '') })),
    ...pieces(turn.text).map((piece) => chunk({ content: contentOf(turn, undefined, piece) })),
    chunk({ content: '', tool_calls: callsOf(turn) }, chatFinishReason(turn)),
    { data: '[DONE]' },
  ];
}
