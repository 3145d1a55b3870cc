import type { LanguageModelV4, LanguageModelV4Prompt } from '@ai-sdk/provider';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { workflowOf, type ChatThread } from '../../../packages/gateway/src/http/chat/chat-thread.ts';
import type { Message } from '../../../src/contract.ts';
import { defineAgent } from '../../../src/agents/define-agent.ts';
import { byHeader, chat, type ChatEvent } from './chat-calls.ts';
import { eventually } from '../../support/eventually.ts';
import { type GatewayWorld, openGatewayWorld } from '../../support/gateway-world.ts';
import { promptScripted } from '../../support/prompt-scripted.ts';
import { testAgent } from '../../support/test-agent.ts';
import { openUseChat } from './use-chat.ts';

/** Files and pictures of a front end, by both protocols and by the routes of runs. */

let world: GatewayWorld;
const prompts: LanguageModelV4Prompt[] = [];
beforeAll(async () => {
  const model = promptScripted();
  const recorded: LanguageModelV4 = {
    ...model,
    doStream: (options) => {
      prompts.push(options.prompt);
      return model.doStream(options);
    },
  };
  const files = { types: ['image/png'], maxBytes: 1_000, hosts: ['files.example.com'] };
  world = await openGatewayWorld(
    {
      agentsIn: (folder) => [
        testAgent(folder),
        defineAgent({ name: 'sees', instructions: '', model: recorded, files, modelCall: { maxAttempts: 1 } }),
      ],
    },
    { authenticator: byHeader() },
  );
});
afterAll(() => world.close());

const data = 'iVBORw0K';
const url = `data:image/png;base64,${data}`;
const address = 'https://files.example.com/cat.png';
const picture = { type: 'file', mediaType: 'image/png', data: { type: 'data', data } };
const linked = { type: 'file', mediaType: 'image/png', data: { type: 'url', url: new URL(address) } };
const script = (...texts: string[]): string => JSON.stringify(texts.map((text) => ({ text })));

/** The parts of the last message of the user that a model was given. */
const lastSaid = (): unknown => prompts.at(-1)!.findLast(({ role }) => role === 'user')!.content;
const answerOf = (events: ChatEvent[]): string =>
  events
    .map((each) => (['text-delta', 'TEXT_MESSAGE_CONTENT'].includes(each.type) ? String(each['delta']) : ''))
    .join('');
const errorOf = (events: ChatEvent[]): unknown => events.find(({ type }) => ['error', 'RUN_ERROR'].includes(type));

interface Said {
  id: string;
  parts: object[];
}
const protocols: [name: string, path: string, body: (thread: string, said: Said[]) => object][] = [
  [
    'AI SDK',
    '/ai-sdk',
    (id, said) => ({ id, messages: said.map((each) => ({ ...each, role: 'user' })), trigger: 'submit-message' }),
  ],
  [
    'AG-UI',
    '/ag-ui',
    (threadId, said) => ({
      threadId,
      runId: crypto.randomUUID(),
      messages: said.map(({ id, parts }) => ({ id, role: 'user', content: parts })),
    }),
  ],
];
const partOf: Record<string, (given: string) => object> = {
  'AI SDK': (given) => ({ type: 'file', mediaType: 'image/png', url: given, filename: 'cat.png' }),
  'AG-UI': (given) =>
    given.startsWith('data:')
      ? { type: 'binary', mimeType: 'image/png', data: given.slice(given.indexOf(',') + 1), filename: 'cat.png' }
      : { type: 'image', source: { type: 'url', value: given, mimeType: 'image/png' } },
};

describe.each(protocols)('%s', (name, path, body) => {
  const part = partOf[name]!;
  const text = (said: string): object => ({ type: 'text', text: said });

  test('a picture begins a thread, goes between texts, and is the whole of a message', async () => {
    const thread = `files-${crypto.randomUUID()}`;
    const say = (id: string, ...parts: object[]) => chat(world, `${path}/sees`, body(thread, [{ id, parts }]));
    expect(answerOf(await say('a', part(url), text(script('one', 'two', 'three'))))).toBe('one');
    expect(lastSaid()).toEqual([expect.objectContaining(picture), text(script('one', 'two', 'three'))]);
    expect(answerOf(await say('b', text('This: '), part(url), text('?')))).toBe('two');
    expect(lastSaid()).toEqual([text('This: '), expect.objectContaining(picture), text('?')]);
    expect(answerOf(await say('c', part(address)))).toBe('three');
    expect(lastSaid()).toEqual([expect.objectContaining(linked)]);
    // Said again, it is known; with another picture, it is another message.
    const count = prompts.length;
    await say('c', part(address));
    expect(prompts).toHaveLength(count);
  });

  test('an agent that takes none says so, in a new thread and in one that is open', async () => {
    const thread = `none-${crypto.randomUUID()}`;
    const sentence = expect.stringContaining(
      `agent 'tester' takes no files and pictures: send text, or declare its 'files'`,
    );
    const events = await chat(world, `${path}/tester`, body(thread, [{ id: 'a', parts: [text('See'), part(url)] }]));
    const error = errorOf(events) as { message?: string; errorText?: string };
    expect(error.message ?? error.errorText).toEqual(sentence);
    const open = `open-${crypto.randomUUID()}`;
    await chat(world, `${path}/tester`, body(open, [{ id: 'a', parts: [text(script('one'))] }]));
    const response = await world.call('POST', `${path}/tester`, body(open, [{ id: 'b', parts: [part(url)] }]), {
      'x-person': 'ann',
    });
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ code: 'invalid_message', detail: sentence });
  });

  test.each([
    ['another type', 'data:text/html;base64,AAAA', `needs a 'url'`],
    ['a large one', `data:image/png;base64,${'AAAA'.repeat(400)}`, 'at most 1 kB'],
    ['a malformed data URL', 'data:image/png;base64,AAA', 'is no base64'],
    ['a file of the server', 'file:///etc/passwd', `needs a 'url'`],
    ['another scheme', 'http://files.example.com/cat.png', `needs a 'url'`],
    ['a script', 'javascript:alert(1)', `needs a 'url'`],
    ['another host', 'https://169.254.169.254/cat.png', `takes no files from '169.254.169.254'`],
  ])('refused: %s', async (_what, given, sentence) => {
    const thread = `bad-${crypto.randomUUID()}`;
    await chat(world, `${path}/sees`, body(thread, [{ id: 'a', parts: [text(script('one'))] }]));
    const parts = [name === 'AG-UI' ? { type: 'binary', mimeType: 'image/png', url: given } : part(given)];
    const response = await world.call('POST', `${path}/sees`, body(thread, [{ id: 'b', parts }]), {
      'x-person': 'ann',
    });
    expect([413, 422]).toContain(response.status);
    expect(await response.json()).toMatchObject({ detail: expect.stringContaining(sentence) });
  });

  test('a file that cannot be read at all, and too many', async () => {
    for (const parts of [
      [{ type: name === 'AG-UI' ? 'binary' : 'file', id: 'stored' }],
      Array.from({ length: 21 }, () => part(url)),
    ]) {
      const sent = body(`x-${crypto.randomUUID()}`, [{ id: 'a', parts }]);
      const response = await world.call('POST', `${path}/sees`, sent, { 'x-person': 'ann' });
      expect(response.status).toBe(422);
      expect(await response.json()).toMatchObject({
        detail: expect.stringMatching(/has text, and files|1 to 20 files/),
      });
    }
  });
});

test('a session that follows an ended one is told in words what it is not shown again', async () => {
  const threadId = `ended-${crypto.randomUUID()}`;
  const [, path, body] = protocols[0]!;
  const say = (id: string, ...parts: object[]) => chat(world, `${path}/sees`, body(threadId, [{ id, parts }]));
  const file = partOf['AI SDK']!;
  await say('a', file(url), { type: 'text', text: script('one', 'two') });
  const principal = { id: 'ann', key: 'token:ann' } as ChatThread['principal'];
  const { workflowId } = world.run(workflowOf({ client: world.client, principal, agent: 'sees', threadId }, 0));
  await world.client.closeRun(workflowId);
  await world.run(workflowId).result();
  await say('b', { type: 'text', text: 'And now?' }).catch(() => undefined);
  const next = world.run(workflowOf({ client: world.client, principal, agent: 'sees', threadId }, 1));
  const [first] = await next.handle.query<Message[]>('transcript');
  expect(first).toEqual({
    role: 'user',
    content: `${script('one', 'two')}\n[1 picture (image/png, "cat.png")]`,
    messageId: expect.stringMatching(/^chat-/),
  });
  await next.handle.terminate();
});

test('useChat sends a picture beside a text', async () => {
  const page = openUseChat(world, { agent: 'sees' });
  await page.chat.sendMessage({
    text: script('A cat.'),
    files: [{ type: 'file', mediaType: 'image/png', url, filename: 'cat.png' }],
  });
  expect(await page.text()).toBe('A cat.');
  expect(lastSaid()).toEqual([expect.objectContaining(picture), { type: 'text', text: script('A cat.') }]);
});

test('the routes of runs take files', async () => {
  const input = [{ role: 'user', content: script('one', 'two'), files: [{ mediaType: 'image/png', url }] }];
  const headers = { 'x-person': 'ann' };
  const started = await world.call('POST', '/runs', { agent: 'sees', input, session: true }, headers);
  const { workflowId } = (await started.json()) as { workflowId: string };
  await eventually('it awaits a message', async () => (await world.run(workflowId).status()).awaitsMessage);
  const message = { content: '', files: [{ mediaType: 'image/png', url, filename: 'cat.png' }] };
  const sent = await world.call('POST', `/runs/${workflowId}/messages`, message, headers);
  expect(await sent.json()).toMatchObject({ accepted: true });
  const bad = await world.call(
    'POST',
    '/runs',
    { agent: 'sees', input: [{ ...input[0], files: [{ mediaType: 'image/png', url: 'file:///a' }] }] },
    headers,
  );
  expect(bad.status).toBe(422);
  await world.client.closeRun(workflowId);
});
