import { describe, expect, test } from 'vitest';
import { checkAnswer, InvalidAnswer } from '../../src/channels/channel-answer.ts';

const digest = 'a'.repeat(64);
class Verdict {
  approved = true;
  reason = 'Looks good';
}

describe('an answer is taken', () => {
  test.each<[string, unknown, object]>([
    ['true', true, { approved: true }],
    ['false', false, { approved: false }],
    ['an object', { approved: false, reason: 'No' }, { approved: false, reason: 'No' }],
    ['members that are undefined', { approved: true, reason: undefined }, { approved: true }],
    ['an instance of a class', new Verdict(), { approved: true, reason: 'Looks good' }],
    ['always', { approved: true, always: true }, { approved: true, always: true }],
    [
      'a scope',
      { approved: true, always: { kind: 'arguments', match: { to: '*@acme.com' }, expiresIn: '1h', uses: 2 } },
      { approved: true, always: { kind: 'arguments', match: { to: '*@acme.com' }, expiresIn: '1h', uses: 2 } },
    ],
    ['an edit', { approved: true, modifiedArguments: { a: 1 } }, { approved: true, modifiedArguments: { a: 1 } }],
    ['a response', { approved: false, response: [1, 'b'] }, { approved: false, response: [1, 'b'] }],
    ['who and what', { approved: true, reviewerId: 'rita', digest }, { approved: true, reviewerId: 'rita', digest }],
    ['an empty reviewer, who is none', { approved: true, reviewerId: '' }, { approved: true }],
    ['what was shown', { approved: true, userMessages: 2 }, { approved: true, userMessages: 2 }],
    ['a reason of 2,000 characters', { approved: true, reason: 'r'.repeat(2_000) }, { reason: expect.any(String) }],
  ])('%s', (_name, value, answer) => expect(checkAnswer(value)).toMatchObject(answer));

  test.each([{ approved: true }, { approved: true, reviewerId: '' }])('%j: nothing is added', (value) =>
    expect(checkAnswer(value)).toStrictEqual({ approved: true }),
  );
});

const cyclic: Record<string, unknown> = {};
cyclic.self = cyclic;

describe('an answer is refused', () => {
  test.each<[string, unknown, RegExp]>([
    ['undefined', undefined, /not nothing/],
    ['null', null, /not null/],
    ['a text', 'true', /not a string/],
    ['a number', 1, /not a number/],
    ['a list', [true], /not a list/],
    ['a function', () => true, /not a function/],
    ['a promise', Promise.resolve(true), /no promise: await it/],
    ['a thenable', Object.assign(Promise.resolve(true), { approved: true }), /no promise/],
    ['an empty object', {}, /'approved' is missing/],
    ['approved as a text', { approved: 'true' }, /'approved' must be true or false, not a string/],
    ['approved as a number', { approved: 1 }, /'approved' must be true or false/],
    ['approved in the prototype', Object.create({ approved: true }), /'approved' is missing/],
    ['a misspelt member', { aproved: true }, /no member 'aproved'/],
    ['a member of a decision that is none here', { approved: true, decisionId: 'x' }, /no member 'decisionId'/],
    ['another request', { approved: true, requestId: 'b'.repeat(32) }, /no member 'requestId'/],
    ['a view', { approved: true, viewed: { channel: 'inbox' } }, /no member 'viewed'/],
    ['a signature', { approved: true, signature: {} }, /no member 'signature'/],
    [
      'an edit with a denial',
      { approved: false, modifiedArguments: {} },
      /'modifiedArguments' goes with approved: true/,
    ],
    ['an edit that is a list', { approved: true, modifiedArguments: [] }, /'modifiedArguments' must be an object/],
    ['an edit that is no JSON', { approved: true, modifiedArguments: { at: new Date() } }, /'modifiedArguments'/],
    ['an edit without an end', { approved: true, modifiedArguments: cyclic }, /'modifiedArguments'/],
    ['a response with an approval', { approved: true, response: 1 }, /'response'/],
    ['a scope of an unknown kind', { approved: true, always: { kind: 'all' } }, /'always.kind' must be one of/],
    ['a reason that is no text', { approved: true, reason: 5 }, /'reason' must be text, not a number/],
    ['a reason that is too long', { approved: true, reason: 'r'.repeat(2_001) }, /longer than 2000/],
    ['a name that is too long', { approved: true, reviewerId: 'r'.repeat(201) }, /longer than 200/],
    [
      'a number of messages that is none',
      { approved: true, userMessages: -1 },
      /'userMessages' must be a whole number/,
    ],
    ['a digest that is none', { approved: true, digest: 'abc' }, /64 lower-case hex/],
  ])('%s', (_name, value, message) => {
    const refused = (): unknown => checkAnswer(value);
    expect(refused).toThrow(InvalidAnswer);
    expect(refused).toThrow(message);
    expect(refused).toThrow(/^[^\n]*[^.]\.$/);
  });
});

test('a getter is read once, so that it cannot answer differently later', () => {
  let reads = 0;
  const sly = {
    get approved() {
      reads += 1;
      return reads > 1;
    },
  };
  expect(checkAnswer(sly)).toEqual({ approved: false });
});

test('the name of the error says what it is', () => {
  expect(new InvalidAnswer('x').name).toBe('InvalidAnswer');
});
