/** The body of a chat's request grows with its thread. No answer is lost to its size. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import type { Agent } from '../../../src/agents/definitions.ts';
import { defineTool } from '../../../src/agents/define-tool.ts';
import { isAnswered, smallRequest } from '../../../examples/chat/chat-requests.ts';
import { asksFor, byHeader } from './chat-calls.ts';
import { type GatewayWorld, openGatewayWorld } from '../../support/gateway-world.ts';
import { once, pay } from '../../support/team.ts';
import { testAgent } from '../../support/test-agent.ts';
import { openUseChat } from './use-chat.ts';
import type { Turns } from '../../support/world.ts';

const text = 'x'.repeat(700_000);
const read = defineTool({
  name: 'read',
  description: 'Reads much.',
  input: z.object({ page: z.number() }),
  risk: 'read_only',
  execute: () => text,
});
const reads = [1, 2].map((page) => ({ tool: 'read', args: { page } }));

let world: GatewayWorld;
beforeAll(async () => {
  const agentsIn = (folder: string): Agent[] => {
    const agent = testAgent(folder, asksFor('pay'));
    return [{ ...agent, tools: [...agent.tools, read] }];
  };
  world = await openGatewayWorld({ agentsIn }, { authenticator: byHeader() });
});
afterAll(() => world.close());

const transport = { prepareSendMessagesRequest: smallRequest };

test('a thread with three results of 700 kB is refused as a whole; the sentence says what to send', async () => {
  const page = openUseChat(world, { sendAutomaticallyWhen: isAnswered });
  await page.say([{ calls: reads.slice(1) }, { text: 'Read.' }, { calls: [...reads, pay('refused')] }] as Turns);
  await page.chat.sendMessage({ text: 'And pay.' });
  expect(page.tools().filter(({ output }) => output === text)).toHaveLength(3);
  await page.answer(page.tool('pay'), true);
  await page.settled();
  expect(page.chat.error?.message).toContain(
    'A body has at most 2000000 bytes: send only the last message of the chat, and no results of tools.',
  );
  expect(world.ran()).not.toContain('pay refused 1');
  const { id, messages } = page.chat;
  const again = openUseChat(world, { id, messages, transport });
  await again.chat.sendMessage();
  expect(again.tool('pay')).toMatchObject({ state: 'output-available', output: 'paid 1 to refused' });
});

test('the request of docs/front-ends.md has no results, and brings the answer beside two of 700 kB', async () => {
  const page = openUseChat(world, { transport, sendAutomaticallyWhen: isAnswered });
  await page.say(once(...reads, pay('sent')));
  expect(page.tools().filter(({ output }) => output === text)).toHaveLength(2);
  await page.answer(page.tool('pay'), true);
  expect(await page.text()).toBe('paid 1 to sent');
  expect(page.requests.map((body) => body.length < 3_000)).toEqual([true, true]);
  // Nothing is told twice.
  expect(page.tools().map(({ state }) => state)).toEqual(Array(3).fill('output-available'));
});

test('an answer in an earlier message is sent with the next message', async () => {
  const page = openUseChat(world, { transport });
  await page.say(once(pay('earlier')));
  await page.answer(page.tool('pay'), true);
  await page.chat.sendMessage({ text: 'Is it done?' });
  expect(world.ran()).toContain('pay earlier 1');
});
