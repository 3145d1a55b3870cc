import { describe, expect, test, vi } from 'vitest';
import fc from 'fast-check';
import { decisionDigest } from '../../../src/core/messages/control.ts';
import { parseDecision, sameDecision } from '../../../src/core/messages/decision.ts';
import { Minimatch } from '../../../src/core/match/minimatch.ts';
import { parseJson } from '../../../src/core/base/json.ts';

const requestId = '0123456789abcdef'.repeat(2);
const digest = '0123456789abcdef'.repeat(4);
const whole = { requestId, approved: true, reason: 'fine', reviewerId: 'ann', digest, decisionId: 'd-1' };

const matchSentence = "'always.match' names globs by argument; it goes with kind 'arguments', and only with it";

describe('a valid decision', () => {
  test.each<[string, object]>([
    ['the least', { requestId, approved: true }],
    ['that denies', { requestId, approved: false }],
    ['with everything', whole],
    [
      'as long as may be',
      {
        ...whole,
        reason: 'r'.repeat(2_000),
        reviewerId: 'v'.repeat(200),
        reviewerName: 'n'.repeat(100),
        decisionId: 'i'.repeat(200),
      },
    ],
    ['that holds for what comes', { ...whole, always: true }],
    [
      'that holds for what fits, for a while',
      { ...whole, always: { kind: 'arguments', match: { to: '*@acme.com' }, expiresIn: '1h', uses: 3 } },
    ],
    ['with other arguments', { ...whole, modifiedArguments: { to: 'bob', list: [1, null] } }],
    ["in the tool's place", { ...whole, approved: false, response: { paid: true } }],
    ["in the tool's place, by nothing", { ...whole, approved: false, response: null }],
    ['with a signature', { ...whole, signature: { keyId: 'k', signedAt: '2030-01-31T12:00:00Z', value: 'v' } }],
    ['with what its channel showed', { ...whole, viewed: { channel: 'slack', card: digest, durationMs: 0, batch: 1 } }],
    ['with nothing of what its channel showed', { ...whole, viewed: {} }],
    ['with empty texts', { requestId, approved: true, reason: '', reviewerId: '' }],
  ])('%s', (_name, decision) => expect(parseDecision(decision)).toEqual({ decision }));

  test('fields without a value do not count', () => {
    expect(parseDecision({ requestId, approved: true, reason: undefined, always: undefined })).toEqual({
      decision: { requestId, approved: true },
    });
  });
});

describe('an invalid decision is refused in one sentence', () => {
  test.each<[unknown, string, string]>([
    [undefined, 'invalid_decision', 'a decision is an object { requestId, approved }, not nothing'],
    [null, 'invalid_decision', 'a decision is an object { requestId, approved }, not null'],
    [true, 'invalid_decision', 'a decision is an object { requestId, approved }, not a boolean'],
    ['yes', 'invalid_decision', 'a decision is an object { requestId, approved }, not a string'],
    [[whole], 'invalid_decision', 'a decision is an object { requestId, approved }, not a list'],
    [{}, 'invalid_decision', "'requestId' must be the 32 hex characters of the request"],
    [{ approved: true }, 'invalid_decision', "'requestId' must be the 32 hex characters of the request"],
    [{ requestId }, 'invalid_decision', "'approved' is missing: true or false"],
    [{ ...whole, requestId: 7 }, 'invalid_decision', "'requestId' must be the 32 hex characters of the request"],
    [
      { ...whole, requestId: requestId.toUpperCase() },
      'invalid_decision',
      "'requestId' must be the 32 hex characters of the request",
    ],
    [
      { ...whole, requestId: `${requestId}\n` },
      'invalid_decision',
      "'requestId' must be the 32 hex characters of the request",
    ],
    [{ ...whole, approved: 'true' }, 'invalid_decision', "'approved' must be true or false, not a string"],
    [{ ...whole, approved: 1 }, 'invalid_decision', "'approved' must be true or false, not a number"],
    [{ ...whole, approved: null }, 'invalid_decision', "'approved' must be true or false, not null"],
    [{ ...whole, reason: null }, 'invalid_decision', "'reason' must be text, not null"],
    [{ ...whole, reason: ['no'] }, 'invalid_decision', "'reason' must be text, not a list"],
    [{ ...whole, reviewerId: {} }, 'invalid_decision', "'reviewerId' must be text, not an object"],
    [{ ...whole, digest: 'abc' }, 'invalid_decision', "'digest' must be 64 lower-case hex characters"],
    [{ ...whole, digest: `${digest}0` }, 'too_large', "'digest' is longer than 64 characters"],
    [{ ...whole, reason: 'r'.repeat(2_001) }, 'too_large', "'reason' is longer than 2000 characters"],
    [{ ...whole, reviewerId: 'v'.repeat(201) }, 'too_large', "'reviewerId' is longer than 200 characters"],
    [{ ...whole, reviewerName: 'n'.repeat(101) }, 'too_large', "'reviewerName' is longer than 100 characters"],
    [{ ...whole, reviewerName: ['Ann'] }, 'invalid_decision', "'reviewerName' must be text, not a list"],
    [{ ...whole, decisionId: 'i'.repeat(201) }, 'too_large', "'decisionId' is longer than 200 characters"],
    [
      { ...whole, always: 'tool' },
      'invalid_decision',
      "'always' must be true, false or { kind, match, expiresIn, uses }, not a string",
    ],
    [{ ...whole, always: {} }, 'invalid_decision', "'always.kind' must be one of call, arguments, tool"],
    [{ ...whole, always: { kind: 'all' } }, 'invalid_decision', "'always.kind' must be one of call, arguments, tool"],
    [{ ...whole, always: { kind: 'tool', for: '1h' } }, 'invalid_decision', "unknown field 'always.for'"],
    [{ ...whole, always: { kind: 'tool', match: { to: '*' } } }, 'invalid_decision', matchSentence],
    [{ ...whole, always: { kind: 'arguments' } }, 'invalid_decision', matchSentence],
    [
      { ...whole, always: { kind: 'arguments', match: {} } },
      'invalid_decision',
      "'always.match' must be an object of 1 to 20 globs",
    ],
    [
      { ...whole, always: { kind: 'arguments', match: { to: 7 } } },
      'invalid_decision',
      "'always.match.to' must be a glob, not a number",
    ],
    [
      { ...whole, always: { kind: 'arguments', match: { to: '[z-a]' } } },
      'invalid_decision',
      "'always.match.to' holds the reversed range [z-a]",
    ],
    [
      { ...whole, always: { kind: 'arguments', match: { ['n'.repeat(201)]: '*' } } },
      'invalid_decision',
      "'always.match' names an argument of more than 200 characters",
    ],
    ...['soon', 'never', 60, ''].map((expiresIn): [unknown, string, string] => [
      { ...whole, always: { kind: 'call', expiresIn } },
      'invalid_decision',
      "'always.expiresIn' must be a whole number and a unit, such as 30m or 1h",
    ]),
    ...['cli', null, [], 7].map((viewed): [unknown, string, string] => [
      { ...whole, viewed },
      'invalid_decision',
      "'viewed' must be an object { channel, card, preview, durationMs, userMessages, batch }, each of them optional",
    ]),
    ...(
      [
        [{ seen: true }, "unknown field 'viewed.seen'"],
        [{ toString: 1 }, "unknown field 'viewed.toString'"],
        [{ channel: '' }, "'viewed.channel' must be text of 1 to 40 characters"],
        [{ channel: 'c'.repeat(41) }, "'viewed.channel' must be text of 1 to 40 characters"],
        [{ channel: 7 }, "'viewed.channel' must be text of 1 to 40 characters"],
        [{ card: digest.toUpperCase() }, "'viewed.card' must be 64 lower-case hex characters"],
        [{ card: digest.slice(1) }, "'viewed.card' must be 64 lower-case hex characters"],
        [{ preview: digest.slice(1) }, "'viewed.preview' must be 64 lower-case hex characters"],
        [{ durationMs: -1 }, "'viewed.durationMs' must be a whole number from 0 to 31536000000"],
        [{ durationMs: 1.5 }, "'viewed.durationMs' must be a whole number from 0 to 31536000000"],
        [{ durationMs: '5' }, "'viewed.durationMs' must be a whole number from 0 to 31536000000"],
        [{ userMessages: -1 }, "'viewed.userMessages' must be a whole number from 0 to 100"],
        [{ userMessages: 101 }, "'viewed.userMessages' must be a whole number from 0 to 100"],
        [{ batch: 0 }, "'viewed.batch' must be a whole number from 1 to 10000"],
        [{ batch: 10_001 }, "'viewed.batch' must be a whole number from 1 to 10000"],
      ] as const
    ).map(([viewed, message]): [unknown, string, string] => [{ ...whole, viewed }, 'invalid_decision', message]),
    ...[0, 1.5, '3', 1_000_001].map((uses): [unknown, string, string] => [
      { ...whole, always: { kind: 'call', uses } },
      'invalid_decision',
      "'always.uses' must be a whole number from 1 to 1000000",
    ]),
    [
      { ...whole, modifiedArguments: [] },
      'invalid_decision',
      "'modifiedArguments' must be an object with all arguments, not a list",
    ],
    [
      { ...whole, approved: false, modifiedArguments: {} },
      'invalid_decision',
      "'modifiedArguments' goes with approved: true",
    ],
    [
      { ...whole, modifiedArguments: { a: 'x'.repeat(400_000) } },
      'too_large',
      "'modifiedArguments' is longer than 400000 characters of JSON",
    ],
    [
      { ...whole, response: 'x' },
      'invalid_decision',
      "'response' answers in the tool's place: it goes with approved: false",
    ],
    [
      { ...whole, approved: false, response: 'x', always: true },
      'invalid_decision',
      "'response' answers one call: it does not go with 'always'",
    ],
    [
      { ...whole, approved: false, response: 'x'.repeat(20_000) },
      'too_large',
      "'response' is longer than 20000 characters of JSON",
    ],
    [{ ...whole, signature: {} }, 'invalid_decision', "'signature' must be { keyId, signedAt, value }, all texts"],
    [{ ...whole, approver: 'me' }, 'invalid_decision', "unknown field 'approver'"],
    [JSON.parse('{"__proto__":{"approved":true}}'), 'invalid_decision', "unknown field '__proto__'"],
    [{ ...whole, constructor: 1 }, 'invalid_decision', "unknown field 'constructor'"],
    [{ ...whole, toString: 1 }, 'invalid_decision', "unknown field 'toString'"],
  ])('%j', (value, code, message) => expect(parseDecision(value)).toEqual({ problem: { code, message } }));

  test('globs are checked without being compiled: thousands may come at once', () => {
    const make = vi.spyOn(Minimatch.prototype, 'make');
    try {
      const always = { kind: 'arguments', match: { to: '[a-z]?', from: '*[0-9]' } };
      expect(parseDecision({ requestId, approved: true, always })).toHaveProperty('decision');
      expect(make).not.toHaveBeenCalled();
    } finally {
      make.mockRestore();
    }
  });

  test('an unknown field is named, up to a maximum length', () => {
    expect(parseDecision({ ['x'.repeat(10_000)]: 1 })).toEqual({
      problem: { code: 'invalid_decision', message: `unknown field '${'x'.repeat(40)}'` },
    });
  });
});

const nearly = fc.record(
  {
    requestId: fc.oneof(fc.constant(requestId), fc.string()),
    approved: fc.oneof(fc.boolean(), fc.jsonValue()),
    reason: fc.oneof(fc.string(), fc.jsonValue()),
    reviewerId: fc.string(),
    digest: fc.oneof(fc.constant(digest), fc.string()),
    decisionId: fc.string(),
  },
  { requiredKeys: [] },
);

describe('for any value', () => {
  test('parsing returns a decision or one sentence, and never throws', () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), nearly, fc.anything()), (value) => {
        const parsed = parseDecision(value);
        if ('problem' in parsed) {
          expect(parsed.problem.message).toMatch(/^[^\n]{10,200}$/s);
          return;
        }
        expect(parsed.decision).toEqual(parseJson(JSON.stringify(value)));
        expect(typeof parsed.decision.approved).toBe('boolean');
        expect(parsed.decision.requestId).toMatch(/^[0-9a-f]{32}$/);
      }),
      { numRuns: 2_000 },
    );
  });

  test('what people call the reviewer is no part of its content', () => {
    const named = { ...whole, reviewerName: 'Ann Lee' };
    expect(decisionDigest(named)).toBe(decisionDigest(whole));
    expect(decisionDigest({ ...named, reviewerId: 'bob' })).not.toBe(decisionDigest(named));
  });

  test('a decision equals itself and no other', () => {
    const field = fc.constantFrom('approved', 'reason', 'reviewerId', 'digest', 'decisionId', 'requestId');
    fc.assert(
      fc.property(field, (name) => {
        expect(sameDecision(whole, { ...whole })).toBe(true);
        expect(sameDecision(whole, { ...whole, [name]: name === 'approved' ? false : 'other' })).toBe(false);
      }),
    );
  });
});
