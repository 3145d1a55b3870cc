import { type } from 'arktype';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { checkOutput } from '../../src/activities/call-model.ts';
import type { KeptMessage } from '../../src/activities/model-turn.ts';
import { defineAgent } from '../../src/agents/define-agent.ts';
import { scriptedModel } from '../../src/models/scripted.ts';

const output = z.object({
  team: z.enum(['billing', 'shipping']),
  urgent: z.boolean().default(false),
  more: z.any().optional(),
  picky: z
    .string()
    .refine((text) => {
      if (text === 'throw') throw new Error('sk-live-0123456789abcdef');
      return true;
    })
    .optional(),
});
const agent = defineAgent({ name: 'triage', instructions: '', model: scriptedModel([]), output });
const exact = defineAgent({
  name: 'exact',
  instructions: '',
  model: scriptedModel([]),
  output: z.strictObject({}),
});
const said = { role: 'user', content: 'Go' } as KeptMessage;
const refused: KeptMessage = { role: 'assistant', content: 'No', outputProblem: 'output: no' };
const called: KeptMessage[] = [
  { role: 'assistant', content: '', toolCalls: [{ id: '1', name: 'a', arguments: {} }] },
  { role: 'tool', toolCallId: '1', toolName: 'a', content: 'seen' },
];

const check = (text: string, { finishReason = 'stop', messages = [said], of = agent } = {}) =>
  checkOutput({ text, calls: [], finishReason }, of, { messages });
const problemOf = async (text: string, finishReason?: string) =>
  (await check(text, { ...(finishReason !== undefined && { finishReason }) })).outputProblem;

describe('checkOutput', () => {
  test('gives the value: defaults filled in, unknown keys left out', async () => {
    expect(await check(' {"team":"billing","x":1}\n')).toEqual({
      structuredOutput: { team: 'billing', urgent: false },
    });
  });

  test('reads no text of an agent without an output, and none beside calls', async () => {
    const plain = defineAgent({ name: 'plain', instructions: '', model: scriptedModel([]) });
    expect(await check('no', { of: plain })).toEqual({});
    const calls = [{ id: '1', tool: 'a', arguments: '{}' }];
    expect(await checkOutput({ text: '', calls, finishReason: 'tool-calls' }, agent, { messages: [said] })).toEqual({});
  });

  test.each<[string, string, string | RegExp]>([
    ['no text', '', 'output: expected JSON, got no text'],
    ['blanks', ' \n', 'output: expected JSON, got no text'],
    ['prose', 'It is for billing.', /^output: .*position 0/],
    ['a code fence', '```json\n{"team":"billing"}\n```', /^output: .*position 0/],
    ['text behind it', '{"team":"billing"} Done.', /^output: .*position/],
    ['a list', '["billing"]', 'output: expected an object, got a list'],
    ['another value', '{"team":"legal"}', 'output.team: Invalid option: expected one of "billing"|"shipping"'],
    ['nothing of it', '{}', 'output.team: Invalid option: expected one of "billing"|"shipping"'],
    ['a duplicate key', '{"team":"shipping","team":"billing"}', /^output\.team: .*once/],
    ['an escaped duplicate', '{"t\\u0065am":"shipping","team":"billing"}', /^output\.team: .*once/],
    ['__proto__', '{"team":"billing","__proto__":{"urgent":true}}', /^output.*__proto__/],
    [
      'deep nesting',
      `{"team":"billing","more":${'['.repeat(5_000)}${']'.repeat(5_000)}}`,
      'output: expected at most 64 levels of nesting',
    ],
    ['a number that no double holds', '{"team":"billing","more":9007199254740993}', /^output\.more: /],
    ['half a surrogate pair', '{"team":"billing","more":"\\ud800"}', /^output\.more: /],
    ['too much', `{"team":"billing","more":"${'x'.repeat(400_000)}"}`, 'output: 400028 bytes, expected at most 400000'],
    ['a check that throws', '{"team":"billing","picky":"throw"}', "output: a check of agent 'triage' failed on it"],
  ])('says what does not fit: %s', async (_case, text, problem) => {
    expect(await problemOf(text)).toEqual(typeof problem === 'string' ? problem : expect.stringMatching(problem));
  });

  test.each(['length', 'content-filter', 'other', 'nonsense'])(
    'an answer that ended by %s is not whole',
    async (how) => {
      expect(await problemOf('{"team":"billing"}', how)).toMatch(/^output: the answer is not whole: /);
    },
  );

  test('of other libraries, too', async () => {
    const of = defineAgent({
      name: 'ark',
      instructions: '',
      model: scriptedModel([]),
      output: type({ total: 'number' }),
    });
    expect(await check('{"total":7}', { of })).toEqual({ structuredOutput: { total: 7 } });
    expect(await check('{"total":"7"}', { of })).toEqual({ outputProblem: expect.stringMatching(/^output\.total: /) });
  });

  test('defaults do not make it larger than it may be', async () => {
    const large = z.object({ a: z.string().default('x'.repeat(400_000)) });
    const of = defineAgent({ name: 'large', instructions: '', model: scriptedModel([]), output: large });
    const outputProblem = 'output: 400008 bytes with its defaults, expected at most 400000';
    expect(await check('{}', { of })).toEqual({ outputProblem });
  });

  test.each<[string, KeptMessage[], boolean]>([
    ['none', [said], false],
    ['one', [said, refused], false],
    ['two', [said, refused, refused], true],
    ['two, with a call between them', [said, refused, ...called, refused, ...called], true],
    ['two, before the user said more', [said, refused, refused, said], false],
    ['two, before the user said more and one since', [said, refused, refused, said, refused], false],
  ])('after so many corrections: %s', async (_case, messages, isOver) => {
    const checked = check('{"sk-live-0123456789abcdef":1}', { messages, of: exact });
    if (!isOver) return expect(await checked).toEqual({ outputProblem: expect.stringMatching(/^output: /) });
    const failure = await checked.catch((error: unknown) => error);
    expect(failure).toMatchObject({
      type: 'model_output_invalid',
      nonRetryable: true,
      message: expect.stringMatching(
        /^The answer of agent 'exact' does not fit its output after 2 corrections \(output: Unrecognized key: .*\)\.$/,
      ),
    });
    expect(String(failure)).not.toContain('0123456789abcdef');
    expect(await check('{}', { messages, of: exact })).toHaveProperty('structuredOutput');
  });
});
