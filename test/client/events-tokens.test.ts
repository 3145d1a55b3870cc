import { afterAll, beforeAll, expect, test } from 'vitest';
import { defineAgent } from '../../src/agents/define-agent.ts';
import type { RawResponseEvent, RunEvent } from '../../src/events/run-event.ts';
import { openAICompatible } from '../../src/models/openai-compatible.ts';
import {
  chunk,
  startChatServer,
  startStream,
  usageChunk,
  type ChatServer,
} from '../support/chat-completions-server.ts';
import { eventually } from '../support/eventually.ts';
import { type World, openWorld } from '../support/world.ts';

/** What viewers of a run see of an answer that the model is still writing. */

let server: ChatServer;
let world: World;
beforeAll(async () => {
  server = await startChatServer();
  const model = openAICompatible({ baseURL: server.baseURL, model: 'm' });
  const agent = defineAgent({ name: 'tester', instructions: 'Write.', model, modelCall: { maxAttempts: 2 } });
  world = await openWorld({ agentsIn: () => [agent] });
});
afterAll(async () => {
  await world.close();
  await server.close();
});

/** Pieces of an answer, which a test sends one by one; `end` completes the answer, `fail` breaks it off. */
interface Writer {
  write(text: string): Promise<void>;
  end(): Promise<void>;
  fail(): Promise<void>;
}

/** Each request for an answer gets a writer. */
function writers(): { next(): Promise<Writer> } {
  const waiting: Writer[] = [];
  server.answer(
    (response) =>
      new Promise<void>((done) => {
        const stream = startStream(response);
        waiting.push({
          write: (content) => {
            stream.send(chunk({ content }));
            return Promise.resolve();
          },
          end: async () => {
            stream.send(chunk({}, 'stop'), usageChunk(1, 1));
            stream.done();
            done();
          },
          fail: async () => {
            response.destroy();
            done();
          },
        });
      }),
  );
  return { next: () => eventually('a request to the model', () => waiting.shift()) };
}

/** A viewer, and what it has seen. */
function watch(workflowId: string): { events: RunEvent[]; ended: Promise<void>; text(): string } {
  const events: RunEvent[] = [];
  const ended = (async () => {
    for await (const event of world.client.events(workflowId)) events.push(event);
  })();
  return {
    events,
    ended,
    text: () =>
      tokens(events)
        .map(({ delta }) => delta)
        .join(''),
  };
}

const tokens = (events: readonly RunEvent[]): RawResponseEvent[] =>
  events.filter((event) => event.type === 'RawResponseEvent');

test('text arrives while it is written; a late viewer gets the tail; the message comes last', async () => {
  const model = writers();
  const run = await world.start([], { input: 'Write' });
  const early = watch(run.workflowId);
  const writer = await model.next();
  await writer.write('Once ');
  await eventually('the first text', () => early.text() === 'Once ');
  await writer.write('upon ');
  await eventually('the second text', () => early.text() === 'Once upon ');
  const late = watch(run.workflowId);
  await eventually('the tail', () => late.text() === 'Once upon ');
  expect(tokens(late.events)).toMatchObject([{ turn: 1, offset: 0, delta: 'Once upon ' }]);
  expect(tokens(early.events).map(({ offset }) => offset)).toEqual([0, 5]);
  await writer.end();
  await Promise.all([early.ended, late.ended]);
  expect(early.events.at(-2)).toMatchObject({ item: { type: 'message', content: 'Once upon ' } });
  expect(early.events.findLastIndex(({ type }) => type === 'RawResponseEvent')).toBeLessThan(early.events.length - 2);
});

test('a viewer who comes after 8 KB is told how much is hidden', async () => {
  const model = writers();
  const run = await world.start([], { input: 'Write' });
  const writer = await model.next();
  await writer.write('x'.repeat(20_000));
  await writer.write('end');
  const viewer = watch(run.workflowId);
  await eventually('the tail', () => viewer.text().endsWith('xend'));
  const [first] = tokens(viewer.events);
  expect(first!.hidden).toBe(first!.offset);
  expect(first!.offset).toBeGreaterThan(11_000);
  await writer.end();
  await viewer.ended;
});

test('a retry starts over at offset 0', async () => {
  const model = writers();
  const run = await world.start([], { input: 'Write' });
  const viewer = watch(run.workflowId);
  const broken = await model.next();
  await broken.write('Never mind');
  await eventually('the first attempt', () => viewer.text() === 'Never mind');
  await broken.fail();
  const writer = await model.next();
  await writer.write('Again');
  await eventually('the second attempt', () => viewer.text() === 'Never mindAgain');
  expect(tokens(viewer.events).at(-1)).toMatchObject({ turn: 1, offset: 0, delta: 'Again' });
  await writer.end();
  await viewer.ended;
});

test('viewers add no event to the history, and one describe serves them all', async () => {
  const { workflowService } = world.client.session.connection;
  const describeRun = workflowService.describeWorkflowExecution.bind(workflowService);
  let [open, most] = [0, 0];
  workflowService.describeWorkflowExecution = (async (request: object) => {
    most = Math.max(most, ++open);
    try {
      return await describeRun(request);
    } finally {
      open -= 1;
    }
  }) as never;
  try {
    const lengths: number[] = [];
    for (const viewers of [0, 10]) {
      const model = writers();
      const run = await world.start([], { input: 'Write' });
      const writer = await model.next();
      const watching = Array.from({ length: viewers }, () => watch(run.workflowId));
      await writer.write('Hello');
      await eventually('all see it', () => watching.every((each) => each.text() === 'Hello'));
      most = 0;
      await writer.write(' world');
      await eventually('all see it', () => watching.every((each) => each.text() === 'Hello world'));
      if (viewers > 0) expect(most).toBe(1);
      await writer.end();
      await Promise.all(watching.map(({ ended }) => ended));
      await run.result();
      lengths.push((await run.handle.describe()).historyLength);
    }
    expect(lengths[1]).toBe(lengths[0]);
  } finally {
    workflowService.describeWorkflowExecution = describeRun;
  }
});
