import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import type { Json } from './raw-messages.ts';
import { rawMessages } from './raw-messages.ts';
import type { RunInTest, World } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';

/** JSON that two parsers could read differently is refused, however it is sent, and changes nothing. */

let world: World;
let raw: ReturnType<typeof rawMessages>;
beforeAll(async () => {
  world = await openWorld();
  raw = rawMessages(world);
});
afterAll(() => world.close());

/** 80 levels: fewer than a message may have, more than arguments may have. */
const deep = '['.repeat(80) + ']'.repeat(80);
const notUtf8 = (text: string): Uint8Array => Buffer.from(text.replaceAll('?', '\xff'), 'latin1');

/** `ID` stands for the request's id. */
const ambiguous: [string, Json, 'undecodable' | 'arguments_invalid'][] = [
  ['an answer twice', '{"requestId":"ID","approved":false,"approved":true}', 'undecodable'],
  ['an answer twice, the same', '{"requestId":"ID","approved":true,"approved":true}', 'undecodable'],
  ['an answer twice, once escaped', '{"requestId":"ID","approved":false,"\\u0061pproved":true}', 'undecodable'],
  ['an id twice', '{"requestId":"00000000000000000000000000000000","requestId":"ID","approved":true}', 'undecodable'],
  ['a key twice inside', '{"requestId":"ID","approved":true,"always":{"kind":"call","kind":"tool"}}', 'undecodable'],
  [
    'edited arguments twice',
    '{"requestId":"ID","approved":true,"modifiedArguments":{},"modifiedArguments":{}}',
    'undecodable',
  ],
  ['an integer that no double holds', '{"requestId":"ID","approved":false,"response":9007199254740993}', 'undecodable'],
  ['a number past all doubles', '{"requestId":"ID","approved":false,"response":1e400}', 'undecodable'],
  ['a number that becomes zero', '{"requestId":"ID","approved":false,"response":1e-400}', 'undecodable'],
  ['half a surrogate pair', '{"requestId":"ID","approved":true,"reason":"\\ud83d"}', 'undecodable'],
  ['half a surrogate pair in a key', '{"requestId":"ID","approved":false,"response":{"\\udc00":1}}', 'undecodable'],
  ['bytes that are not UTF-8', notUtf8('{"requestId":"ID","approved":true,"reason":"?"}'), 'undecodable'],
  ['in a list', '[{"requestId":"ID","approved":true,"approved":true}]', 'undecodable'],
  [
    'an edit with a key twice',
    '{"requestId":"ID","approved":true,"modifiedArguments":{"to":"x","amount":2,"amount":3}}',
    'arguments_invalid',
  ],
  [
    'an edit with 9007199254740993',
    '{"requestId":"ID","approved":true,"modifiedArguments":{"to":"x","amount":9007199254740993}}',
    'arguments_invalid',
  ],
  [
    'an edit with -9007199254740993',
    '{"requestId":"ID","approved":true,"modifiedArguments":{"to":"x","amount":-9007199254740993}}',
    'arguments_invalid',
  ],
  [
    'an edit with 9007199254740993.0',
    '{"requestId":"ID","approved":true,"modifiedArguments":{"to":"x","amount":9007199254740993.0}}',
    'arguments_invalid',
  ],
  [
    'an edit with 1e400',
    '{"requestId":"ID","approved":true,"modifiedArguments":{"to":"x","amount":1e400}}',
    'arguments_invalid',
  ],
  [
    'an edit with half a surrogate pair',
    '{"requestId":"ID","approved":true,"modifiedArguments":{"to":"\\ud83d","amount":2}}',
    'arguments_invalid',
  ],
  [
    'an edit nested too deep',
    `{"requestId":"ID","approved":true,"modifiedArguments":{"to":${deep},"amount":2}}`,
    'arguments_invalid',
  ],
  [
    'an edit in a list',
    '[{"requestId":"ID","approved":true,"modifiedArguments":{"to":"x","amount":9007199254740993}}]',
    'arguments_invalid',
  ],
];

async function waiting(): Promise<{ run: RunInTest; requestId: string }> {
  const run = await world.start([
    { calls: [{ tool: 'pay', args: { to: 'x', amount: 1 } }] },
    { text: '{{lastResult}}' },
  ]);
  const [request] = await run.open();
  return { run, requestId: request!.requestId };
}

const withId = (json: Json, requestId: string): Json =>
  typeof json === 'string'
    ? json.replaceAll('ID', requestId)
    : Buffer.from(Buffer.from(json).toString('latin1').replaceAll('ID', requestId), 'latin1');

/** The request is still open, and runs as requested. */
async function decidesStill({ run, requestId }: Awaited<ReturnType<typeof waiting>>): Promise<void> {
  const decision = { requestId, approved: true };
  expect(await run.handle.executeUpdate('decide', { args: [decision] })).toMatchObject({ accepted: true });
  expect((await run.result()).output).toBe('paid 1 to x');
}

const updatesOf = async ({ handle }: RunInTest): Promise<number> =>
  (await handle.fetchHistory()).events!.filter((event) => event.workflowExecutionUpdateAcceptedEventAttributes != null)
    .length;

describe('a decision', () => {
  test('by signal: each is counted with its code and size', async () => {
    const open = await waiting();
    const sent = ambiguous.map(([name, json, code]) => ({ name, json: withId(json, open.requestId), code }));
    for (const { json } of sent) await raw.signal(open.run, 'decide', json);
    // An activity detects the edit that is nested too deep, so its refusal may come after the next one.
    const refused = await eventually('all refusals', async () => {
      const { refused: counted } = await open.run.status();
      return counted.total >= sent.length && counted;
    });
    expect(refused.last.map(({ code }) => code).toSorted()).toEqual(sent.map(({ code }) => code).toSorted());
    expect(refused.last[0]).toEqual({ code: 'undecodable', size: Buffer.byteLength(sent[0]!.json) });
    await decidesStill(open);
  });

  test('by update: each is refused with its code, and only a checked edit enters history', async () => {
    const open = await waiting();
    const told = [];
    for (const [name, json] of ambiguous) {
      const { code } = await raw.update(open.run, 'decide', withId(json, open.requestId));
      told.push([name, code]);
    }
    expect(told).toEqual(ambiguous.map(([name, , code]) => [name, code]));
    expect(await updatesOf(open.run)).toBe(1);
    await decidesStill(open);
  });

  test('the sentence names the place', async () => {
    const open = await waiting();
    const json = withId(
      '{"requestId":"ID","approved":true,"modifiedArguments":{"to":"x","amount":9007199254740993}}',
      open.requestId,
    );
    expect((await raw.update(open.run, 'decide', json)).message).toBe(
      'the message could not be decoded: message.modifiedArguments.amount: expected a number that a double holds exactly; send it as text',
    );
    await decidesStill(open);
  });

  test.each<[string, number]>([
    ['9007199254740992', 9_007_199_254_740_992],
    ['18014398509481984', 18_014_398_509_481_984],
    ['2.50', 2.5],
    ['1E+2', 100],
    ['0.1', 0.1],
  ])('an edit with the number %s runs with it', async (text, amount) => {
    const { run, requestId } = await waiting();
    const json = `{"requestId":"${requestId}","approved":true,"modifiedArguments":{"to":"x","amount":${text}}}`;
    expect(await raw.update(run, 'decide', json)).toEqual({});
    expect((await run.result()).output).toContain(`paid ${amount} to x`);
  });

  test('text in any language counts', async () => {
    const { run, requestId } = await waiting();
    const json = `{"requestId":"${requestId}","approved":true,"reason":"\\ud83d\\ude00 \u{1f600} \ufffd é"}`;
    expect(await raw.update(run, 'decide', json)).toEqual({});
    expect((await run.result()).output).toBe('A reviewer approved this call and wrote: "😀 😀 � é".\npaid 1 to x');
  });
});

describe('other messages', () => {
  const controls: [string, string][] = [
    ['setPolicy', '{"mode":"headless","mode":"plan"}'],
    ['setPolicy', '{"policy":{"version":1,"rules":[{"pattern":"pay","action":"deny","action":"allow"}]}}'],
    ['revoke', '{"grants":["a"],"grants":"all"}'],
    ['extend', '{"requestId":"ID","until":"2030-01-01T00:00:00Z","until":"2031-01-01T00:00:00Z"}'],
    ['delegate', '{"requestId":"ID","to":"a","to":"b"}'],
  ];

  test('by signal and by update: undecodable, and nothing enters history', async () => {
    const open = await waiting();
    for (const [name, json] of controls) {
      expect((await raw.update(open.run, name, withId(json, open.requestId))).code).toBe('undecodable');
      await raw.signal(open.run, name, withId(json, open.requestId));
    }
    await raw.signal(open.run, 'close', '{"reason":"a","reason":"b"}');
    const { refused } = await open.run.status();
    expect(refused.last.map(({ code }) => code)).toEqual([...controls.map(() => 'undecodable'), 'undecodable']);
    expect(await updatesOf(open.run)).toBe(0);
    await decidesStill(open);
  });

  test.each([
    ['approvals', '{"requestId":"a","requestId":"ID"}'],
    ['receipt', '{"messageId":"a","messageId":"b"}'],
  ])('query %s is refused, and the run continues', async (name, json) => {
    const open = await waiting();
    await expect(raw.query(open.run, name, withId(json, open.requestId))).rejects.toThrow(
      new RegExp(`the argument of query '${name}' could not be decoded: message\\.\\w+: expected each key once`),
    );
    await decidesStill(open);
  });

  test.each([
    ['a key twice', '{"agent":"tester","agent":"other","input":"[]"}', 'message.agent: expected each key once'],
    ['an integer', '{"agent":"tester","input":"[]","metadata":{"order":9007199254740993}}', 'message.metadata.order: '],
    ['half a surrogate pair', '{"agent":"tester","input":"\\ud83d"}', 'message.input: expected text without half'],
  ])('a start with %s fails the run in one sentence', async (_name, json, sentence) => {
    const run = await raw.start(json);
    await expect(run.handle.result()).rejects.toMatchObject({
      cause: { type: 'undecodable', message: expect.stringContaining(sentence) },
    });
  });
});
