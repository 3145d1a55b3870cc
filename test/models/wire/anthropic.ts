import { createAnthropic } from '@ai-sdk/anthropic';
import { anthropicFiles } from './file-rules.ts';
import {
  firstOf,
  identifier,
  isBlank,
  matchTurns,
  pieces,
  repeated,
  type GivenTurn,
  type WireEvent,
  type WireProtocol,
} from './wire-protocol.ts';

// The rules are those of https://platform.claude.com/docs/en/api/messages,
// https://platform.claude.com/docs/en/agents-and-tools/tool-use/handle-tool-calls and
// https://platform.claude.com/docs/en/build-with-claude/extended-thinking#preserving-thinking-blocks.

type Block =
  | { type: 'text'; text: string }
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'tool_use'; id: string; name: string; input: unknown }
  | { type: 'tool_result'; tool_use_id: string; content?: string | Block[] };
type ToolUse = Extract<Block, { type: 'tool_use' }>;

interface Message {
  role: string;
  content: Block[];
}

interface Body {
  messages: { role: string; content: string | Block[] }[];
  system?: string | Block[];
  thinking?: { type: string };
  stream?: boolean;
}

const modelId = 'claude-sonnet-4-6';

/** Provider options that switch thinking on. */
export const claudeThinks = { anthropic: { thinking: { type: 'enabled', budgetTokens: 1_024 } } };

export const anthropic: WireProtocol = {
  path: /^\/v1\/messages$/,
  createModel: (url) => createAnthropic({ baseURL: `${url}/v1`, apiKey: 'none' }).languageModel(modelId),
  callId: (turn, index) => `toolu_01${identifier(`anthropic ${turn} ${index}`, 22)}`,
  letsThink: (body) => thinkingOf(body as Body),
  wantsStream: (body) => (body as Body).stream === true,
  check: (body, given) => firstOf(problemsOf(body as Body, given)),
  refusal: (message) => ({
    type: 'error',
    error: { type: 'invalid_request_error', message },
    request_id: 'req_011Wire',
  }),
  whole: (turn) => ({
    ...envelope(turn),
    content: blocksOf(turn),
    stop_reason: stopReason(turn),
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: 5 },
  }),
  events,
};

function thinkingOf({ thinking }: Body): boolean {
  return thinking?.type === 'enabled' || thinking?.type === 'adaptive';
}

function* problemsOf(body: Body, given: readonly GivenTurn[]): Iterable<string> {
  const messages = body.messages.map(({ role, content }) => ({ role, content: asBlocks(content) }));
  yield* blankTexts('system', asBlocks(body.system ?? []));
  yield* roleProblems(messages);
  for (const [at, { content }] of messages.entries()) {
    if (content.length === 0) yield `messages.${at}: all messages must have non-empty content`;
    yield* blankTexts('messages', content);
    yield* anthropicFiles(`messages.${at}`, content);
    yield* callProblems(at, content);
    yield* resultProblems(at, messages);
  }
  const ids = repeated(messages.flatMap(({ content }) => callsOf(content).map(({ id }) => id)));
  if (ids.length > 0) yield `messages: \`tool_use\` ids must be unique (${ids.join(', ')})`;
  if (thinkingOf(body)) yield* thinkingProblems(messages, given);
}

function asBlocks(content: string | Block[]): Block[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

function callsOf(content: readonly Block[]): ToolUse[] {
  return content.filter((block) => block.type === 'tool_use');
}

function* roleProblems(messages: readonly Message[]): Iterable<string> {
  if (messages.length === 0) yield 'messages: at least one message is required';
  for (const [at, { role }] of messages.entries()) {
    if (role !== 'user' && role !== 'assistant') yield `messages.${at}.role: Input should be 'user' or 'assistant'`;
    if (at === 0 && role !== 'user') yield 'messages: first message must use the "user" role';
    if (role === messages[at - 1]?.role) {
      yield `messages: roles must alternate between "user" and "assistant", but found multiple "${role}" roles in a row`;
    }
  }
  if (messages.at(-1)?.role === 'assistant') {
    yield 'This model does not support assistant message prefill. The conversation must end with a user message.';
  }
}

function* blankTexts(where: string, content: readonly Block[]): Iterable<string> {
  for (const block of content) {
    if (block.type === 'tool_result' && typeof block.content === 'object') yield* blankTexts(where, block.content);
    if (block.type !== 'text') continue;
    if (block.text === '') yield `${where}: text content blocks must be non-empty`;
    if (isBlank(block.text)) yield `${where}: text content blocks must contain non-whitespace text`;
  }
}

function* callProblems(at: number, content: readonly Block[]): Iterable<string> {
  for (const [index, block] of content.entries()) {
    if (block.type !== 'tool_use') continue;
    const where = `messages.${at}.content.${index}.tool_use`;
    if (!/^[a-zA-Z0-9_-]+$/.test(block.id)) yield `${where}.id: String should match pattern '^[a-zA-Z0-9_-]+$'`;
    if (!/^[a-zA-Z0-9_-]{1,128}$/.test(block.name)) {
      yield `${where}.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'`;
    }
    if (typeof block.input !== 'object' || block.input === null || Array.isArray(block.input)) {
      yield `${where}.input: Input should be a valid dictionary`;
    }
  }
}

/** Results answer exactly the calls of the message before, and come first in theirs. */
function* resultProblems(at: number, messages: readonly Message[]): Iterable<string> {
  const { content } = messages[at]!;
  const asked = callsOf(messages[at - 1]?.content ?? []).map(({ id }) => id);
  const results = content.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : []));
  const foreign = results.find((id) => !asked.includes(id));
  if (foreign !== undefined) {
    yield `messages.${at}.content.${results.indexOf(foreign)}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${foreign}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;
  }
  const twice = repeated(results)[0];
  if (twice !== undefined) {
    yield `messages.${at}.content: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${twice}`;
  }
  const first = content.slice(0, results.length).every(({ type }) => type === 'tool_result') ? results : [];
  const missing = asked.filter((id) => !first.includes(id));
  const open = at === messages.length - 1 ? callsOf(content).map(({ id }) => id) : [];
  if (missing.length > 0) yield unanswered(at - 1, missing);
  if (open.length > 0) yield unanswered(at, open);
}

function unanswered(at: number, ids: readonly string[]): string {
  return `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
}

function* thinkingProblems(messages: readonly Message[], given: readonly GivenTurn[]): Iterable<string> {
  for (const [at, { content }] of messages.entries()) {
    for (const [index, block] of content.entries()) {
      if (block.type !== 'thinking') continue;
      const own = given.find(({ signature }) => signature === block.signature);
      if (own === undefined) yield `messages.${at}.content.${index}: Invalid \`signature\` in \`thinking\` block`;
      else if (own.reasoning !== block.thinking) yield modified(at, index);
    }
  }
  yield* missingThinking(messages, given);
}

/** Thinking may be left out of earlier turns: a turn goes on until a user says something else than results. */
function* missingThinking(messages: readonly Message[], given: readonly GivenTurn[]): Iterable<string> {
  const sent = messages.map(({ content }) =>
    callsOf(content).map(({ id, name, input }) => ({ id, name, args: input })),
  );
  const matches = matchTurns(sent, given);
  const start = messages.findLastIndex(
    ({ role, content }) => role === 'user' && !content.some(({ type }) => type === 'tool_result'),
  );
  for (const [at, { content }] of messages.entries()) {
    const match = matches[at];
    // Calls that the server does not know were changed, or are those of another model; neither excuses a client.
    const isDue = match === undefined || match.reasoning !== undefined;
    if (at < start || sent[at]!.length === 0 || !isDue) continue;
    const first = content[0]!;
    if (first.type !== 'thinking') {
      yield `messages.${at}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first.type}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks).`;
    } else if (match !== undefined && match.signature !== first.signature) {
      yield modified(at, 0);
    }
  }
}

function modified(at: number, index: number): string {
  return `messages.${at}.content.${index}: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.`;
}

function envelope({ number }: GivenTurn): object {
  return { id: `msg_01${identifier(`message ${number}`, 22)}`, type: 'message', role: 'assistant', model: modelId };
}

function stopReason({ finish, calls }: GivenTurn): string {
  if (finish !== undefined) return finish === 'length' ? 'max_tokens' : 'refusal';
  return calls.length > 0 ? 'tool_use' : 'end_turn';
}

function blocksOf({ reasoning, signature, text, calls }: GivenTurn): Block[] {
  return [
    ...(reasoning === undefined ? [] : [{ type: 'thinking' as const, thinking: reasoning, signature: signature! }]),
    ...(text === '' ? [] : [{ type: 'text' as const, text }]),
    ...calls.map(({ id, name, args }) => ({ type: 'tool_use' as const, id: id!, name, input: args })),
  ];
}

function events(turn: GivenTurn): WireEvent[] {
  const message = { ...envelope(turn), content: [], stop_reason: null, usage: { input_tokens: 10, output_tokens: 1 } };
  const delta = { stop_reason: stopReason(turn), stop_sequence: null };
  return [
    { type: 'message_start', message },
    ...blocksOf(turn).flatMap((block, index) => [
      { type: 'content_block_start', index, content_block: emptied(block) },
      ...deltasOf(block).map((delta) => ({ type: 'content_block_delta', index, delta })),
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta, usage: { output_tokens: 5 } },
    { type: 'message_stop' },
  ].map((data) => ({ event: data.type, data }));
}

function emptied(block: Block): object {
  if (block.type === 'text') return { type: 'text', text: '' };
  if (block.type === 'thinking') return { type: 'thinking', thinking: '', signature: '' };
  return { ...block, input: {} };
}

function deltasOf(block: Block): object[] {
  if (block.type === 'text') return pieces(block.text).map((text) => ({ type: 'text_delta', text }));
  if (block.type === 'tool_use') {
    return pieces(JSON.stringify(block.input)).map((piece) => ({ type: 'input_json_delta', partial_json: piece }));
  }
  if (block.type !== 'thinking') return [];
  return [
    ...pieces(block.thinking).map((thinking) => ({ type: 'thinking_delta', thinking })),
    { type: 'signature_delta', signature: block.signature },
  ];
}
