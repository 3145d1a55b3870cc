import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LanguageModelV4, LanguageModelV4Prompt } from '@ai-sdk/provider';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { defineAgent } from '../../../src/agents/define-agent.ts';
import type { RecordedEvent } from '../../../src/client.ts';
import { createClient } from '../../../src/client/client.ts';
import type { ApprovalDetails, Message, Receipt, UserFile } from '../../../src/contract.ts';
import { scriptedModel } from '../../../src/models/scripted.ts';
import { eventually } from '../../support/eventually.ts';
import { promptScripted } from '../../support/prompt-scripted.ts';
import { sharedAddress } from '../../support/shared-server.ts';
import { testAgent } from '../../support/test-agent.ts';
import { startWireServer, type WireServer } from '../../models/wire/wire-server.ts';
import { openWorld, type RunInTest, type Turns, type World } from '../../support/world.ts';

/** Files and pictures that a user sends: to an agent that takes them, and to one that does not. */

let world: World;
let blind: WireServer;
const folder = mkdtempSync(join(tmpdir(), 'countersign-files-'));
/** What the models were given, newest last. */
let prompts: LanguageModelV4Prompt[] = [];
beforeEach(() => {
  prompts = [];
});

function recording(model: LanguageModelV4): LanguageModelV4 {
  return {
    ...model,
    doStream: (options) => {
      prompts.push(options.prompt);
      return model.doStream(options);
    },
  };
}

const files = { types: ['image/png', 'application/pdf'], maxFiles: 3, hosts: ['*.example.com'] };

beforeAll(async () => {
  blind = await startWireServer('deepseek', [{ text: 'Blind.' }, { text: 'Still blind.' }]);
  world = await openWorld({
    continueAsNewAfter: { historyEvents: 40 },
    agentsIn: (place) => {
      const { tools } = testAgent(place);
      const of = (name: string, more: object = {}) =>
        defineAgent({
          name,
          instructions: '',
          model: recording(promptScripted()),
          tools,
          policy: { version: 1, rules: [{ pattern: 'look', action: 'allow' }] },
          ...more,
        });
      const second = of('second', { model: recording(scriptedModel([{ text: 'never' }, { text: 'Mine.' }])) });
      return [of('sees', { files, handoffs: [second] }), second, of('blind', { files, model: blind.model })];
    },
  });
});
afterAll(async () => {
  await world.close();
  await blind.close();
  rmSync(folder, { recursive: true });
});

const png: UserFile = { mediaType: 'image/png', url: 'data:image/png;base64,iVBORw0K', filename: 'cat.png' };
const pdf: UserFile = { mediaType: 'application/pdf', url: 'https://files.example.com/a.pdf' };
const partOf = {
  png: { type: 'file', mediaType: 'image/png', filename: 'cat.png', data: { type: 'data', data: 'iVBORw0K' } },
  pdf: { type: 'file', mediaType: 'application/pdf', data: { type: 'url', url: new URL(pdf.url) } },
};

function start(turns: Turns, given: UserFile[], more: object = {}): Promise<RunInTest> {
  const input: Message[] = [{ role: 'user', content: JSON.stringify(turns), files: given }];
  return world.start([], { agent: 'sees', input, session: true, ...more });
}

function tell(run: RunInTest, message: object): Promise<Receipt> {
  return run.handle.executeUpdate<Receipt, [object]>('message', { args: [message] });
}

function awaits(run: RunInTest, what: object): Promise<unknown> {
  const wanted = expect.objectContaining({ awaitsMessage: true, ...what });
  return eventually(JSON.stringify(what), async () => wanted.asymmetricMatch(await run.status()));
}

async function itemsOf({ workflowId }: RunInTest): Promise<object[]> {
  const found: RecordedEvent[] = [];
  for await (const event of world.client.events(workflowId, { follow: false })) found.push(event as RecordedEvent);
  return found.flatMap((event) => (event.type === 'RunItemEvent' ? [event.item] : []));
}

const userPartsOf = (prompt: LanguageModelV4Prompt | undefined): unknown[] =>
  (prompt ?? []).filter(({ role }) => role === 'user').map(({ content }) => content);

test('they reach the model at every turn, and people see their names, also in a new execution', async () => {
  const looks = { calls: [1, 2, 3, 4].map((what) => ({ tool: 'look', args: { what: String(what) } })) };
  const run = await start([{ text: 'one' }, looks, looks, { text: 'two' }, { text: 'three' }], [png, pdf]);
  await awaits(run, { turn: 1 });
  await tell(run, { content: 'This?  And that?', files: [{ ...png, at: 6 }] });
  await awaits(run, { turn: 4 });
  await tell(run, { content: '', files: [png], messageId: 'm1' });
  await awaits(run, { turn: 5 });
  expect((await run.status()).executions).toBeGreaterThan(1);
  expect(userPartsOf(prompts.at(-1))).toEqual([
    [partOf.png, partOf.pdf, { type: 'text', text: expect.any(String) }],
    [{ type: 'text', text: 'This? ' }, partOf.png, { type: 'text', text: ' And that?' }],
    [partOf.png],
  ]);

  const shown = { mediaType: 'image/png', bytes: 6, filename: 'cat.png' };
  const said = (await itemsOf(run)).filter((item) => 'role' in item && item.role === 'user');
  expect(said).toEqual([
    expect.objectContaining({ files: [shown, { mediaType: 'application/pdf', host: 'files.example.com' }] }),
    { type: 'message', role: 'user', content: 'This?  And that?', files: [shown] },
    { type: 'message', role: 'user', content: '', files: [shown], messageId: 'm1' },
  ]);
  const transcript = await run.handle.query<Message[]>('transcript');
  expect(transcript.at(-2)).toEqual({
    role: 'user',
    content: '',
    files: [{ ...png, url: 'data:image/png;base64,' }],
    messageId: 'm1',
  });

  // A repeated message is known, also by its files.
  expect(await tell(run, { content: '', files: [png], messageId: 'm1' })).toMatchObject({ accepted: true });
  const other = { content: '', files: [{ ...png, url: 'data:image/png;base64,AAAA' }], messageId: 'm1' };
  await expect(tell(run, other)).rejects.toMatchObject({
    cause: { message: `another message has the id 'm1' already: give each message its own id` },
  });
  expect((await run.status()).turn).toBe(5);
  await run.handle.signal('close', {});
  expect(await run.result()).toMatchObject({ status: 'closed' });
});

test('a card says what the user has sent, and never shows it', async () => {
  const run = await start([{ calls: [{ tool: 'pay', args: { to: 'ann', amount: 1 } }] }, { text: 'Paid.' }], [png]);
  const [request] = await run.open();
  expect(request!.contextSummary).toMatch(/\n\[1 picture \(image\/png, 6 B, "cat\.png"\)\]$/);
  await tell(run, { content: '', files: [{ ...png, filename: 'mail ann@example.com.png' }] });
  const details = await run.handle.query<ApprovalDetails, [object]>('approvals', { requestId: request!.requestId });
  expect(details.userMessages).toEqual({
    count: 1,
    last: ['[1 picture (image/png, 6 B, "mail [EMAIL …png · c628]")]'],
  });
  expect(JSON.stringify(details)).not.toContain('iVBORw0K');
  await run.handle.signal('decide', { requestId: request!.requestId, approved: false });
  await awaits(run, { turn: 2 });
  await run.handle.signal('close', {});
});

/** Who may send a file: a starter, and whoever may signal or update a session. */
const refused: [string, UserFile[], string][] = [
  ['another type', [{ mediaType: 'image/gif', url: 'data:image/gif;base64,AAAA' }], `agent 'sees' takes no image/gif`],
  ['too many', [png, png, png, png], `agent 'sees' takes at most 3 files in one message`],
  [
    'a large one',
    [{ ...png, url: `data:image/png;base64,${'AAAA'.repeat(240_000)}` }],
    'the files of one message have 720 kB; at most 700 kB',
  ],
  ['a malformed data URL', [{ ...png, url: 'data:image/png;base64,AAA' }], `'files.0.url' is no base64`],
  ['a broken data URL', [{ ...png, url: 'data:image/png,AAA' }], `'files.0' needs a 'url'`],
  ...['file:///etc/passwd', 'http://files.example.com/a', 'javascript:alert(1)'].map(
    (url): [string, UserFile[], string] => [url, [{ ...pdf, url }], `'files.0' needs a 'url'`],
  ),
  ['another host', [{ ...pdf, url: 'https://10.0.0.1/a' }], `agent 'sees' takes no files from '10.0.0.1'`],
];

describe('refused in one sentence', () => {
  let session: RunInTest;
  beforeAll(async () => {
    session = await world.start([{ text: 'one' }], { agent: 'sees', session: true });
    await awaits(session, { turn: 1 });
  });

  test.each(refused)('%s, of a starter', async (_what, given, sentence) => {
    const run = await start([{ text: 'never' }], given);
    await expect(run.result()).rejects.toMatchObject({
      code: expect.stringMatching(/^(arguments_invalid|too_large)$/),
      message: expect.stringContaining(`The run's 'input.0': ${sentence}`),
    });
    expect(prompts).toEqual([]);
  });

  test.each(refused)('%s, of a message', async (_what, given, sentence) => {
    await expect(tell(session, { content: 'Look', files: given })).rejects.toMatchObject({
      cause: { message: expect.stringContaining(sentence) },
    });
    const before = (await session.status()).counts.refused;
    await session.handle.signal('message', { content: 'Look', files: given });
    await eventually('the signal is refused', async () => (await session.status()).counts.refused === before + 1);
    expect(await session.status()).toMatchObject({ turn: 1, awaitsMessage: true });
  });

  test.each([{ retry: true }, { stop: true }])('a file beside %j', async (wordless) => {
    await expect(tell(session, { ...wordless, files: [png] })).rejects.toMatchObject({
      cause: { message: expect.stringContaining(`give one of 'content', 'retry' and 'stop'`) },
    });
  });

  test('an agent that takes none', async () => {
    const run = await start([{ text: 'never' }], [png], { agent: 'second' });
    await expect(run.result()).rejects.toMatchObject({
      code: 'arguments_invalid',
      message: expect.stringContaining(`agent 'second' takes no files and pictures: send text, or declare its 'files'`),
    });
  });
});

test('a model that takes none fails the turn, and the session goes on without the file', async () => {
  const run = await world.start([], { agent: 'blind', session: true, input: 'Hello' });
  await awaits(run, { turn: 1 });
  await tell(run, { content: 'What is this?', files: [png] });
  const message = expect.stringMatching(/^The input with 1 picture \(image\/png, 6 B, "cat\.png"\) was refused, which/);
  await awaits(run, { failedTurn: { code: 'input_refused', message, turn: 2 } });
  expect((await itemsOf(run)).at(-1)).toMatchObject({
    type: 'turn_ended',
    failure: { code: 'input_refused', message },
  });
  await tell(run, { content: 'Then without it.' });
  await awaits(run, { turn: 2 });
  const { messages } = blind.requests.at(-1) as { messages: { content: unknown }[] };
  expect(messages.map(({ content }) => content)).toEqual(['Hello', 'Blind.', 'Then without it.']);
  // The user, the client and the events still see that it was sent.
  expect((await run.handle.query<Message[]>('transcript'))[2]).toHaveProperty('files');
  await run.handle.signal('close', {});
});

test('an agent that takes over without taking files is told that there were some, and takes no more', async () => {
  const run = await start([{ calls: [{ tool: 'transfer_to_second', args: {} }] }, { text: 'Mine.' }], [png]);
  await awaits(run, { turn: 2 });
  expect(userPartsOf(prompts.at(-1))).toEqual([
    [
      { type: 'text', text: `[Left out: 1 picture (image/png, 6 B, "cat.png"): agent 'second' takes no image/png]` },
      { type: 'text', text: expect.any(String) },
    ],
  ]);
  await expect(tell(run, { content: 'Look', files: [png] })).rejects.toMatchObject({
    cause: { message: expect.stringContaining(`agent 'second' takes no files and pictures`) },
  });
  await run.handle.signal('close', {});
});

test('a file of megabytes travels by reference where payloads do', async () => {
  const largePayloads = { folder };
  await world.stopWorker();
  await world.startWorker({ largePayloads });
  const client = await createClient({ address: sharedAddress(), taskQueue: world.taskQueue, largePayloads });
  try {
    const large = { ...png, url: `data:image/png;base64,${'AAAA'.repeat(1_000_000)}` };
    const input: Message[] = [
      { role: 'user', content: JSON.stringify([{ text: 'one' }, { text: 'two' }]), files: [large] },
    ];
    const run = world.run((await client.start('sees', input, { session: true })).workflowId);
    await awaits(run, { turn: 1 });
    const timeoutMs = 60_000;
    const said = await client.message(run.workflowId, { content: '', files: [large] }, { timeoutMs });
    expect(said).toMatchObject({ accepted: true });
    await awaits(run, { turn: 2 });
    expect(JSON.stringify(userPartsOf(prompts.at(-1))).length).toBeGreaterThan(8_000_000);
    const more = client.message(run.workflowId, { content: '', files: [large, large] });
    await expect(more).rejects.toMatchObject({
      code: 'too_large',
      message: 'the files have 6 MB in all; at most 4 MB',
    });
    await run.handle.signal('close', {});
  } finally {
    await client.close();
    await world.stopWorker();
    await world.startWorker();
  }
});
