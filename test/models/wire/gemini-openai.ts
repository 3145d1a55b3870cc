import { createHash } from 'node:crypto';
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
import { jsonBesideTools } from './google.ts';
import { firstOf, type GivenTurn, type WireProtocol } from './wire-protocol.ts';

// The rules are those of https://ai.google.dev/gemini-api/docs/openai,
// https://ai.google.dev/gemini-api/docs/thought-signatures (OpenAI compatibility) and of chat completions.

const additions: ChatAdditions = {
  call: ({ signature }, index) =>
    index === 0 && signature !== undefined ? { extra_content: { google: { thought_signature: signature } } } : {},
};

export const geminiOpenAI: WireProtocol = {
  path: /^\/v1beta\/openai\/chat\/completions$/,
  createModel: (url, thinks) =>
    createOpenAICompatible({
      name: 'gemini',
      baseURL: `${url}/v1beta/openai`,
      includeUsage: true,
      apiKey: 'none',
    }).chatModel(thinks ? 'gemini-3-pro-preview' : 'gemini-2.5-flash'),
  callId: (turn, index) => {
    const digest = createHash('sha256').update(`gemini ${turn} ${index}`).digest();
    return `function-call-${digest.readBigUInt64BE()}`;
  },
  signsEveryTurn: true,
  wantsStream: wantsChatStream,
  check: (body, given) => firstOf(problemsOf(body as ChatBody, given)),
  // The compatible endpoint answers with a list.
  refusal: (message) => [{ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }],
  whole: (turn) => completion(turn, additions),
  events: (turn) => completionEvents(turn, additions),
};

function* problemsOf(body: ChatBody, given: readonly GivenTurn[]): Iterable<string> {
  yield* chatProblems(body, {});
  if (body.tools !== undefined && body.response_format !== undefined) yield jsonBesideTools;
  if (!given.some(({ signature }) => signature !== undefined)) return;
  for (const { at, message, turn } of matchedMessages(body, given)) {
    const { function: called, extra_content: extra } = message.tool_calls![0]!;
    const sent = extra?.google?.thought_signature;
    if (sent === undefined) {
      yield `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${called.name}\` , position ${at + 1}.`;
    } else if (!given.some(({ signature }) => signature === sent) || sent !== (turn?.signature ?? sent)) {
      yield 'Corrupted thought signature.';
    }
  }
}
