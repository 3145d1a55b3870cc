/** What a page of a chat is told of decisions that its person has not made. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type DynamicToolUIPart, lastAssistantMessageIsCompleteWithApprovalResponses as allAnswered } from 'ai';
import { isAnswered } from '../../../examples/chat/chat-requests.ts';
import { type ChatEvent, agUiInput, byHeader, chat } from './chat-calls.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import { openGatewayWorld } from '../../support/gateway-world.ts';
import { inTime, secondsInTime } from '../../support/in-time.ts';
import { once, pay } from '../../support/team.ts';
import { openUseChat } from './use-chat.ts';

const ask = { allow_self: true };
const policy = {
  version: 1,
  rules: [
    { pattern: 'pay', action: 'ask', ask },
    { pattern: 'wipe', action: 'ask', ask },
    ...secondsInTime(2).map((seconds) => {
      const when = `args.seconds == ${seconds}`;
      return { pattern: 'echo', action: 'ask', when, ask: { ...ask, timeout: `${seconds}s` } };
    }),
    { pattern: 'hold', action: 'allow' },
  ],
};

const world = forAllTests(() => openGatewayWorld({ agentPolicy: policy }, { authenticator: byHeader() }));

interface Asked {
  id: string;
  toolCallId: string;
  metadata: { requestId: string; workflowId: string; arguments: unknown };
}

const agUi = (body: object): Promise<ChatEvent[]> => chat(world, '/ag-ui/tester', body);
const askedBy = (events: ChatEvent[]): Asked[] =>
  (events.at(-1) as unknown as { outcome?: { interrupts?: Asked[] } }).outcome?.interrupts ?? [];
const custom = (events: ChatEvent[], name: string): unknown[] =>
  events.filter((event) => event['name'] === name).map(({ value }) => value);
const requestIdOf = (approvalId: string): string => approvalId.split('.')[0]!;

async function expired(requestId: string): Promise<void> {
  await eventually('the request expires', async () => {
    const { settled } = await world.client.approvals.get(requestId);
    return settled?.outcome === 'expired';
  });
}

/** A call, or one whose request expires after so many seconds. */
type Call = object | ((seconds: number) => object);
const soon = (seconds: number): object => ({ tool: 'echo', args: { seconds } });

/** Asks about a call, and is done before its request expires. */
async function asking<Asks>(call: Call, ask: (call: object) => Promise<Asks>): Promise<Asks> {
  if (typeof call !== 'function') return ask(call);
  const { played } = await inTime(2, (seconds) => ask((call as typeof soon)(seconds)));
  return played;
}

type Decides = (requestId: string) => Promise<unknown>;
const decisions: [name: string, call: Call, decides: Decides, told: { outcome: string; reason: string }][] = [
  [
    'expired',
    soon,
    expired,
    { outcome: 'expired', reason: expect.stringMatching(/^No decision within (2|8|32|128)s$/) as string },
  ],
  [
    'denied by somebody',
    pay('bob'),
    (requestId) => world.client.decide({ requestId, approved: false, reason: 'too much', reviewerId: 'rita' }),
    { outcome: 'denied', reason: 'Denied by rita: too much' },
  ],
  [
    'denied by the policy, which has changed',
    { tool: 'wipe', args: {} },
    async (requestId) => {
      const { workflowId } = await world.client.approvals.get(requestId);
      const rules = [{ pattern: 'wipe', action: 'deny', reason: 'not on Fridays' }];
      await world.client.setPolicy(workflowId, { policy: { version: 1, rules }, by: 'rita' });
    },
    { outcome: 'superseded', reason: expect.stringMatching(/^Denied by the policy: .*not on Fridays/) as string },
  ],
];

describe('a call that does not run says who has decided, and why', () => {
  test.each(decisions)('AI SDK: %s', async (_name, call, decides, { outcome, reason }) => {
    const page = await asking(call, async (each) => {
      const opened = openUseChat(world);
      await opened.say(once(each));
      return opened;
    });
    const [asked] = page.tools();
    await decides(requestIdOf(asked!.approval!.id));
    await page.chat.sendMessage();
    expect(await page.text()).toMatch(/^Denied: /);
    expect(page.tools()).toMatchObject([
      {
        state: 'output-denied',
        approval: { approved: false, reason },
        callProviderMetadata: { countersign: { outcome } },
      },
    ]);
  });

  test.each(decisions)('AG-UI: %s', async (_name, call, decides, told) => {
    const { input, first } = await asking(call, async (each) => {
      const sent = agUiInput(once(each));
      return { input: sent, first: await agUi(sent) };
    });
    const [asked] = askedBy(first);
    await decides(asked!.metadata.requestId);
    const events = await agUi(input);
    const { id: interruptId, toolCallId } = asked!;
    expect(custom(events, 'countersign.decided')).toEqual([{ interruptId, toolCallId, approved: false, ...told }]);
    expect(events.find(({ type }) => type === 'TOOL_CALL_RESULT')).toMatchObject({
      toolCallId,
      content: expect.stringMatching(/^Denied: /),
    });
  });

  test('cancelled: the card goes, and says so', async () => {
    const page = openUseChat(world);
    await page.say(once(pay('cancelled')));
    const { workflowId } = await world.client.approvals.get(requestIdOf(page.tool('pay').approval!.id));
    await world.client.cancel(workflowId);
    await world.run(workflowId).result();
    await page.chat.sendMessage();
    expect(page.tool('pay')).toMatchObject({
      state: 'output-denied',
      approval: { reason: 'Cancelled: the run was cancelled' },
      callProviderMetadata: { countersign: { outcome: 'cancelled' } },
    });
  });

  test('a page that cannot answer gets it as an error, because it has no approval that could be denied', async () => {
    const page = openUseChat(world, { person: 'vic:starter,viewer' });
    const isAsked = page.say(once(pay('vic')));
    const [request] = await eventually('the request', async () => {
      const { approvals } = await world.client.approvals.list({ tool: 'pay' });
      const own = approvals.filter(({ callerUserId }) => callerUserId === 'vic');
      return own.length > 0 && own;
    });
    await world.client.decide({ requestId: request!.requestId, approved: false, reason: 'no', reviewerId: 'rita' });
    await isAsked;
    expect(await page.text()).toBe('Denied: no');
    expect(page.tools()).toMatchObject([{ state: 'output-error', errorText: 'Denied: no' }]);
  });
});

describe('a call that a reviewer edited shows the arguments that ran', () => {
  const edited = { to: 'edited', amount: 7 };
  const edits = (requestId: string) =>
    world.client.decide({ requestId, approved: true, modifiedArguments: edited, reviewerId: 'rita' });

  test('AI SDK', async () => {
    const page = openUseChat(world);
    await page.say(once(pay('asked')));
    const { toolCallId, approval } = page.tool('pay');
    await edits(requestIdOf(approval!.id));
    await page.chat.sendMessage();
    await page.text();
    expect(page.tools()).toMatchObject([
      {
        toolCallId,
        input: edited,
        state: 'output-available',
        approval: { approved: true, reason: 'Approved by rita' },
        output: expect.stringContaining('paid 7 to edited'),
      },
    ]);
  });

  test('AG-UI', async () => {
    const input = agUiInput(once(pay('asked')));
    const asked = await agUi(input);
    const [{ id, toolCallId }] = askedBy(asked) as [Asked];
    const resume = [{ interruptId: id, status: 'resolved', payload: { approved: true, editedArgs: edited } }];
    const messages = asked.find(({ type }) => type === 'MESSAGES_SNAPSHOT')!['messages'];
    const events = await agUi({ ...input, messages, resume });
    expect(custom(events, 'countersign.arguments')).toEqual([{ toolCallId, toolName: 'pay', arguments: edited }]);
    const told = events.findIndex(({ name }) => name === 'countersign.arguments');
    const ran = events.findIndex(({ type }) => type === 'TOOL_CALL_RESULT');
    expect(told).toBeLessThan(ran);
  });
});

describe('two requests, of which one is settled elsewhere', () => {
  const settled: [name: string, other: Call, settles: Decides, state: string][] = [
    ['it expires', soon, expired, 'output-denied'],
    [
      'it is denied in the inbox',
      { tool: 'wipe', args: {} },
      (requestId) => world.client.decide({ requestId, approved: false, reviewerId: 'rita' }),
      'output-denied',
    ],
    [
      'it is approved in the inbox',
      { tool: 'wipe', args: {} },
      (requestId) => world.client.decide({ requestId, approved: true, reviewerId: 'rita' }),
      'output-available',
    ],
    [
      'it is answered in the place of the tool',
      { tool: 'wipe', args: {} },
      (requestId) => world.client.decide({ requestId, approved: false, response: 'nothing', reviewerId: 'rita' }),
      'output-available',
    ],
  ];

  test.each(settled)('%s: the page asks again what waits, and the other answer is sent', async (...row) => {
    const [name, other, settles, state] = row;
    const page = await asking(other, async (each) => {
      const opened = openUseChat(world, { sendAutomaticallyWhen: allAnswered });
      await opened.say(once(each, pay(name)));
      return opened;
    });
    const [gone, open] = page.tools() as [DynamicToolUIPart, DynamicToolUIPart];
    await settles(requestIdOf(gone.approval!.id));
    await page.chat.sendMessage();
    expect(page.tools().map(({ state: each }) => each.startsWith('approval-requested'))).toEqual([false, true]);
    await page.answer(open, true);
    await page.text();
    expect(page.tools()).toMatchObject([{ state }, { state: 'output-available' }]);
    expect(world.ran()).toContain(`pay ${name} 1`);
  });

  test.each(settled)('%s: the other answer is sent at once', async (...row) => {
    const [name, other, settles, state] = row;
    const page = await asking(other, async (each) => {
      const opened = openUseChat(world, { sendAutomaticallyWhen: isAnswered });
      await opened.say(once(each, pay(`${name} then`)));
      return opened;
    });
    const [gone, open] = page.tools() as [DynamicToolUIPart, DynamicToolUIPart];
    await settles(requestIdOf(gone.approval!.id));
    await page.answer(open, true);
    await page.text();
    expect(page.tools()).toMatchObject([{ state }, { state: 'output-available' }]);
    expect(world.ran()).toContain(`pay ${name} then 1`);
    expect(page.requests).toHaveLength(2);
  });

  test('what comes later of a turn belongs to its step, of which the AI SDK asks whether all is answered', async () => {
    const page = openUseChat(world, { sendAutomaticallyWhen: allAnswered });
    await page.say(once({ tool: 'hold', args: { name: 'beside' } }, pay('edited'), pay('beside')));
    const [edited, open] = page.tools() as [DynamicToolUIPart, DynamicToolUIPart];
    writeFileSync(join(world.folder, 'release-beside'), '');
    await eventually('the result of the other tool', async () => {
      await page.chat.sendMessage();
      return page.tools().some(({ state }) => state === 'output-available');
    });
    const modifiedArguments = { to: 'edited', amount: 3 };
    const requestId = requestIdOf(edited.approval!.id);
    await world.client.decide({ requestId, approved: true, modifiedArguments, reviewerId: 'rita' });
    await eventually('the edited call', () => world.ran().includes('pay edited 3'));
    await page.chat.sendMessage();
    await page.answer(open, true);
    await page.text();
    expect(page.tools().map(({ toolName, input }) => [toolName, input])).toEqual([
      ['pay', modifiedArguments],
      ['pay', { to: 'beside', amount: 1 }],
      ['hold', { name: 'beside' }],
    ]);
  });

  test('answers that are given one after the other are sent one by one, each once', async () => {
    const page = openUseChat(world, { sendAutomaticallyWhen: isAnswered });
    await page.say(once(pay('first of all'), pay('second of all'), pay('third of all')));
    const [first, second, third] = page.tools() as [DynamicToolUIPart, DynamicToolUIPart, DynamicToolUIPart];
    await page.answer(first, false, 'not now');
    await eventually('the first answer counts', () => page.tools()[0]!.state === 'output-denied');
    await page.answer(second, true);
    await page.answer(third, true);
    await page.text();
    expect(page.tools().map(({ state }) => state)).toEqual(['output-denied', 'output-available', 'output-available']);
    expect(world.ran().filter((line) => line.includes('of all'))).toHaveLength(2);
    expect(page.requests.length).toBeLessThanOrEqual(4);
  });
});
