import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { defineAgent } from '../../../src/agents/define-agent.ts';
import type { RunEvent } from '../../../src/events/run-event.ts';
import { openAICompatible } from '../../../src/models/openai-compatible.ts';
import { startGateway, type RunEvents } from '../../../packages/gateway/src/index.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import {
  chunk,
  startChatServer,
  startStream,
  usageChunk,
  type ChatServer,
} from '../../support/chat-completions-server.ts';
import { eventually } from '../../support/eventually.ts';
import { openGatedWorld } from '../../support/gated-world.ts';
import { type GatewayWorld, openGatewayWorld } from '../../support/gateway-world.ts';
import { openSse, runEventsOf, type SseClient } from './sse-client.ts';
import { once } from '../../support/team.ts';
import type { RunInTest } from '../../support/world.ts';

/** Nobody sees more in the events of a run than its policies let reviewers see. */

/** Made of parts, so that no scanner takes it for a real one. */
const key = ['sk', '-ant-', 'api03-', 'x'.repeat(40)].join('');
/** Nothing but its place shows that this is secret. */
const password = 'swordfish lagoon';
const mail = 'ann.lee@acme.com';
const secrets = [key, password, mail];

const urlOf = (gateway: { url: string }, workflowId: string, query = ''): URL =>
  new URL(`/runs/${encodeURIComponent(workflowId)}/events${query}`, gateway.url);

/** All that a viewer is sent, as text: live, and as a list. */
async function allOf(gateway: { url: string }, workflowId: string): Promise<{ text: string; viewer: SseClient }> {
  const viewer = await openSse(urlOf(gateway, workflowId));
  await viewer.ended;
  const list = await (await fetch(urlOf(gateway, workflowId, '?follow=false'))).text();
  expect((JSON.parse(list) as RunEvents).events).toEqual(runEventsOf(viewer));
  return { text: JSON.stringify(viewer.events) + list, viewer };
}

const itemsOf = (viewer: SseClient, type: string) =>
  runEventsOf(viewer).flatMap((event) =>
    event.type === 'RunItemEvent' && event.item.type === type ? [event.item] : [],
  );
const eventOf = <Type extends RunEvent['type']>(viewer: SseClient, type: Type) =>
  runEventsOf(viewer).find((event) => event.type === type) as Extract<RunEvent, { type: Type }>;

describe('a run with secrets in arguments, results and texts', () => {
  const world = forAllTests(() => openGatewayWorld({ continueAsNewAfter: { historyEvents: 30 } }));

  const args = { to: 'bob', password, note: `use ${key}`, contact: mail };
  const script = [
    { text: `I log in with ${password} and ${key}.`, calls: [{ tool: 'echo', args }] },
    { text: `Wrote to ${mail} with ${password}.` },
  ];
  const finished = async (more: object = {}): Promise<RunInTest> => {
    const policy = { version: 1, rules: [{ pattern: 'echo', action: 'ask' }], ...more };
    const run = await world.start(script, { policy });
    const [request] = await run.open();
    await world.client.decide({ requestId: request!.requestId, approved: true }, { workflowId: run.workflowId });
    await run.result();
    return run;
  };

  test('secrets show nowhere, and all else does', async () => {
    const { workflowId } = await finished();
    const { text, viewer } = await allOf(world.gateway, workflowId);
    for (const secret of secrets) expect(text).not.toContain(secret);
    expect(itemsOf(viewer, 'message').slice(1)).toMatchObject([
      { content: 'I log in with [PASSWORD] and [PROVIDER_KEY].' },
      { content: 'Wrote to [EMAIL …com · 74e2] with [PASSWORD].' },
    ]);
    const shown = { to: 'bob', password: '[PASSWORD]', note: 'use [PROVIDER_KEY]', contact: '[EMAIL …com · 74e2]' };
    expect(itemsOf(viewer, 'tool_call')).toMatchObject([{ arguments: shown }]);
    const [result] = itemsOf(viewer, 'tool_result');
    expect(JSON.parse((result as { content: string }).content)).toEqual(shown);
    expect(eventOf(viewer, 'RunCompleteEvent').output).toBe('Wrote to [EMAIL …com · 74e2] with [PASSWORD].');
  });

  test('a request shows what its reviewers see', async () => {
    const { workflowId } = await finished();
    const { viewer } = await allOf(world.gateway, workflowId);
    const event = eventOf(viewer, 'ApprovalRequestEvent');
    const seen = await world.client.approvals.get(event.requestId, { workflowId });
    expect(event.arguments).toEqual(seen.arguments);
    expect(event.contextSummary).toBe(seen.contextSummary);
    expect(event.redacted?.toSorted()).toEqual(seen.redacted?.toSorted());
  });

  test('the text beside a call does not show what is hidden of another call of the turn', async () => {
    const calls = [
      { tool: 'echo', args },
      { tool: 'look', args: { what: 'the door' } },
    ];
    const policy = { version: 1, rules: [{ pattern: '*', action: 'ask' }] };
    const run = await world.start([{ text: `I log in with ${password}.`, calls }, { text: 'done' }], { policy });
    for (const { requestId } of await run.open(2)) {
      const shown = await world.call('GET', `/approvals/${requestId}?workflowId=${run.workflowId}`);
      const text = await shown.text();
      expect(text).toContain('I log in with [PASSWORD].');
      for (const secret of secrets) expect(text).not.toContain(secret);
    }
    await run.handle.terminate();
  });

  test('edited arguments are redacted as those that were asked about', async () => {
    const run = await world.start(script, {
      policy: { version: 1, rules: [{ pattern: 'echo', action: 'ask' }] },
    });
    const [request] = await run.open();
    const modifiedArguments = { to: 'eve', password: '[PASSWORD]', again: `not ${password}`, token: key };
    const decision = { requestId: request!.requestId, approved: true, modifiedArguments };
    const receipt = await world.client.decide(decision, { workflowId: run.workflowId });
    expect(receipt).toMatchObject({ accepted: true });
    await run.result();
    const { text, viewer } = await allOf(world.gateway, run.workflowId);
    for (const secret of secrets) expect(text).not.toContain(secret);
    expect(itemsOf(viewer, 'tool_result')).toMatchObject([
      { arguments: { to: 'eve', password: '[PASSWORD]', again: 'not [PASSWORD]', token: '[PASSWORD]' } },
    ]);
  });

  test('a policy that hides arguments hides all that is made of them', async () => {
    const { workflowId } = await finished({ approval: { include_arguments: false } });
    const { text, viewer } = await allOf(world.gateway, workflowId);
    for (const secret of [...secrets, 'log in', 'Wrote to']) expect(text).not.toContain(secret);
    expect(itemsOf(viewer, 'tool_call')).toEqual([{ type: 'tool_call', callId: '1.1', toolName: 'echo' }]);
    expect(itemsOf(viewer, 'tool_result')).toMatchObject([{ content: '[HIDDEN]', ran: 'yes' }]);
    expect(eventOf(viewer, 'ApprovalRequestEvent')).toMatchObject({ arguments: {}, shown: 'part', contextSummary: '' });
    expect(eventOf(viewer, 'RunCompleteEvent')).toMatchObject({ status: 'completed', output: '[HIDDEN]' });
  });

  test("a policy's own patterns and names count", async () => {
    const redact = { patterns: [{ name: 'BOB', pattern: 'b[o]b' }], also: ['to'] };
    const { workflowId } = await finished({ redact });
    const { text, viewer } = await allOf(world.gateway, workflowId);
    expect(text).not.toMatch(/\bbob\b/);
    expect(itemsOf(viewer, 'tool_call')).toMatchObject([{ arguments: { to: '[BOB · 81b6]', password: '[PASSWORD]' } }]);
  });

  test('a policy without redaction shows everything', async () => {
    const { workflowId } = await finished({ approval: { redact: false } });
    const { text } = await allOf(world.gateway, workflowId);
    for (const secret of secrets) expect(text).toContain(secret);
  });

  test('a stricter policy that comes later hides also what happened before it, for whoever comes then', async () => {
    const policy = { version: 1, rules: [{ pattern: 'echo', action: 'ask' }], approval: { redact: false } };
    const run = await world.start(script, { policy });
    await run.open();
    const early = await openSse(urlOf(world.gateway, run.workflowId));
    await eventually('the call is seen', () => itemsOf(early, 'tool_call').length === 1);
    expect(itemsOf(early, 'tool_call')).toMatchObject([{ arguments: args }]);
    const stricter = { version: 1, rules: [], approval: { redact: true } };
    await world.client.setPolicy(run.workflowId, { policy: stricter });
    const late = await openSse(urlOf(world.gateway, run.workflowId));
    await eventually('the call is seen', () => itemsOf(late, 'tool_call').length === 1);
    expect(runEventsOf(late).length).toBe(runEventsOf(early).length);
    for (const secret of secrets) expect(JSON.stringify(late.events)).not.toContain(secret);
    // And nothing uncovers it again.
    await world.client.setPolicy(run.workflowId, { policy });
    await world.client.closeRun(run.workflowId);
    await Promise.all([early.ended, late.ended]);
    const { text } = await allOf(world.gateway, run.workflowId);
    for (const secret of secrets) expect(text).not.toContain(secret);
  });

  test('across continue-as-new, by what one execution hands to the next', async () => {
    const turns = [1, 2, 3].map((turn) => ({ text: `Turn ${turn} with ${key}`, calls: [{ tool: 'echo', args }] }));
    const policy = { version: 1, rules: [{ pattern: 'echo', action: 'ask' }] };
    const run = await world.start([...turns, { text: password }] as never, { policy });
    const viewer = await openSse(urlOf(world.gateway, run.workflowId));
    const decided = new Set<string>();
    await eventually('the run ends', async () => {
      for (const event of runEventsOf(viewer)) {
        if (event.type !== 'ApprovalRequestEvent' || decided.has(event.requestId)) continue;
        decided.add(event.requestId);
        await world.client.decide({ requestId: event.requestId, approved: true }, { workflowId: run.workflowId });
      }
      return viewer.events.at(-1)?.event === 'end';
    });
    expect(new Set(viewer.events.flatMap(({ id }) => id?.split('.')[0] ?? [])).size).toBeGreaterThan(1);
    const { text } = await allOf(world.gateway, run.workflowId);
    for (const secret of secrets) expect(text).not.toContain(secret);
    // Before the first call, nothing says that the user's text holds a password.
    const [, ...live] = viewer.events;
    for (const secret of secrets) expect(JSON.stringify(live)).not.toContain(secret);
  });
});

test('events wait until the run has loaded its policies; of one that never does, no text shows', async () => {
  const world = await openGatewayWorld({ worker: false });
  try {
    const run = await world.start(once({ tool: 'echo', args: { password } }));
    const viewer = await openSse(urlOf(world.gateway, run.workflowId));
    const list = await fetch(urlOf(world.gateway, run.workflowId, '?follow=false'));
    expect(await list.json()).toEqual({ events: [] });
    expect(runEventsOf(viewer)).toEqual([]);
    await run.handle.terminate(`Because of ${password}`);
    await viewer.ended;
    expect(viewer.events.map(({ event }) => event)).toEqual(['RunItemEvent', 'RunCompleteEvent', 'end']);
    expect(JSON.stringify(viewer.events)).not.toContain(password);
    expect(itemsOf(viewer, 'message')).toMatchObject([{ content: '[REDACTED]' }]);
    expect(viewer.events[1]!.data).toMatchObject({ failure: { message: '[REDACTED]' } });
  } finally {
    await world.close();
  }
});

test('a workflow of one’s own: its calls are redacted by their declared names', async () => {
  const world = await openGatedWorld();
  const gateway = await startGateway({ client: world.client, port: 0, log: () => undefined });
  try {
    const handle = await world.start('calls', [
      { name: 'look', args: [{ password, note: key }] },
      { name: 'pay', args: [`Mail ${mail}`, 3] },
    ]);
    const [request] = await world.open(handle);
    await world.client.decide({ requestId: request!.requestId, approved: true }, { workflowId: handle.workflowId });
    await handle.result();
    const { text, viewer } = await allOf(gateway, handle.workflowId);
    for (const secret of [key, password]) expect(text).not.toContain(secret);
    const calls = itemsOf(viewer, 'tool_call') as { toolName: string; arguments: unknown }[];
    expect(calls.find(({ toolName }) => toolName === 'look')!.arguments).toEqual([
      { password: '[PASSWORD]', note: '[PROVIDER_KEY]' },
    ]);
    // `to` says what the call does, so reviewers see it.
    expect(calls.find(({ toolName }) => toolName === 'pay')!.arguments).toEqual([`Mail ${mail}`, 3]);
  } finally {
    await gateway.stop();
    await world.close();
  }
});

describe('while a model writes', () => {
  let server: ChatServer;
  let world: GatewayWorld;
  beforeAll(async () => {
    server = await startChatServer();
    const model = openAICompatible({ baseURL: server.baseURL, model: 'm' });
    world = await openGatewayWorld({
      agentsIn: () => [defineAgent({ name: 'tester', instructions: 'Write.', model })],
    });
  });
  afterAll(async () => {
    await world.close();
    await server.close();
  });

  test('a secret in two pieces shows in neither, and words show while they are written', async () => {
    const writer = Promise.withResolvers<ReturnType<typeof startStream>>();
    const over = Promise.withResolvers<void>();
    server.answer(async (response) => {
      writer.resolve(startStream(response));
      await over.promise;
    });
    const run = await world.start([], { input: 'Write' });
    const viewer = await openSse(urlOf(world.gateway, run.workflowId));
    const bare = await openSse(urlOf(world.gateway, run.workflowId, '?tokens=false'));
    const written = (): string =>
      runEventsOf(viewer)
        .flatMap((event) => (event.type === 'RawResponseEvent' ? [event.delta] : []))
        .join('');
    const stream = await writer.promise;
    stream.send(chunk({ content: `The first words come, then a key: ${key.slice(0, 20)}` }));
    await eventually('the words before it', () => written() === 'The first words come, then a key: ');
    stream.send(chunk({ content: key.slice(20) }));
    stream.send(
      chunk({
        content: ` and after it more words, quite a lot of them, so that nothing is in doubt any longer, we hope`,
      }),
    );
    await eventually('the words after it', () => written().includes('[PROVIDER_KEY] and after it'));
    stream.send(chunk({}, 'stop'), usageChunk(1, 1));
    stream.done();
    over.resolve();
    await Promise.all([viewer.ended, bare.ended]);
    const text = JSON.stringify(viewer.events);
    for (let at = 0; at + 12 <= key.length; at += 6) expect(text).not.toContain(key.slice(at, at + 12));
    const deltas = viewer.events.filter(({ event }) => event === 'RawResponseEvent');
    expect(deltas.length).toBeGreaterThan(1);
    expect(deltas.every(({ id }) => id === undefined)).toBe(true);
    expect(bare.events.some(({ event }) => event === 'RawResponseEvent')).toBe(false);
    expect(runEventsOf(bare)).toEqual(runEventsOf(viewer).filter(({ type }) => type !== 'RawResponseEvent'));
  });
});
