/** What a page of a chat is told while its run waits for something else than its person. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lastAssistantMessageIsCompleteWithApprovalResponses as allAnswered } from 'ai';
import { isAnswered } from '../../../examples/chat/chat-requests.ts';
import { type ChatEvent, agUiInput, byHeader, chat } from './chat-calls.ts';
import { eventually } from '../../support/eventually.ts';
import { type GatewayWorld, openGatewayWorld } from '../../support/gateway-world.ts';
import { callOf, once, pay, team } from '../../support/team.ts';
import { openUseChat } from './use-chat.ts';
import type { Turns } from '../../support/world.ts';

const policy = {
  version: 1,
  rules: [
    { pattern: 'pay', action: 'ask', ask: { allow_self: true } },
    { pattern: 'wipe', action: 'ask', ask: { reviewers: ['rita', 'group:finance'] } },
    { pattern: 'echo', action: 'ask', ask: { allow_self: true, quorum: 2 } },
    { pattern: 'researcher', action: 'allow' },
  ],
};
const asksPay = { version: 1, rules: [{ pattern: 'pay', action: 'ask', ask: { reviewers: ['rita'] } }] };
const wipe = { tool: 'wipe', args: {} };

let world: GatewayWorld;
beforeAll(async () => {
  const agentsIn = (folder: string) => team(folder, { tester: policy, researcher: asksPay });
  world = await openGatewayWorld({ agentsIn }, { authenticator: byHeader() });
});
afterAll(() => world.close());

type Page = ReturnType<typeof openUseChat>;
const waitsOf = ({ notes }: Page) => notes.filter(({ type }) => type === 'data-countersign-waiting');
const messagesOf = (page: Page): unknown[] => waitsOf(page).map(({ data }) => data['message']);

/** The next note of waiting, and its first reason. */
async function nextWait(page: Page, count = 1): Promise<Record<string, unknown>> {
  const note = await eventually(`note ${count} of waiting`, () => waitsOf(page)[count - 1]);
  return (note.data['waits'] as Record<string, unknown>[])[0]!;
}

async function requestOf(wait: Record<string, unknown>): Promise<string> {
  const requestId = wait['requestId'] as string;
  await eventually('the index', async () => {
    const { approvals } = await world.client.approvals.list({ limit: Infinity });
    return approvals.some((each) => each.requestId === requestId);
  });
  return requestId;
}

test('other reviewers are named as the card names them, once', async () => {
  const page = openUseChat(world);
  const isAsked = page.say(once(wipe));
  const wait = await nextWait(page);
  expect(wait).toMatchObject({
    kind: 'reviewers',
    toolName: 'wipe',
    reviewers: ['rita', 'group:finance'],
    people: 'rita or group:finance',
    sentence: expect.stringMatching(/^Wipe/),
    deadline: expect.stringMatching(/^\d{4}-/),
    url: expect.stringContaining(`/inbox/requests/`),
  });
  // No card that would be refused.
  expect(page.tools()).toEqual([]);
  await world.client.decide({ requestId: await requestOf(wait), approved: true, reviewerId: 'rita' });
  await isAsked;
  expect(messagesOf(page)).toEqual([expect.stringMatching(/^Waits for rita or group:finance: Wipe/), null]);
  expect(page.tools()).toMatchObject([{ state: 'output-available' }]);
});

describe('who can answer one request and not the other', () => {
  test.each([
    ['its own condition', allAnswered],
    ['that of docs/front-ends.md', isAnswered],
  ])('AI SDK, with %s: the answer is sent, and the note says for whom the other one waits', async (name, condition) => {
    const page = openUseChat(world, { sendAutomaticallyWhen: condition });
    await page.say(once(pay(name), wipe));
    expect(page.tools()).toMatchObject([{ toolName: 'pay', state: 'approval-requested' }]);
    expect(messagesOf(page)).toEqual([expect.stringContaining('Waits for rita')]);
    const requestId = await requestOf(await nextWait(page));
    await page.answer(page.tool('pay'), true);
    await eventually('the payment', () => world.ran().includes(`pay ${name} 1`));
    // The stream of the answer says it, too.
    await nextWait(page, 2);
    await world.client.decide({ requestId, approved: true, reviewerId: 'rita' });
    expect(await page.text()).toBe('wiped');
    const said = expect.stringMatching(/^Waits for rita/) as string;
    expect(messagesOf(page)).toEqual([said, said, null]);
  });

  test('a note of an earlier stream is taken back', async () => {
    const page = openUseChat(world, { sendAutomaticallyWhen: isAnswered });
    await page.say(once(pay('taken back'), wipe));
    const requestId = await requestOf(await nextWait(page));
    await world.client.decide({ requestId, approved: true, reviewerId: 'rita' });
    await page.answer(page.tool('pay'), true);
    await page.text();
    expect(messagesOf(page).at(-1)).toBeNull();
  });

  test('AG-UI', async () => {
    const input = agUiInput(once(pay('ag-ui'), wipe));
    const events: ChatEvent[] = await chat(world, '/ag-ui/tester', input);
    expect(events.filter(({ name }) => name === 'countersign.waiting')).toMatchObject([
      {
        value: { message: expect.stringContaining('Waits for rita'), waits: [{ kind: 'reviewers', toolName: 'wipe' }] },
      },
    ]);
    expect(events.at(-1)).toMatchObject({ outcome: { interrupts: [{ metadata: { toolName: 'pay' } }] } });
  });
});

test('a vote that counts waits for the next one', async () => {
  const page = openUseChat(world, { sendAutomaticallyWhen: isAnswered });
  await page.say(once({ tool: 'echo', args: { n: 1 } }, pay('beside a vote')));
  await page.answer(page.tool('echo'), true);
  const wait = await nextWait(page);
  expect(wait).toMatchObject({ kind: 'reviewers', toolName: 'echo' });
  await page.answer(page.tool('pay'), true);
  await eventually('the payment', () => world.ran().includes('pay beside a vote 1'));
  await world.client.decide({ requestId: await requestOf(wait), approved: true, reviewerId: 'rita' });
  await page.text();
  expect(page.tools().map(({ state }) => state)).toEqual(['output-available', 'output-available']);
  // The vote is not sent again and again.
  expect(page.requests.length).toBeLessThanOrEqual(4);
});

test('a request of a nested run: which agent waits, and for whom', async () => {
  const page = openUseChat(world);
  const isAsked = page.say(once(callOf('researcher', { calls: [pay('nested')] }, { text: 'found' })));
  const wait = await nextWait(page);
  expect(wait).toMatchObject({
    kind: 'nested',
    agent: 'researcher',
    message: `The agent researcher waits for rita, to answer 'pay' in the inbox.`,
    people: 'rita',
    sentence: 'Pay (to, amount)',
    deadline: expect.stringMatching(/^\d{4}-/),
    url: expect.stringMatching(new RegExp(`/inbox/requests/[^/]+/${String(wait['requestId'])}$`)),
  });
  await world.client.decide({ requestId: await requestOf(wait), approved: true, reviewerId: 'rita' });
  await isAsked;
  expect(await page.text()).toBe('found');
  expect(messagesOf(page).filter((message) => message !== null)).toHaveLength(1);
});

test('no worker', async () => {
  const page = openUseChat(world);
  const isAsked = page.say(once(wipe));
  const requestId = await requestOf(await nextWait(page));
  await world.stopWorker();
  await eventually('the note', () => messagesOf(page).some((each) => String(each).includes('does not answer')));
  await world.startWorker();
  await world.client.decide({ requestId, approved: true, reviewerId: 'rita' });
  await isAsked;
  expect(await page.text()).toBe('wiped');
  expect(messagesOf(page).filter((each) => String(each).includes('does not answer'))).toHaveLength(1);
});

test('a model that is rate limited: one note, however often it is asked', async () => {
  const page = openUseChat(world);
  const isAsked = page.say([{ error: { status: 429, retryAfterMs: 700 } }] as Turns);
  expect(await nextWait(page)).toMatchObject({
    kind: 'retry',
    message: 'The agent: its model is rate limited, and is asked again.',
  });
  // All ten attempts.
  await isAsked;
  expect(messagesOf(page)).toEqual([expect.stringContaining('rate limited'), null]);
});
