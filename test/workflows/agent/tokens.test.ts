/** What a model writes can be seen while it writes: in the heartbeat details of its activity, and nowhere else. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { defineAgent } from '../../../src/agents/define-agent.ts';
import { EncryptionCodec } from '../../../src/codec.ts';
import { readTokenTail, type TokenTail } from '../../../src/events/token-tail.ts';
import { openAICompatible } from '../../../src/models/openai-compatible.ts';
import {
  chunk,
  startChatServer,
  startStream,
  usageChunk,
  type ChatServer,
} from '../../support/chat-completions-server.ts';
import { eventually } from '../../support/eventually.ts';
import { openWorld, type RunInTest, type World, type WorldOptions } from '../../support/world.ts';

let server: ChatServer;
const worlds: World[] = [];
beforeAll(async () => {
  server = await startChatServer();
});
afterAll(async () => {
  for (const world of worlds) await world.close();
  await server.close();
});

async function open(options: WorldOptions = {}, stream?: 'off'): Promise<World> {
  const model: LanguageModelV4 = openAICompatible({ baseURL: server.baseURL, model: 'm' });
  const modelCall = { maxAttempts: 2, ...(stream && { stream }) };
  const agent = defineAgent({ name: 'tester', instructions: 'Write.', model, modelCall });
  const world = await openWorld({ agentsIn: () => [agent], ...options });
  worlds.push(world);
  return world;
}

/** The activity's attempt, and the payloads that it heartbeated last. */
async function pending(run: RunInTest): Promise<{ attempt: number; payloads: Payload[] } | undefined> {
  const { raw } = await run.handle.describe();
  const activity = raw.pendingActivities?.find((each) => each.activityType?.name === 'countersign.callModel');
  if (activity == null) return undefined;
  return { attempt: activity.attempt ?? 0, payloads: activity.heartbeatDetails?.payloads ?? [] };
}
async function tailOf(run: RunInTest): Promise<TokenTail | undefined> {
  const [payload] = (await pending(run))?.payloads ?? [];
  return payload === undefined ? undefined : readTokenTail(defaultPayloadConverter.fromPayload(payload));
}
const eventTypes = async (run: RunInTest): Promise<string[]> => {
  const { executions } = await world(run).client.historyChain(run.workflowId);
  return executions.flatMap(({ events }) => events.map(({ eventType }) => String(eventType)));
};
const worldOf = new Map<string, World>();
const world = (run: RunInTest): World => worldOf.get(run.workflowId)!;
async function start(at: World): Promise<RunInTest> {
  const run = await at.start([], { input: 'Write' });
  worldOf.set(run.workflowId, at);
  return run;
}

test('text is seen again and again while it is written, and adds no event', async () => {
  const seen = new Set<string>();
  // By Temporal's default, a heartbeat is sent every 24 seconds: once for so many pieces.
  const pieces = 480;
  server.answer(async (response) => {
    const stream = startStream(response);
    for (let each = 0; each < pieces && seen.size < 5; each++) {
      stream.send(chunk({ content: `${String(each).padStart(3, '0')} ` }));
      await sleep(50);
    }
    stream.send(chunk({}, 'stop'), usageChunk(1, 1));
    stream.done();
  });
  const run = await start(await open());
  for (;;) {
    const tail = await tailOf(run);
    if (tail !== undefined && !seen.has(tail.tail)) {
      seen.add(tail.tail);
      expect(tail).toMatchObject({ attempt: 1, offset: 0 });
    }
    const { status } = await run.handle.describe();
    if (status.name !== 'RUNNING') break;
    await sleep(20);
  }
  const { output } = await run.result();
  for (const tail of seen) expect(output.startsWith(tail)).toBe(true);
  expect(seen.size).toBeGreaterThanOrEqual(5);

  server.answer((response) => {
    const stream = startStream(response);
    stream.send(chunk({ content: 'at once' }), chunk({}, 'stop'), usageChunk(1, 1));
    stream.done();
  });
  const short = await start(worlds[0]!);
  await short.result();
  expect(await eventTypes(run)).toEqual(await eventTypes(short));
});

test('a second attempt starts over', async () => {
  let release = (): void => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  let attempts = 0;
  server.answer(async (response) => {
    const stream = startStream(response);
    attempts++;
    stream.send(chunk({ content: attempts === 1 ? 'first words' : 'other words' }));
    if (attempts === 1) {
      await eventually('the first text is seen', async () => (await tailOf(run))?.tail === 'first words');
      response.destroy();
      return;
    }
    await held;
    stream.send(chunk({}, 'stop'), usageChunk(1, 1));
    stream.done();
  });
  const run = await start(worlds[0]!);
  const seen = await eventually('the second attempt writes', async () => {
    const tail = await tailOf(run);
    return tail?.attempt === 2 && tail;
  });
  expect(seen).toEqual({ attempt: 2, offset: 0, tail: 'other words' });
  expect(await pending(run)).toMatchObject({ attempt: 2 });
  release();
  expect((await run.result()).output).toBe('other words');
});

test('a codec encodes the details like any other payload', async () => {
  let release = (): void => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  server.answer(async (response) => {
    const stream = startStream(response);
    stream.send(chunk({ content: 'a secret plan' }));
    await held;
    stream.send(chunk({}, 'stop'), usageChunk(1, 1));
    stream.done();
  });
  const codec = new EncryptionCodec();
  const run = await start(await open({ dataConverter: { payloadCodecs: [codec] } }));
  const isReadable = (payloads: Payload[]): TokenTail | undefined =>
    readTokenTail(defaultPayloadConverter.fromPayload(payloads[0]!));
  const payloads = await eventually('the text', async () => {
    const { payloads: found } = (await pending(run)) ?? { payloads: [] };
    return found.length > 0 && isReadable(await codec.decode(found)) !== undefined && found;
  });
  expect(Buffer.from(payloads[0]!.metadata!['encoding']!).toString()).toBe('binary/encrypted');
  expect(Buffer.from(payloads[0]!.data!).includes('secret plan')).toBe(false);
  expect(isReadable(await codec.decode(payloads))).toEqual({ attempt: 1, offset: 0, tail: 'a secret plan' });
  release();
});

test('without streaming there is no tail', async () => {
  let release = (): void => {};
  const held = new Promise<void>((resolve) => (release = resolve));
  let isAsked = false;
  server.answer(async (response) => {
    isAsked = true;
    await held;
    response.setHeader('content-type', 'application/json');
    const choices = [{ index: 0, message: { role: 'assistant', content: 'whole' }, finish_reason: 'stop' }];
    response.end(JSON.stringify({ id: 'c', created: 0, model: 'm', choices }));
  });
  const run = await start(await open({}, 'off'));
  await eventually('the model is asked', () => isAsked);
  const heartbeat = await eventually('a heartbeat', async () => {
    const found = await pending(run);
    return found !== undefined && found.payloads.length > 0 && found;
  });
  expect(defaultPayloadConverter.fromPayload(heartbeat.payloads[0]!)).toBeUndefined();
  release();
  expect((await run.result()).output).toBe('whole');
});
