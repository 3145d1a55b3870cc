/** A request stays open while its user says something else: its card is in an earlier message then. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Message } from '../../../src/contract.ts';
import { isAnswered, smallRequest } from '../../../examples/chat/chat-requests.ts';
import { asksFor, byHeader } from './chat-calls.ts';
import { eventually } from '../../support/eventually.ts';
import { type GatewayWorld, openGatewayWorld } from '../../support/gateway-world.ts';
import { pay } from '../../support/team.ts';
import { openUseChat } from './use-chat.ts';
import type { RunInTest } from '../../support/world.ts';

let world: GatewayWorld;
beforeAll(async () => {
  const policy = asksFor('pay') as { rules: object[] };
  const rules = [...policy.rules, { pattern: 'hold', action: 'allow' }];
  world = await openGatewayWorld({ agentPolicy: { ...policy, rules } }, { authenticator: byHeader() });
});
afterAll(() => world.close());

const transports = { whole: {}, small: { prepareSendMessagesRequest: smallRequest } };

test.each(Object.entries(transports))(
  'an answer on an old card is sent at once, and once: %s',
  async (name, transport) => {
    const page = openUseChat(world, { transport, sendAutomaticallyWhen: isAnswered });
    await page.say([{ calls: [pay(`old-${name}`)] }, { text: 'Fine, it is not paid.' }]);
    await page.chat.sendMessage({ text: 'Never mind.' });
    expect(page.chat.error).toBeUndefined();
    expect(page.tools().map(({ state }) => state)).toEqual(['approval-requested']);
    const before = page.requests.length;
    await page.answer(page.tool('pay'), false, 'changed my mind');
    await eventually('the answer of the assistant', () => {
      if (page.chat.error !== undefined) throw page.chat.error;
      const texts = page.chat.messages.flatMap(({ parts }) => parts.filter(({ type }) => type === 'text'));
      return page.chat.status === 'ready' && JSON.stringify(texts).includes('Fine, it is not paid.');
    });
    expect(page.requests.length - before).toBe(1);
    expect(page.tools()).toMatchObject([
      { state: 'output-denied', approval: { reason: expect.stringContaining('changed') } },
    ]);
    expect(world.ran()).not.toContain(`pay old-${name} 1`);
  },
);

type Page = ReturnType<typeof openUseChat>;
const decide = async (page: Page): Promise<RunInTest['handle']> => {
  const requestId = page.tools()[0]!.approval!.id.split('.')[0]!;
  const { workflowId } = await world.client.approvals.get(requestId);
  await world.client.decide({ requestId, approved: true, reviewerId: 'bob' });
  return world.run(workflowId).handle;
};
const release = (name: string): void => writeFileSync(join(world.folder, `release-${name}`), '');

test.each(Object.entries(transports))(
  'what came of a card after its stream is told with the next message, and once: %s',
  async (name, transport) => {
    const page = openUseChat(world, { transport });
    await page.say([{ calls: [pay(`missed-${name}`)] }, { text: 'It is paid.' }]);
    const run = await decide(page);
    const isOver = async (): Promise<boolean> =>
      (await run.query<Message[]>('transcript')).at(-1)?.content === 'It is paid.';
    await eventually('the end of the turn', isOver);
    for (const text of ['Thanks.', 'Bye.']) await page.chat.sendMessage({ text });
    const states = page.tools().map(({ state }) => state);
    expect(states).toEqual(['approval-requested', 'output-available']);
    const texts = page.chat.messages
      .filter(({ role }) => role === 'assistant')
      .map(({ parts }) => parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])));
    expect(texts).toEqual([[], ['It is paid.', 'Done.'], ['Done.']]);
  },
);

/** The stream of the new message ends with what has happened by then: after five seconds, while a request is open. */
const meanwhile: Record<string, (page: Page, name: string, told: Promise<void>) => Promise<unknown>> = {
  'all at once': async (page, name, told) => {
    await decide(page);
    release(name);
    await told;
  },
  'all after the stream': async (page, name, told) => {
    await told;
    await decide(page);
    release(name);
  },
  'a decision, then the page closes its stream': async (page, name) => {
    await decide(page);
    await eventually('the payment is told', () => page.chat.messages[3]!.parts.length > 0);
    await page.chat.stop();
    release(name);
  },
  'a result, then the stream ends': async (page, name, told) => {
    release(name);
    await told;
    await decide(page);
  },
};

test.concurrent.each(
  Object.entries(meanwhile).flatMap(([order, happens]) =>
    Object.entries(transports).map(([body, transport]) => ({ order, happens, body, transport })),
  ),
)(
  'what becomes of an old card is told once, in the new message, and breaks no stream: $order, $body',
  async ({ order, happens, body, transport }) => {
    const name = `${order} ${body}`.replaceAll(/\W/g, '-');
    const page = openUseChat(world, { transport, sendAutomaticallyWhen: isAnswered });
    await page.say([{ calls: [pay(name), { tool: 'hold', args: { name } }] }, { text: 'Both are done.' }]);
    const told = page.chat.sendMessage({ text: 'And then?' });
    await eventually('its stream has begun', () => page.chat.messages.length === 4);
    await happens(page, name, told);
    const partsOf = (index: number): string[] =>
      page.chat.messages[index]!.parts.flatMap((part) => {
        if (part.type === 'text') return [part.text];
        if (part.type === 'step-start') return [part.type];
        return part.type === 'dynamic-tool' ? [`${part.toolName} ${part.state}`] : [];
      });
    await eventually('the turn is over', async () => {
      if (page.chat.error !== undefined) throw page.chat.error;
      if (!partsOf(3).includes('Both are done.')) await page.chat.sendMessage();
      return partsOf(3).includes('Both are done.');
    });
    // A page asks for news when there are none.
    await page.chat.sendMessage();
    expect(page.chat.error).toBeUndefined();
    expect(partsOf(1)).toEqual(['step-start', 'pay approval-requested']);
    const [begin, ...calls] = partsOf(3).slice(0, 3);
    expect(begin).toBe('step-start');
    expect(calls.toSorted()).toEqual(['hold output-available', 'pay output-available']);
    expect(partsOf(3).slice(3)).toEqual(['step-start', 'Both are done.']);
  },
);
