import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Message } from '../../src/contract.ts';
import { askModel, type RawTurn } from '../../src/models/ask-model.ts';
import { toModelFailure } from '../../src/models/model-failure.ts';
import { type Script, scriptedModel } from '../../src/models/scripted.ts';
import { toPrompt } from '../../src/models/to-prompt.ts';

const user: Message = { role: 'user', content: 'Tidy up' };
const said = (content: string): Message => ({ role: 'assistant', content });
const told = (content: string): Message => ({ role: 'tool', toolCallId: 'c', toolName: 'a', content });

const play = (
  fileOrScript: string | Script,
  messages: Message[],
  signal = new AbortController().signal,
): Promise<RawTurn> => askModel(scriptedModel(fileOrScript), { prompt: toPrompt('', messages, 'test') }, signal);

describe('a script', () => {
  const script: Script = [
    { text: 'Looking', calls: [{ tool: 'list', args: { path: '.' } }, { tool: 'read' }] },
    { text: 'I was told: {{lastResult}}' },
  ];

  test('is played by the number of answers in the conversation, with the same result each time', async () => {
    const first = {
      text: 'Looking',
      calls: [
        { id: 'call_1_1', tool: 'list', arguments: '{"path":"."}' },
        { id: 'call_1_2', tool: 'read', arguments: '{}' },
      ],
      usage: { inputTokens: 0, outputTokens: 0 },
      finishReason: 'tool-calls',
    };
    expect(await play(script, [user])).toEqual(first);
    expect(await play(script, [user])).toEqual(first);
    const second = await play(script, [user, said('Looking'), told('one'), told('Denied: $& no')]);
    expect(second).toMatchObject({ text: 'I was told: Denied: $& no', calls: [], finishReason: 'stop' });
  });

  test('answers Done. after its end', async () => {
    expect(await play(script, [user, said('a'), said('b')])).toMatchObject({ text: 'Done.', calls: [] });
    expect(await play([], [user])).toMatchObject({ text: 'Done.', finishReason: 'stop' });
  });

  test('without a result inserts nothing', async () => {
    expect(await play([{ text: '[{{lastResult}}]' }], [user])).toMatchObject({ text: '[]' });
  });

  test('may use any arguments and any call id', async () => {
    const calls = [{ tool: 'a', rawArguments: '{"x":1,"x":2}', id: 'same' }];
    expect(await play([{ calls }], [user])).toMatchObject({
      text: '',
      calls: [{ id: 'same', tool: 'a', arguments: '{"x":1,"x":2}' }],
    });
  });

  test('is chosen by the exact first user message', async () => {
    const scripts: Script = { 'Tidy up': [{ text: 'tidy' }], default: [{ text: 'other' }] };
    expect(await play(scripts, [user])).toMatchObject({ text: 'tidy' });
    expect(await play(scripts, [{ ...user, content: 'Tidy' }])).toMatchObject({ text: 'other' });
    expect(await play(scripts, [{ ...user, content: 'constructor' }])).toMatchObject({ text: 'other' });
  });

  test('gives the same answer without streaming', async () => {
    const streamed = await play(script, [user]);
    const model = { ...scriptedModel(script), doStream: undefined as never };
    const whole = await askModel(model, { prompt: toPrompt('', [user], 'test') }, new AbortController().signal);
    expect(whole).toEqual(streamed);
  });

  test.each([
    [
      { status: 429, retryAfterMs: 50 },
      { kind: 'model_rate_limited', retryAfterMs: 50 },
    ],
    [{ status: 500 }, { kind: 'model_unavailable' }],
    [{ status: 401 }, { kind: 'model_refused' }],
    [{}, { kind: 'model_unavailable' }],
  ])('fails with %j as a provider does', async (error, expected) => {
    const failure = await play([{ error }], [user]).catch((caught: unknown) => toModelFailure(caught, 0));
    expect(failure).toMatchObject(expected);
  });

  test('waits, unless it is aborted', async () => {
    const reason = new Error('cancelled');
    await expect(play([{ delayMs: 60_000 }], [user], AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(await play([{ delayMs: 1, text: 'late' }], [user])).toMatchObject({ text: 'late' });
  });
});

describe('a file', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'scripted-'));
  });
  afterAll(() => rm(folder, { recursive: true }));
  const file = async (name: string, content: string): Promise<string> => {
    const path = join(folder, name);
    await writeFile(path, content);
    return path;
  };

  test.each([
    ['turns.yaml', '- text: Hello\n  calls:\n    - { tool: a, args: { n: 1 } }\n'],
    ['turns.json', '[{"text":"Hello","calls":[{"tool":"a","args":{"n":1}}]}]'],
    ['scripts.yaml', 'default:\n  - text: Hello\n    calls: [{ tool: a, args: { n: 1 } }]\n'],
  ])('%s is read', async (name, content) => {
    const turn = await play(await file(name, content), [user]);
    expect(turn).toMatchObject({ text: 'Hello', calls: [{ tool: 'a', arguments: '{"n":1}' }] });
  });

  test.each([
    ['- say: Hello', /: 0: Unrecognized key: "say"$/],
    ['- calls: [{ args: {} }]', /: 0\.calls\.0\.tool: Invalid input: expected string, received undefined$/],
    ['- text: 5', /: 0\.text: Invalid input: expected string, received number$/],
    ['default: [{ error: { status: 9 } }]', /: default\.0\.error\.status: Too small: expected number to be >=100$/],
    ['other: []', /: expected a list of turns named 'default'$/],
    ['text', /: expected a list of turns, or lists of turns by first user message$/],
    ['- {', /: cannot be read as a script \(.+\)$/],
    ['', /: expected a list of turns, or lists of turns by first user message$/],
  ])('%j is refused with its place', async (content, sentence) => {
    const path = await file('bad.yaml', content);
    const refused = { name: 'DefinitionError', message: expect.stringMatching(sentence) };
    expect(() => scriptedModel(path)).toThrow(expect.objectContaining(refused));
    expect(() => scriptedModel(path)).toThrow(path);
  });

  test('that does not exist is refused', () => {
    expect(() => scriptedModel(join(folder, 'none.yaml'))).toThrow(
      /none\.yaml: cannot be read as a script \(there is no such file\)$/,
    );
  });
});
