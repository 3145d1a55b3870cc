import { afterAll, beforeAll, expect, test } from 'vitest';
import { readUIMessageStream, type UIMessage, type UIMessageChunk } from 'ai';
import { continueTool } from '../../../src/core/base/tool-call.ts';
import { aiSdkBody, byHeader, chat } from './chat-calls.ts';
import { type GatewayWorld, openGatewayWorld } from '../../support/gateway-world.ts';
import { once } from '../../support/team.ts';

/** A run that asks whether it goes on beyond a limit: a chat shows it as a call that needs an approval, and that ends. */

let world: GatewayWorld;
beforeAll(async () => {
  const rules = [{ pattern: continueTool, action: 'ask', ask: { allow_self: true } }];
  const agentPolicy = { version: 1, rules, limits: { turns: { ask: 1 } } };
  world = await openGatewayWorld({ agentPolicy }, { authenticator: byHeader() });
});
afterAll(() => world.close());

type ToolPart = Extract<UIMessage['parts'][number], { type: 'dynamic-tool' }>;

async function send(body: object, before?: UIMessage): Promise<UIMessage> {
  const chunks = await chat(world, '/ai-sdk/tester', body);
  const stream = ReadableStream.from(chunks) as unknown as ReadableStream<UIMessageChunk>;
  let message: UIMessage | undefined;
  for await (const each of readUIMessageStream({ stream, ...(before && { message: structuredClone(before) }) })) {
    message = each;
  }
  return message!;
}
const toolsOf = ({ parts }: UIMessage): ToolPart[] => parts.filter((part) => part.type === 'dynamic-tool');

test.each([
  [true, { state: 'output-available', output: 'The run goes on.' }],
  [false, { state: 'output-denied' }],
])('approved: %s', async (approved, expected) => {
  const body = aiSdkBody(once({ tool: 'look', args: { what: 'sea' } }));
  const asked = await send(body);
  const [look, toContinue] = toolsOf(asked) as [ToolPart, ToolPart];
  expect(look).toMatchObject({ toolName: 'look', state: 'output-available' });
  expect(toContinue).toMatchObject({
    toolName: continueTool,
    state: 'approval-requested',
    input: { limit: 'turns', more: '1 turn' },
  });
  const parts = asked.parts.map((part) =>
    part === toContinue
      ? { ...part, state: 'approval-responded', approval: { ...toContinue.approval, approved } }
      : part,
  );
  const messages = [...body.messages, { ...asked, parts }];
  const next = await send(
    { ...body, messages, messageId: asked.id, trigger: 'submit-message' },
    messages.at(-1) as UIMessage,
  );
  expect(toolsOf(next)[1]).toMatchObject({ toolName: continueTool, ...expected });
});
