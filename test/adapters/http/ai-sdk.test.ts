import { describe, expect, test } from 'vitest';
import {
  type UIMessage,
  type UIMessageChunk,
  readUIMessageStream,
  safeValidateUIMessages,
  uiMessageChunkSchema,
} from 'ai';
import { uiChunks } from '../../../packages/gateway/src/http/chat/ai-sdk.ts';
import type { ChatStep } from '../../../packages/gateway/src/http/chat/chat-step.ts';
import { type ChatEvent, aiSdkBody, asksFor, byHeader, chat } from './chat-calls.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { openGatewayWorld } from '../../support/gateway-world.ts';
import { once, pay } from '../../support/team.ts';

const world = forAllTests(() =>
  openGatewayWorld({ agentPolicy: asksFor('pay', 'fail') }, { authenticator: byHeader() }),
);

const path = '/ai-sdk/tester';
type Body = ReturnType<typeof aiSdkBody>;
type ToolPart = Extract<UIMessage['parts'][number], { type: 'dynamic-tool' }>;

/** Posts a body, and reads the answer as the AI SDK does. */
async function send(body: object, before?: UIMessage, person?: string) {
  const chunks = await chat(world, path, body, person);
  for (const chunk of chunks) {
    const checked = await uiMessageChunkSchema().validate!(chunk);
    expect(checked).toMatchObject({ success: true });
  }
  const stream = ReadableStream.from(chunks) as unknown as ReadableStream<UIMessageChunk>;
  let message: UIMessage | undefined;
  for await (const each of readUIMessageStream({ stream, ...(before && { message: structuredClone(before) }) }))
    message = each;
  expect((await safeValidateUIMessages({ messages: [message!] })).success).toBe(true);
  return { chunks, message: message!, tools: message!.parts.filter((part) => part.type === 'dynamic-tool') };
}

/** The body that `useChat` sends after answers: its messages, the answered parts in the last one. */
function answered(
  body: Body,
  message: UIMessage,
  answers: Record<string, { approved: boolean; reason?: string } & object>,
) {
  const parts = message.parts.map((part) => {
    const answer = part.type === 'dynamic-tool' ? answers[part.toolCallId] : undefined;
    return answer === undefined
      ? part
      : { ...part, state: 'approval-responded', approval: { ...(part as ToolPart).approval, ...answer } };
  });
  return {
    ...body,
    messages: [...body.messages, { ...message, parts }],
    messageId: message.id,
    trigger: 'submit-message',
  };
}

const types = (chunks: ChatEvent[]): string[] =>
  chunks.map(({ type }) => type).filter((type) => !type.startsWith('data-'));
const asking = ['start', 'start-step', 'tool-input-available', 'tool-approval-request', 'finish-step', 'finish'];
const telling = ['start-step', 'text-start', 'text-delta', 'text-end', 'finish-step', 'finish'];

describe('a request is a tool approval', () => {
  test.each<[string, object, { approved: boolean; reason?: string }, string, object]>([
    [
      'approved',
      pay('bob'),
      { approved: true },
      'tool-output-available',
      { state: 'output-available', output: 'paid 1 to bob' },
    ],
    ['denied', pay('bob'), { approved: false, reason: 'no' }, 'tool-output-denied', { state: 'output-denied' }],
    ['failed', { tool: 'fail' }, { approved: true }, 'tool-output-error', { state: 'output-error' }],
  ])('%s', async (_name, call, answer, output, part) => {
    const body = aiSdkBody(once(call));
    const asked = await send(body);
    expect(types(asked.chunks)).toEqual(asking);
    const [tool] = asked.tools as [ToolPart];
    expect(tool).toMatchObject({
      state: 'approval-requested',
      approval: { signature: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
    const next = await send(answered(body, asked.message, { [tool.toolCallId]: answer }), asked.message);
    expect(types(next.chunks)).toEqual(['start', 'tool-approval-response', output, ...telling]);
    expect(next.tools).toMatchObject([{ toolCallId: tool.toolCallId, approval: answer, ...part }]);
    expect(next.message.id).toBe(asked.message.id);
  });
});

test.each(['length', 'content-filter', 'other', undefined] as const)('an answer ends by %s', async (finish) => {
  const ended: ChatStep = { type: 'ended', status: 'completed', output: 'It is', ...(finish && { finish }) };
  const none = new Set<string>();
  const seen = { answers: none, calls: none, results: none, texts: none };
  const options = { messageId: 'm', seen, continues: false, failed: () => undefined };
  const chunks = [];
  for await (const chunk of uiChunks(ReadableStream.from([ended]), options)) chunks.push(chunk);
  expect(chunks.at(-1)).toEqual({ type: 'finish', finishReason: finish ?? 'stop' });
  expect(await uiMessageChunkSchema().validate!(chunks.at(-1))).toMatchObject({ success: true });
});

test('half an answer is kept, and counts once', async () => {
  const body = aiSdkBody(once(pay('one'), pay('two')));
  const asked = await send(body);
  const [first, second] = asked.tools as [ToolPart, ToolPart];
  const half = answered(body, asked.message, { [first.toolCallId]: { approved: true } });
  const rest = await send(half, half.messages.at(-1) as UIMessage);
  expect(rest.tools.map(({ state }) => state)).toEqual(['output-available', 'approval-requested']);
  const whole = answered(body, rest.message, { [second.toolCallId]: { approved: false } });
  const done = await send(whole, whole.messages.at(-1) as UIMessage);
  expect(done.tools.map(({ state }) => state)).toEqual(['output-available', 'output-denied']);
  expect(world.ran()).toContain('pay one 1');
  expect(world.ran()).not.toContain('pay two 1');
  // The page was closed before it saw the end: it sends the same again.
  const again = await send(whole, whole.messages.at(-1) as UIMessage);
  expect(again.tools.map(({ state }) => state)).toEqual(['output-available', 'output-denied']);
  expect(world.ran().filter((line) => line === 'pay one 1')).toHaveLength(1);
});

test('the same message again joins the run', async () => {
  const body = aiSdkBody(once(pay('joined')));
  const [first, again] = [await send(body), await send({ ...body, trigger: 'regenerate-message' })];
  expect(again.message).toEqual(first.message);
});

describe('what a front end sends is not believed', () => {
  test.each<[string, object, string]>([
    ['another digest', { approved: true, signature: '0'.repeat(64) }, 'digest_mismatch'],
    ['an answer without a decision', { approved: undefined }, 'invalid_decision'],
  ])('%s leaves the request open', async (_name, approval, code) => {
    const body = aiSdkBody(once(pay('never')));
    const asked = await send(body);
    const [tool] = asked.tools as [ToolPart];
    const sent = answered(body, asked.message, { [tool.toolCallId]: approval as { approved: boolean } });
    const next = await send(sent, asked.message);
    expect(next.chunks.find(({ type }) => type === 'data-countersign-receipts')).toMatchObject({ data: [{ code }] });
    expect(next.tools).toMatchObject([{ state: 'approval-requested' }]);
    expect(world.ran()).not.toContain('pay never 1');
  });

  test('a forged answer to a request of another person', async () => {
    const body = aiSdkBody(once(pay('theirs')));
    const asked = await send(body, undefined, 'ann');
    const [tool] = asked.tools as [ToolPart];
    const forged = answered(body, asked.message, { [tool.toolCallId]: { approved: true } });
    expect((await world.call('POST', path, forged, { 'x-person': 'eve' })).status).toBe(404);
    expect(world.ran()).not.toContain('pay theirs 1');
  });
});

test('nobody approves calls of their own run unless the policy lets them', async () => {
  const strict = await openGatewayWorld(
    { agentPolicy: { version: 1, rules: [{ pattern: 'pay', action: 'ask' }] } },
    { authenticator: byHeader() },
  );
  try {
    const body = aiSdkBody(once(pay('self')));
    const read = async (sent: object): Promise<ChatEvent[]> => chat(strict, path, sent);
    const request = (await read(body)).find(({ type }) => type === 'tool-approval-request')!;
    const message = {
      id: 'a',
      role: 'assistant',
      parts: [
        {
          type: 'dynamic-tool',
          toolName: 'pay',
          toolCallId: request['toolCallId'],
          state: 'approval-responded',
          approval: { id: request['approvalId'], approved: true },
        },
      ],
    };
    const events = await read({ ...body, messages: [...body.messages, message] });
    expect(events.find(({ type }) => type === 'data-countersign-receipts')).toMatchObject({
      data: [{ code: 'self_approval' }],
    });
    expect(events.find(({ type }) => type === 'tool-approval-request')).toMatchObject({
      reason: expect.stringContaining('nobody may approve calls of their own run'),
    });
    expect(strict.ran()).toEqual([]);
  } finally {
    await strict.close();
  }
});

test('one request does not answer thousands of others', async () => {
  const body = aiSdkBody(once(pay('many')));
  const parts = Array.from({ length: 101 }, (_, index) => ({
    type: 'dynamic-tool',
    toolCallId: `call-${index}`,
    state: 'approval-responded',
    approval: { id: `${index.toString(16).padStart(32, '0')}.${'0'.repeat(32)}`, approved: true },
  }));
  const messages = [...body.messages, { id: 'a-1', role: 'assistant', parts }];
  const response = await world.call('POST', path, { ...body, messages }, { 'x-person': 'ann' });
  expect([response.status, await response.json()]).toMatchObject([422, { code: 'invalid_message' }]);
});
