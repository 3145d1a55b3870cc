import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { RecordedEvent } from '../../../src/client.ts';
import type { Receipt } from '../../../src/contract.ts';
import { openAICompatible } from '../../../src/index.ts';
import type { ScriptedTurn } from '../../../src/models/scripted.ts';
import { completion, reply, startChatServer, type ChatServer } from '../../support/chat-completions-server.ts';
import { eventually } from '../../support/eventually.ts';
import { testAgent } from '../../support/test-agent.ts';
import { openWorld, type RunInTest, type Turns, type World } from '../../support/world.ts';

/** A model call that fails ends a run, but not a session: its user says something else, or has the model asked again. */

let server: ChatServer;
let world: World;
/** The status with which the provider refuses; undefined: it answers. */
let refusal: number | undefined;
beforeAll(async () => {
  server = await startChatServer();
  server.answer((response, { body: { messages } }) => {
    if (refusal !== undefined) return reply(response, refusal, {});
    const script = messages.find(({ role }) => role === 'user')!.content as string;
    const turn = messages.filter(({ role }) => role === 'assistant').length;
    const { text, calls = [] } = (JSON.parse(script) as ScriptedTurn[])[turn]!;
    const asked = calls.map(({ tool, args }, index) => ({ id: `c-${index}`, name: tool, args: args as object }));
    reply(response, 200, completion({ content: text, ...(asked.length > 0 && { calls: asked }) }));
  });
  const model = openAICompatible({ baseURL: server.baseURL, apiKey: 'a-key', model: 'm' });
  world = await openWorld({
    continueAsNewAfter: { historyEvents: 60 },
    agentsIn: (folder) => {
      const tester = { ...testAgent(folder), model };
      return [
        { ...tester, modelCall: { stream: 'off' as const } },
        { ...tester, name: 'hasty', modelCall: { stream: 'off' as const, maxAttempts: 1 } },
      ];
    },
  });
});
beforeEach(() => {
  refusal = undefined;
});
afterAll(async () => {
  await world.close();
  await server.close();
});

const refused = {
  code: 'model_refused',
  message: expect.stringMatching(/^The model at 127\.0\.0\.1:\d+ refused the request \(401\): check its API key/),
};
const retry = { retry: true } as const;

function start(turns: Turns, input: object = {}): Promise<RunInTest> {
  return world.start(turns, { session: true, ...input });
}

function tell(run: RunInTest, message: object): Promise<Receipt> {
  return run.handle.executeUpdate<Receipt, [object]>('message', { args: [message] });
}

async function failed(run: RunInTest, turn = 1): Promise<void> {
  await eventually(`turn ${turn} fails`, async () => (await run.status()).failedTurn?.turn === turn);
}

async function answered(run: RunInTest, turn: number): Promise<void> {
  await eventually(`turn ${turn}`, async () => {
    const status = await run.status();
    return status.turn === turn && status.awaitsMessage === true && status.failedTurn === undefined;
  });
}

async function events(run: RunInTest): Promise<RecordedEvent[]> {
  const found: RecordedEvent[] = [];
  for await (const event of world.client.events(run.workflowId, { follow: false })) found.push(event as RecordedEvent);
  return found;
}

describe('a session whose model call was refused', () => {
  test('waits for its user and says why; a retry asks the model the same again, once', async () => {
    refusal = 401;
    const run = await start([{ text: 'hello' }]);
    await failed(run);
    expect(await run.status()).toMatchObject({
      status: 'running',
      turn: 0,
      awaitsMessage: true,
      failedTurn: { turn: 1, ...refused },
    });
    refusal = undefined;
    const again = { ...retry, by: 'carl', reason: 'the key is mended', messageId: 'again' };
    expect(await tell(run, again)).toEqual({ requestId: '', accepted: true, message: 'the model is asked again' });
    expect((await run.handle.executeUpdate<Receipt, [object]>('message', { args: [again] })).accepted).toBe(true);
    await answered(run, 1);
    expect(await run.transcript()).toEqual(['assistant: hello']);
    await run.handle.signal('close');
    expect(await run.result()).toMatchObject({ status: 'closed', output: 'hello' });
    const { entries } = await world.client.journal(run.workflowId);
    const digest = createHash('sha256').update('{"retry":true}').digest('hex');
    expect(entries.filter(({ kind }) => kind === 'message')).toEqual([
      expect.objectContaining({ reviewerId: 'carl', reason: 'the key is mended', digest }),
    ]);
    const lines = [];
    for await (const line of world.client.audit(run.workflowId)) lines.push(line);
    const entry = lines.find((line) => 'entry' in line && line.entry.kind === 'message');
    expect(entry).toMatchObject({ context: { message: { via: 'update' } } });
  });

  test('its events say so, and that the run is not over', async () => {
    refusal = 401;
    const run = await start([{ text: 'hello' }]);
    await failed(run);
    expect((await events(run)).map((event) => (event.type === 'RunItemEvent' ? event.item : event.type))).toEqual([
      expect.objectContaining({ type: 'message', role: 'user' }),
      { type: 'turn_ended', turn: 1, failure: refused },
    ]);
    await run.handle.signal('close');
    expect(await run.result()).toMatchObject({ status: 'closed', output: '' });
    expect((await events(run)).at(-1)).toMatchObject({ type: 'RunCompleteEvent', status: 'closed' });
    expect(await run.status()).toMatchObject({ status: 'closed' });
  });

  test('after an approved tool ran: a message goes on, and the tool ran once', async () => {
    const run = await start([{ calls: [{ tool: 'pay', args: { to: 'ann', amount: 7 } }] }, { text: 'paid' }]);
    const [request] = await run.open();
    refusal = 400;
    await run.handle.signal('decide', { requestId: request!.requestId, approved: true });
    await failed(run, 2);
    refusal = undefined;
    expect(await tell(run, { content: 'And?' })).toMatchObject({ accepted: true });
    await answered(run, 2);
    expect(await run.transcript()).toEqual(['assistant: ', 'tool: paid 7 to ann', 'user: And?', 'assistant: paid']);
    expect(world.ran()).toEqual(['pay ann 7']);
    await run.handle.terminate();
  });

  test('a message that came meanwhile asks at once; each failure is told', async () => {
    refusal = 401;
    const run = await start([{ text: 'hello' }]);
    await failed(run);
    await tell(run, { content: 'Still there?' });
    await eventually('the second failure', async () => {
      const turns = (await events(run)).filter(
        (event) => event.type === 'RunItemEvent' && event.item.type === 'turn_ended',
      );
      return turns.length === 2;
    });
    await failed(run);
    refusal = undefined;
    await tell(run, retry);
    await answered(run, 1);
    expect(await run.transcript()).toEqual(['user: Still there?', 'assistant: hello']);
    await run.handle.terminate();
  });

  test('continues as new with it, and is asked again there', async () => {
    refusal = 401;
    const run = await start([{ text: 'hello' }]);
    await failed(run);
    await eventually('the run continues as new', async () => {
      await run.handle.signal('noise');
      return (await run.status()).executions > 1;
    });
    expect(await run.status()).toMatchObject({ awaitsMessage: true, failedTurn: { turn: 1, ...refused } });
    refusal = undefined;
    await run.handle.signal('message', retry);
    await answered(run, 1);
    await run.handle.terminate();
  });

  test('is cancelled like any other', async () => {
    refusal = 401;
    const run = await start([{ text: 'hello' }]);
    await failed(run);
    await run.handle.cancel();
    expect(await run.result()).toMatchObject({ status: 'cancelled' });
  });
});

test('an outage that outlasts all attempts leaves a session open as well', async () => {
  refusal = 503;
  const run = await start([{ text: 'hello' }], { agent: 'hasty' });
  await failed(run);
  expect((await run.status()).failedTurn).toMatchObject({ code: 'model_unavailable' });
  refusal = undefined;
  await tell(run, retry);
  await answered(run, 1);
  await run.handle.terminate();
});

test('a retry of what has not failed is refused, also the second of two at once', async () => {
  const run = await start([{ text: 'hello' }, { text: 'there' }]);
  await answered(run, 1);
  const nothing = { code: 'invalid_message', message: expect.stringContaining('there is nothing to retry') };
  await expect(world.client.message(run.workflowId, retry)).rejects.toMatchObject(nothing);
  refusal = 401;
  await tell(run, { content: 'more' });
  await failed(run, 2);
  refusal = undefined;
  const both = await Promise.allSettled([1, 2].map(() => world.client.message(run.workflowId, retry)));
  expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  expect(both.find(({ status }) => status === 'rejected')).toMatchObject({ reason: nothing });
  await run.handle.terminate();
});

test('a run that is no session ends with it, and its code is told wherever the failure is', async () => {
  refusal = 401;
  const run = await world.start([{ text: 'hello' }]);
  await expect(world.client.run(run.workflowId).result()).rejects.toMatchObject({
    code: 'model_refused',
    message: expect.stringContaining('refused the request (401)'),
  });
  expect((await events(run)).at(-1)).toMatchObject({ type: 'RunCompleteEvent', status: 'failed', failure: refused });
  expect(await world.client.show(run.workflowId)).toMatchObject({
    status: 'failed',
    failure: { code: 'model_refused' },
  });
  expect((await events(run)).filter(({ type }) => type === 'RunItemEvent')).toHaveLength(1);
});
