/** What both chat routes have in common: what is shown of a run, and when the stream ends. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createReviewerKey } from '../../../src/client.ts';
import { type ChatEvent, agUiInput, aiSdkBody, byHeader, chat } from './chat-calls.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually } from '../../support/eventually.ts';
import { openGatewayWorld } from '../../support/gateway-world.ts';
import { inTime, secondsInTime } from '../../support/in-time.ts';
import { once, pay } from '../../support/team.ts';
import type { Turns } from '../../support/world.ts';

const ask = { allow_self: true };
const policy = {
  version: 1,
  approval: { redact: true },
  redact: { also: ['to'] },
  rules: [
    { pattern: 'pay', action: 'ask', ask },
    { pattern: 'echo', action: 'ask', ask },
    ...secondsInTime(2).map((seconds) => {
      const when = `has(args.seconds) && args.seconds == ${seconds}`;
      return { pattern: 'echo', action: 'ask', when, ask: { ...ask, timeout: `${seconds}s` } };
    }),
    { pattern: 'look', action: 'allow' },
    { pattern: 'hold', action: 'allow' },
  ],
};

const world = forAllTests(() => openGatewayWorld({ agentPolicy: policy }, { authenticator: byHeader() }));

interface Interrupt {
  id: string;
  toolCallId: string;
  message: string;
  metadata: { requestId: string; arguments: unknown };
}

const agUi = (body: object, person?: string): Promise<ChatEvent[]> => chat(world, '/ag-ui/tester', body, person);
const interruptsOf = (events: ChatEvent[]): Interrupt[] =>
  (events.at(-1) as unknown as { outcome?: { interrupts?: Interrupt[] } }).outcome?.interrupts ?? [];
const yes = ({ id }: Interrupt) => ({ interruptId: id, status: 'resolved', payload: { approved: true } });
const resultsOf = (events: ChatEvent[]) => events.filter(({ type }) => type === 'TOOL_CALL_RESULT');

test('no secret of a call is shown in any event, before the answer and after it', async () => {
  const secret = 'Zq8vK2mN4pR7';
  const turns: Turns = once(pay(`password=${secret}`), { tool: 'look', args: { what: `token ${secret}` } });
  const input = agUiInput(turns);
  const [asked, chunks] = [await agUi(input), await chat(world, '/ai-sdk/tester', aiSdkBody(turns))];
  const [interrupt] = interruptsOf(asked) as [Interrupt];
  expect(interrupt.metadata.arguments).toMatchObject({ amount: 1 });
  const answered = await agUi({ ...input, resume: [yes(interrupt)] });
  expect(resultsOf(answered).length).toBeGreaterThan(0);
  expect(world.ran()).toContain(`pay password=${secret} 1`);
  const told = [...asked, ...chunks, ...answered].filter(({ type }) => type !== 'MESSAGES_SNAPSHOT');
  for (const event of told) expect(JSON.stringify(event)).not.toContain(secret);
  // What the front end itself has sent is in the snapshot, and nothing else of it.
  const snapshot = asked.find(({ type }) => type === 'MESSAGES_SNAPSHOT') as unknown as { messages: object[] };
  expect(JSON.stringify(snapshot.messages.slice(input.messages.length))).not.toContain(secret);
});

test('a request that expires while it is read: the answer is refused, and the run has gone on', async () => {
  const { played } = await inTime(2, async (seconds) => {
    const asked = agUiInput(once({ tool: 'echo', args: { seconds } }));
    return { input: asked, events: await agUi(asked) };
  });
  const { input } = played;
  const [interrupt] = interruptsOf(played.events) as [Interrupt];
  await eventually('it expires', async () => {
    const { settled } = await world.client.approvals.get(interrupt.metadata.requestId);
    return settled?.outcome === 'expired';
  });
  const events = await agUi({ ...input, resume: [yes(interrupt)] });
  const receipts = events.find(({ name }) => name === 'countersign.receipts');
  expect(receipts).toMatchObject({
    value: [{ accepted: false, code: expect.stringMatching(/expired|already_settled/) }],
  });
  expect(resultsOf(events)).toMatchObject([{ toolCallId: interrupt.toolCallId }]);
  expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
});

test('a tool that runs for long does not keep the question from being asked, and its result comes later', async () => {
  const input = agUiInput(once({ tool: 'hold', args: { name: 'long' } }, pay('beside')));
  const [interrupt] = interruptsOf(await agUi(input)) as [Interrupt];
  expect(world.ran()).not.toContain('end long');
  const answered = agUi({ ...input, resume: [yes(interrupt)] });
  await eventually('the payment', () => world.ran().includes('pay beside 1'));
  writeFileSync(join(world.folder, 'release-long'), '');
  expect(resultsOf(await answered)).toHaveLength(2);
});

test('a request settled elsewhere is no question any more', async () => {
  const input = agUiInput(once(pay('elsewhere')));
  const [interrupt] = interruptsOf(await agUi(input)) as [Interrupt];
  await world.client.decide({ requestId: interrupt.metadata.requestId, approved: false, reviewerId: 'rita' });
  const events = await agUi({ ...input, resume: [yes(interrupt)] });
  expect(resultsOf(events)).toMatchObject([
    { toolCallId: interrupt.toolCallId, content: expect.not.stringContaining('paid') },
  ]);
  expect(world.ran()).not.toContain('pay elsewhere 1');
});

test('hostile text is visible where it is a sentence, and bounded', async () => {
  const hostile = `\u202Egnp.exe<script>${'x'.repeat(5_000)}`;
  const [interrupt] = interruptsOf(await agUi(agUiInput(once({ tool: 'echo', args: { hostile } })))) as [Interrupt];
  expect(interrupt.message).not.toContain('\u202E');
  expect(interrupt.message.length).toBeLessThan(2_000);
});

test('an agent that nobody knows, or a run that fails, ends the stream with its reason', async () => {
  const events = await chat(world, '/ag-ui/nobody', agUiInput(once(pay('bob'))));
  expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'agent_unknown' });
  const chunks = await chat(world, '/ai-sdk/nobody', aiSdkBody(once(pay('bob'))));
  expect(chunks.map(({ type }) => type)).toEqual(['start', 'error', 'finish']);
});

test('the text of the model comes in order, once, whatever was streamed', async () => {
  const text = Array.from({ length: 40 }, (_, index) => `word-${index}`).join(' ');
  const events = await agUi(agUiInput([{ text }]));
  const deltas = events.filter(({ type }) => type === 'TEXT_MESSAGE_CONTENT').map(({ delta }) => delta as string);
  expect(deltas.join('')).toBe(text);
  expect(events.map(({ type }) => type).filter((type) => type === 'TEXT_MESSAGE_START')).toHaveLength(1);
});

test('a viewer who goes leaves the run as it is', async () => {
  const input = agUiInput(once({ tool: 'hold', args: { name: 'left' } }));
  const gone = new AbortController();
  const response = await fetch(new URL('/ag-ui/tester', world.gateway.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-person': 'ann' },
    body: JSON.stringify(input),
    signal: gone.signal,
  });
  expect(response.status).toBe(200);
  await eventually('the tool runs', () => world.ran().includes('start left'));
  gone.abort();
  writeFileSync(join(world.folder, 'release-left'), '');
  expect((await agUi(input)).at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } });
});

test('the gateway signs answers, and a repeated one gets its first receipt although its signature is another', async () => {
  const { privateKey, publicKey } = createReviewerKey();
  const ceiling = {
    version: 1,
    rules: [{ pattern: 'pay', action: 'ask', ask: { allow_self: true, verified: true } }],
    directory: { people: { ann: { keys: ['gateway'] } } },
    reviewer_keys: { gateway: publicKey },
  };
  const signed = await openGatewayWorld(
    { policy: ceiling },
    { authenticator: byHeader(), signer: { keyId: 'gateway', privateKey } },
  );
  try {
    const input = agUiInput(once(pay('signed')));
    const send = (body: object): Promise<ChatEvent[]> => chat(signed, '/ag-ui/tester', body);
    const [interrupt] = interruptsOf(await send(input)) as [Interrupt];
    for (const time of ['first', 'again']) {
      const events = await send({ ...input, runId: time, resume: [yes(interrupt)] });
      const receipts = events.find(({ name }) => name === 'countersign.receipts');
      expect(receipts).toMatchObject({ value: [{ accepted: true, outcome: 'approved' }] });
    }
    expect(signed.ran()).toEqual(['pay signed 1']);
    const { settled } = await signed.client.approvals.get(interrupt.metadata.requestId);
    expect(settled).toMatchObject({ reviewerId: 'ann', identity: 'verified', viewed: { channel: 'ag-ui' } });
  } finally {
    await signed.close();
  }
});
