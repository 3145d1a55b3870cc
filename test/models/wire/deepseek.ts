import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  chatProblems,
  completion,
  completionEvents,
  matchedMessages,
  wantsChatStream,
  type ChatAdditions,
  type ChatBody,
} from './openai-chat.ts';
import { firstOf, identifier, type GivenTurn, type WireProtocol } from './wire-protocol.ts';

// The rules are those of https://api-docs.deepseek.com/guides/thinking_mode#tool-calls and of chat completions.

const additions: ChatAdditions = { reasoning: (turn) => turn.reasoning };

export const deepseek: WireProtocol = {
  path: /^\/chat\/completions$/,
  createModel: (url, thinks) =>
    createOpenAICompatible({ name: 'deepseek', baseURL: url, includeUsage: true, apiKey: 'none' }).chatModel(
      thinks ? 'deepseek-reasoner' : 'deepseek-chat',
    ),
  callId: (turn, index) => `call_0${index}_${identifier(`deepseek ${turn} ${index}`, 24)}`,
  wantsStream: wantsChatStream,
  check: (body, given) => firstOf(problemsOf(body as ChatBody, given)),
  refusal: (message) => ({
    error: { message, type: 'invalid_request_error', param: null, code: 'invalid_request_error' },
  }),
  whole: (turn) => completion(turn, additions),
  events: (turn) => completionEvents(turn, additions),
};

function* problemsOf(body: ChatBody, given: readonly GivenTurn[]): Iterable<string> {
  yield* chatProblems(body, 'text');
  const thinks = given.some(({ reasoning }) => reasoning !== undefined);
  for (const { at, message, turn } of matchedMessages(body, given)) {
    const { reasoning_content: sent } = message;
    const isDue = turn === undefined ? thinks : turn.reasoning !== undefined;
    if (isDue && sent === undefined) {
      yield `Missing \`reasoning_content\` field in the assistant message at message index ${at}. For more information, please refer to https://api-docs.deepseek.com/guides/thinking_mode#tool-calls`;
    } else if (isDue && sent !== (turn?.reasoning ?? sent)) {
      yield `The \`reasoning_content\` in the thinking mode must be passed back to the API (message index ${at}).`;
    }
  }
}
