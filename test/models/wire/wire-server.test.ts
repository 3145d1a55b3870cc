import {
  APICallError,
  type LanguageModelV4CallOptions,
  type LanguageModelV4Message,
  type LanguageModelV4Prompt,
} from '@ai-sdk/provider';
import { describe, expect, test } from 'vitest';
import { anthropic, claudeThinks } from './anthropic.ts';
import { askWire, resultsOf, type AssistantMessage } from './ask-wire.ts';
import { deepseek } from './deepseek.ts';
import { geminiOpenAI } from './gemini-openai.ts';
import { google } from './google.ts';
import { mistral } from './mistral.ts';
import { openaiChat } from './openai-chat.ts';
import { openaiResponses } from './openai-responses.ts';
import type { GivenTurn } from './wire-protocol.ts';
import { wireServersOfTests } from './started-servers.ts';
import { wireFormats, type WireFormat, type WireServer, type WireTurn } from './wire-server.ts';

type Options = LanguageModelV4CallOptions['providerOptions'];
type ToolMessage = Extract<LanguageModelV4Message, { role: 'tool' }>;

const calls = [
  { name: 'look', args: { at: 'a' } },
  { name: 'look', args: { at: 'b' } },
];
const thinking: WireTurn[] = [
  { reasoning: 'I ponder it.', text: 'Let me look.', calls },
  { reasoning: 'I saw it.', text: 'Done.' },
  { reasoning: 'Again.', text: 'Bye.' },
];
const plain: WireTurn[] = thinking.map(({ reasoning: _none, ...turn }) => turn);
const user = (text: string): LanguageModelV4Message => ({ role: 'user', content: [{ type: 'text', text }] });
const adaptive: Options = { anthropic: { thinking: { type: 'adaptive' } } };
const notStored: Options = { openai: { store: false } };
const standard: Partial<Record<WireFormat, Options>> = { anthropic: claudeThinks };

const start = wireServersOfTests();

const conversations: [format: WireFormat, options: Options, turns: WireTurn[]][] = [
  ...wireFormats.map((format): [WireFormat, Options, WireTurn[]] => [format, standard[format], thinking]),
  ...wireFormats.map((format): [WireFormat, Options, WireTurn[]] => [format, undefined, plain]),
  ['anthropic', adaptive, thinking],
  ['openai-responses', notStored, thinking],
  ['openai-responses', notStored, plain],
];

describe.each([true, false])('streaming: %s', (streaming) => {
  test.each(conversations)('%s accepts a transcript as it was given (%j)', async (format, providerOptions, turns) => {
    const server = await start(format, turns);
    const ask = (prompt: LanguageModelV4Prompt) => askWire(server.model, { prompt, providerOptions }, streaming);
    const prompt = [user('Go')];
    const first = await ask(prompt);
    prompt.push(first, resultsOf(first));
    const second = await ask(prompt);
    prompt.push(second, user('And now?'));
    const third = await ask(prompt);
    expect(server.refusals).toEqual([]);
    expect(server.requests).toHaveLength(3);
    expect([first, second, third].map(textOf)).toEqual(['Let me look.', 'Done.', 'Bye.']);
    expect(callsOf(first)).toEqual(calls);
    const tellsReasoning = !['openai-chat', 'gemini-openai'].includes(format);
    const told = turns === thinking && tellsReasoning ? ['I ponder it.'] : [];
    expect(first.content.flatMap((part) => (part.type === 'reasoning' ? [part.text] : []))).toEqual(told);
  });

  test.each(wireFormats)('%s: a repeated id, ends of other kinds, and no further turn', async (format) => {
    const { model, refusals, requests } = await start(format, [
      { calls: calls.slice(0, 1), callId: 'look:0' },
      { text: 'Cut', finish: 'length' },
      { text: 'No', finish: 'content-filter' },
    ]);
    const options = { prompt: [user('Go')] };
    const first = await askWire(model, options, streaming);
    expect(first.content).toMatchObject([{ type: 'tool-call', toolCallId: 'look:0' }]);
    expect(await endOf(model, options, streaming)).toBe('length');
    // Mistral publishes no reason for a filtered answer.
    expect(await endOf(model, options, streaming)).toBe(format === 'mistral' ? 'other' : 'content-filter');
    await expect(askWire(model, options, streaming)).rejects.toMatchObject({ statusCode: 500 });
    expect(requests).toHaveLength(4);
    expect(refusals).toEqual([]);
  });
});

type Model = WireServer['model'];
async function endOf(model: Model, options: LanguageModelV4CallOptions, streaming: boolean): Promise<string> {
  if (!streaming) return (await model.doGenerate(options)).finishReason.unified;
  let end = '';
  for await (const part of (await model.doStream(options)).stream) {
    if (part.type === 'finish') end = part.finishReason.unified;
  }
  return end;
}

function textOf({ content }: AssistantMessage): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

function callsOf({ content }: AssistantMessage): object[] {
  return content.flatMap((part) => (part.type === 'tool-call' ? [{ name: part.toolName, args: part.input }] : []));
}

/** Changes of the right transcript: a user's text, an answer with two calls, and two results. */
type Change = (transcript: Transcript) => LanguageModelV4Prompt;
interface Transcript {
  asked: LanguageModelV4Message;
  answer: AssistantMessage;
  results: ToolMessage;
}
type Part = AssistantMessage['content'][number];

const answer =
  (change: (content: Part[]) => Part[]): Change =>
  ({ asked, answer, results }) => [asked, { ...answer, content: change(answer.content) }, results];
const results =
  (change: (content: ToolMessage['content']) => ToolMessage['content']): Change =>
  ({ asked, answer, results }) => [asked, answer, { ...results, content: change(results.content) }];
const withoutReasoning = answer((content) => content.filter(({ type }) => type !== 'reasoning'));
const withoutMetadata = answer((content) => content.map(({ providerOptions: _none, ...part }) => part));
const withSignature = (provider: string, thoughtSignature: string): Change =>
  answer((content) => {
    const at = content.findIndex(({ type }) => type === 'tool-call');
    return content.with(at, { ...content[at]!, providerOptions: { [provider]: { thoughtSignature } } });
  });
const changedReasoning = answer((content) =>
  content.map((part) => (part.type === 'reasoning' ? { ...part, text: 'Something else.' } : part)),
);
const blankAnswer: Change = ({ asked, answer, results }) => [
  asked,
  answer,
  results,
  { role: 'assistant', content: [{ type: 'text', text: '' }] },
  user('And now?'),
];
const blankUser: Change = ({ answer, results }) => [user(''), answer, results];
const oneResult = results((content) => content.slice(1));
const twiceTheResult = results((content) => [...content, content[0]!]);
const otherOrder = results((content) => content.toReversed());
const noResults: Change = ({ asked, answer }) => [asked, answer, user('Well?')];
const lateResults: Change = ({ asked, answer, results }) => [asked, answer, user('Well?'), results];
const onlyResults: Change = ({ asked, results }) => [asked, results];
const endsWithAnswer: Change = ({ asked, answer, results }) => [asked, answer, results, answerOf('Done.')];
const followedByUser: Change = ({ asked, answer, results }) => [asked, answer, results, user('Faster!')];
const answeredOnceMore: Change = ({ asked, answer, results }) => [asked, answer, results, answer, results];
const answerOf = (text: string): LanguageModelV4Message => ({ role: 'assistant', content: [{ type: 'text', text }] });
const foreignResult = results((content) =>
  content.map((part, index) => (index === 0 && 'toolCallId' in part ? { ...part, toolCallId: 'unknown12' } : part)),
);
const furtherResult = results((content) => [
  ...content,
  { type: 'tool-result', toolCallId: 'unknown12', toolName: 'look', output: { type: 'text', value: 'seen' } },
]);
const renamed =
  (toolCallId: string): Change =>
  ({ asked, answer, results }) => {
    const call = answer.content.find((part) => part.type === 'tool-call')!;
    const rename = <Each extends object>(part: Each): Each =>
      'toolCallId' in part && part.toolCallId === call.toolCallId ? { ...part, toolCallId } : part;
    return [
      asked,
      { ...answer, content: answer.content.map(rename) },
      { ...results, content: results.content.map(rename) },
    ];
  };
const badName = answer((content) =>
  content.map((part) => (part.type === 'tool-call' ? { ...part, toolName: 'look at' } : part)),
);
const itemIds = (change: (id: string, type: string) => string): Change =>
  answer((content) =>
    content.map((part) => {
      const item = part.providerOptions?.openai;
      if (item === undefined) return part;
      return { ...part, providerOptions: { openai: { ...item, itemId: change(item.itemId as string, part.type) } } };
    }),
  );
const onlyReasoning: Change = ({ asked, answer }) => [
  asked,
  { ...answer, content: answer.content.filter(({ type }) => type === 'reasoning') },
  user('Well?'),
];

const missingSignature = /^Function call is missing a thought_signature in functionCall parts\..*`default_api:look`/;
const otherAnswers =
  /^Please ensure that the number of function response parts is equal to the number of function call/;
const chat: [name: string, change: Change, sentence: RegExp][] = [
  ['an empty text of the user', blankUser, /^Invalid 'messages\[0\]\.content': string too short/],
  ['an empty answer', blankAnswer, /^Invalid 'messages\[4\]\.content': string too short/],
  ['a call without a result', oneResult, /^An assistant message with 'tool_calls' must be followed by tool messages/],
  ['results that come late', lateResults, /^An assistant message with 'tool_calls' must be followed by tool messages/],
  ['results of no call', onlyResults, /^Invalid parameter: messages with role 'tool' must be a response to/],
  ['a foreign result', furtherResult, /'tool_call_id' of 'unknown12' not found in 'tool_calls' of previous message\.$/],
  ['an id of 41 characters', renamed('x'.repeat(41)), /^Invalid 'messages\[1\]\.tool_calls\[0\]\.id': string too long/],
  ['an id that comes again', answeredOnceMore, /^Invalid parameter: Duplicate value for 'tool_call_id'/],
  ['a name with a blank', badName, /^Invalid 'messages\[1\]\.tool_calls\[0\]\.function\.name': string does not match/],
];

type Refused = [format: WireFormat, name: string, change: Change, sentence: RegExp, options?: Options];
const forFormat = (format: WireFormat, rows: [string, Change, RegExp, Options?][]): Refused[] =>
  rows.map(([name, change, sentence, options = standard[format]]) => [format, name, change, sentence, options]);

const refused: Refused[] = [
  ...forFormat('anthropic', [
    ['no thinking', withoutReasoning, /^messages\.1\.content\.0\.type: Expected `thinking`.* but found `text`/],
    ['no thinking, adaptive', withoutReasoning, /^messages\.1\.content\.0\.type: Expected `thinking`/, adaptive],
    ['no signature', withoutMetadata, /^messages\.1\.content\.0\.type: Expected `thinking`/],
    ['changed thinking', changedReasoning, /^messages\.1\.content\.0: `thinking`.* cannot be modified/],
    [
      'another signature',
      answer((content) => content.with(0, { ...content[0]!, providerOptions: { anthropic: { signature: 'no' } } })),
      /^messages\.1\.content\.0: Invalid `signature` in `thinking` block$/,
    ],
    [
      'thinking after the text',
      answer((content) => content.toSpliced(0, 2, content[1]!, content[0]!)),
      /^messages\.1\.content\.0\.type: Expected `thinking`/,
    ],
    ['an empty text', blankUser, /^messages: text content blocks must be non-empty$/],
    [
      'a blank text',
      answer((content) => [...content.slice(0, 1), { type: 'text', text: ' \n' }, ...content.slice(1)]),
      /^messages: text content blocks must contain non-whitespace text$/,
    ],
    ['no user first', ({ answer, results }) => [answer, results], /^messages: first message must use the "user" role$/],
    ['an answer last', endsWithAnswer, /The conversation must end with a user message\.$/],
    ['no results', noResults, /^messages\.1: `tool_use` ids were found without `tool_result` blocks immediately after/],
    ['one result', oneResult, /^messages\.1: `tool_use` ids were found without `tool_result`/],
    ['results after a text', lateResults, /^messages\.1: `tool_use` ids were found without `tool_result`/],
    ['a result twice', twiceTheResult, /each tool_use must have a single result/],
    ['a foreign result', foreignResult, /^messages\.2\.content\.0: unexpected `tool_use_id` found.*: unknown12\./],
    ['an id with a colon', renamed('look:0'), /^messages\.1\.content\.2\.tool_use\.id: String should match pattern/],
    ['an id that comes again', answeredOnceMore, /`tool_use` ids must be unique/],
    ['a name with a blank', badName, /tool_use\.name: String should match pattern/],
  ]),
  ...forFormat('google', [
    // Without a signature the client sends the sentinel in its place.
    ['no signature', withoutMetadata, /^A functionCall part has skip_thought_signature_validator for its/],
    ['another signature', withSignature('google', 'no'), /^Corrupted thought signature\.$/],
    ['an empty text', blankUser, /^Unable to submit request because it has an empty text parameter\./],
    ['an empty answer', blankAnswer, /contents\[3\]\.parts: contents\.parts must not be empty/],
    ['no results', noResults, otherAnswers],
    ['one result', oneResult, otherAnswers],
    ['a result twice', twiceTheResult, otherAnswers],
    ['results in another order', otherOrder, /^Please ensure that function response parts come in the order/],
    ['results of no call', onlyResults, /function response turn comes immediately after a function call turn\.$/],
    [
      'a call after an answer',
      ({ asked, answer, results }) => [asked, answerOf('Well'), answer, results],
      /function call turn comes immediately after a user turn or after a function response turn\.$/,
    ],
  ]),
  ...forFormat('mistral', [
    [
      'a long id',
      renamed('call_12345'),
      /^Tool call id was call_12345 but must be a-z, A-Z, 0-9, with a length of 9\.$/,
    ],
    ['a colon in an id', renamed('look:0123'), /^Tool call id was look:0123 but must be/],
    ['one result', oneResult, /^Not the same number of function calls and responses$/],
    ['no results', noResults, /^Not the same number of function calls and responses$/],
    ['a foreign result', foreignResult, /^Unexpected tool call id unknown12 in tool results$/],
    [
      'a result instead of another',
      results((content) => [content[0]!, content[0]!]),
      /^Duplicate tool call id \w{9} in tool results$/,
    ],
    ['results of no call', onlyResults, /^Unexpected role 'tool' after role 'user'$/],
    ['a user after results', followedByUser, /^Unexpected role 'user' after role 'tool'$/],
    ['an id that comes again', answeredOnceMore, /^Duplicate tool call id \w{9} in assistant message$/],
    ['an empty answer', blankAnswer, /^Assistant message must have either content or tool_calls, but not none\.$/],
    ['a name with a blank', badName, /^Function name was look at but must be/],
  ]),
  ...forFormat('openai-chat', chat),
  ...forFormat('deepseek', [
    ...chat,
    [
      'no reasoning',
      withoutReasoning,
      /^Missing `reasoning_content` field in the assistant message at message index 1\./,
    ],
    ['changed reasoning', changedReasoning, /^The `reasoning_content` in the thinking mode must be passed back/],
  ]),
  ...forFormat('gemini-openai', [
    ...chat,
    ['no signature', withoutMetadata, missingSignature],
    ['another signature', withSignature('gemini', 'no'), /^Corrupted thought signature\.$/],
  ]),
  ...[undefined, notStored].flatMap((options) =>
    forFormat('openai-responses', [
      [
        'no reasoning',
        answer((content) => content.filter(({ type }) => type === 'tool-call')),
        /^Item 'fc_\w+' of type 'function_call' was provided without its required 'reasoning' item: 'rs_\w+'\.$/,
        options,
      ],
      [
        'reasoning after its call',
        answer((content) => [...content.slice(1), content[0]!]),
        /^Item 'rs_\w+' of type 'reasoning' was provided without its/,
        options,
      ],
      [
        'reasoning alone',
        onlyReasoning,
        /^Item 'rs_\w+' of type 'reasoning' was provided without its required/,
        options,
      ],
      ['one result', oneResult, /^No tool output found for function call call_\w+\.$/, options],
      ['a foreign result', furtherResult, /^No tool call found for function call output with call_id/, options],
      ['a long id', renamed('x'.repeat(65)), /^Invalid 'input\[\d\]\.call_id': string too long/, options],
      ['a name with a blank', badName, /^Invalid 'input\[\d\]\.name': string does not match pattern/, options],
    ]),
  ),
  ...forFormat('openai-responses', [
    [
      'a reference to an item that it did not give',
      itemIds((id, type) => (type === 'reasoning' ? `${id}0` : id)),
      /^Item with id 'rs_\w+0' not found\.$/,
    ],
    [
      'encrypted reasoning that is changed',
      answer((content) =>
        content.with(0, { ...content[0]!, providerOptions: { openai: { reasoningEncryptedContent: 'no' } } }),
      ),
      /^The encrypted content for item/,
      notStored,
    ],
  ]),
];

describe.each([true, false])('streaming: %s', (streaming) => {
  test.each(refused)('%s refuses %s', async (format, _name, change, sentence, providerOptions) => {
    const server = await start(format, thinking);
    const ask = (prompt: LanguageModelV4Prompt) => askWire(server.model, { prompt, providerOptions }, streaming);
    const asked = user('Go');
    const first = await ask([asked]);
    const transcript = { asked, answer: first, results: resultsOf(first) as ToolMessage };
    const error: unknown = await ask(change(transcript)).catch((reason: unknown) => reason);
    expect(server.refusals).toEqual([expect.stringMatching(sentence)]);
    expect(server.requests).toHaveLength(1);
    // The client cannot read the list in which this endpoint puts its error.
    const message = format === 'gemini-openai' ? 'Bad Request' : server.refusals[0];
    expect(APICallError.isInstance(error) && error).toMatchObject({ statusCode: 400, message });
    expect(textOf(await ask([asked, first, transcript.results]))).toBe('Done.');
  });
});

test('a transcript with new ids is accepted, and its reasoning still asked for', async () => {
  const options: Options = { ...claudeThinks };
  for (const format of wireFormats) {
    const server = await start(format, thinking);
    const ask = (prompt: LanguageModelV4Prompt) => askWire(server.model, { prompt, providerOptions: options }, false);
    const asked = user('Go');
    const first = await ask([asked]);
    const transcript = { asked, answer: first, results: resultsOf(first) as ToolMessage };
    expect(textOf(await ask(renamed('abcdefgh1')(transcript)))).toBe('Done.');
    expect(server.refusals).toEqual([]);
  }
});

// The AI SDK's clients send none of these bodies.

const given: GivenTurn = {
  number: 0,
  reasoning: 'I ponder it.',
  text: '',
  calls: [{ id: 'call_1', name: 'look', args: {} }],
  finish: undefined,
  signature: 'signed',
  request: {},
};
const text = (role: string) => ({ role, content: 'Go' });
const reference = (type: string) => {
  const { output } = openaiResponses.whole(given) as { output: { type: string; id: string }[] };
  return { type: 'item_reference', id: output.find((item) => item.type === type)!.id };
};
const output = (id: string) => ({ type: 'function_call_output', call_id: id, output: 'seen' });

const called = (name: string, args: object) => ({
  role: 'assistant',
  tool_calls: [{ id: 'call_1', function: { name, arguments: JSON.stringify(args) } }],
});
const answered = { role: 'tool', tool_call_id: 'call_1', content: '' };

test.each([
  [anthropic, { messages: [] }, 'messages: at least one message is required'],
  [
    anthropic,
    { messages: [text('user'), text('user')] },
    'messages: roles must alternate between "user" and "assistant", but found multiple "user" roles in a row',
  ],
  [
    google,
    {
      contents: [
        { role: 'user', parts: [{ text: 'Go' }] },
        { role: 'model', parts: [{ functionCall: { name: 'look', args: {} } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'look', response: {} } }] },
      ],
    },
    missingSignature,
  ],
  [anthropic, { messages: [text('tool')] }, "messages.0.role: Input should be 'user' or 'assistant'"],
  [anthropic, { messages: [{ role: 'user', content: [] }] }, 'messages.0: all messages must have non-empty content'],
  [
    anthropic,
    {
      messages: [
        text('user'),
        { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'look', input: ['a'] }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1' }] },
      ],
    },
    'messages.1.content.0.tool_use.input: Input should be a valid dictionary',
  ],
  [mistral, { messages: [] }, 'Conversation must have at least one message'],
  [
    mistral,
    { messages: [text('user'), text('assistant')] },
    'Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant',
  ],
  [openaiChat, { messages: [] }, /^Invalid 'messages': empty array/],
  [openaiChat, { messages: [{ role: 'user', content: [] }] }, /^Invalid 'messages\[0\]\.content': empty array/],
  [openaiChat, { messages: [{ role: 'assistant', content: null }] }, /^Invalid value for 'messages\[0\]\.content'/],
  [openaiChat, { messages: [{ role: 'assistant', tool_calls: [] }] }, /^Invalid 'messages\[0\]\.tool_calls': empty/],
  // Calls that a client has changed do not excuse it.
  [deepseek, { messages: [text('user'), called('look', { at: 'changed' }), answered] }, /^Missing `reasoning_content`/],
  [geminiOpenAI, { messages: [text('user'), called('look', { at: 'changed' }), answered] }, missingSignature],
  [google, { contents: [] }, /contents is not specified/],
  [openaiResponses, { input: [] }, /^Invalid 'input': empty array/],
  [google, { contents: [{ role: 'assistant', parts: [{ text: 'Go' }] }] }, 'Please use a valid role: user, model.'],
  [
    openaiResponses,
    { input: [text('user'), reference('reasoning'), reference('function_call'), output('call_1')] },
    undefined,
  ],
  [
    openaiResponses,
    { input: [text('user'), reference('reasoning'), reference('function_call'), output('call_1'), output('call_2')] },
    'No tool call found for function call output with call_id call_2.',
  ],
  [
    openaiResponses,
    { input: [text('user'), reference('function_call'), output('call_1')] },
    /^Item 'fc_\w+' of type 'function_call' was provided without its required 'reasoning' item: 'rs_\w+'\.$/,
  ],
  [
    openaiResponses,
    { input: [text('user'), reference('reasoning'), reference('reasoning')] },
    /^Duplicate item found with id rs_/,
  ],
] as const)('%#: a body that no client sends', (protocol, body, problem) => {
  const found = protocol.check(body, [given]);
  if (problem instanceof RegExp) expect(found).toMatch(problem);
  else expect(found).toBe(problem);
});

test('a message by reference needs its reasoning, and is not found if it was not stored', () => {
  const answered = { ...given, text: 'Done.', calls: [] };
  const { output } = openaiResponses.whole(answered) as { output: { id: string }[] };
  const input = [text('user'), { type: 'item_reference', id: output[1]!.id }, text('user')];
  expect(openaiResponses.check({ input }, [answered])).toMatch(
    /^Item 'msg_\w+' of type 'message' was provided without its required 'reasoning' item: 'rs_\w+'\.$/,
  );
  expect(openaiResponses.check({ input, store: false }, [{ ...answered, request: { store: false } }])).toMatch(
    /^Item with id 'msg_\w+' not found\. Items are not persisted when `store` is set to false\./,
  );
});
