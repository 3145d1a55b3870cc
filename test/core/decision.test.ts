import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseDecision, sameDecision } from '../../src/core/decision.ts';

const requestId = '0123456789abcdef'.repeat(2);
const digest = '0123456789abcdef'.repeat(4);
const whole = { requestId, approved: true, reason: 'fine', reviewerId: 'ann', digest, decisionId: 'd-1' };

describe('a good decision', () => {
  test.each<[string, object]>([
    ['the least', { requestId, approved: true }],
    ['that denies', { requestId, approved: false }],
    ['with everything', whole],
    [
      'as long as may be',
      { ...whole, reason: 'r'.repeat(2_000), reviewerId: 'v'.repeat(200), decisionId: 'i'.repeat(200) },
    ],
    ['with empty texts', { requestId, approved: true, reason: '', reviewerId: '' }],
  ])('%s', (_name, decision) => expect(parseDecision(decision)).toEqual({ decision }));

  test('fields without a value do not count', () => {
    expect(parseDecision({ requestId, approved: true, reason: undefined, always: undefined })).toEqual({
      decision: { requestId, approved: true },
    });
  });
});

describe('a bad one is refused in one sentence', () => {
  test.each<[unknown, string, string]>([
    [undefined, 'invalid_decision', 'a decision is an object { requestId, approved }, not nothing'],
    [null, 'invalid_decision', 'a decision is an object { requestId, approved }, not null'],
    [true, 'invalid_decision', 'a decision is an object { requestId, approved }, not a boolean'],
    ['yes', 'invalid_decision', 'a decision is an object { requestId, approved }, not a string'],
    [[whole], 'invalid_decision', 'a decision is an object { requestId, approved }, not a list'],
    [{}, 'invalid_decision', "'requestId' must be the 32 hex characters of the request"],
    [{ approved: true }, 'invalid_decision', "'requestId' must be the 32 hex characters of the request"],
    [{ requestId }, 'invalid_decision', "'approved' is missing: true or false"],
    [{ ...whole, requestId: 7 }, 'invalid_decision', "'requestId' must be text, not a number"],
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
    [{ ...whole, decisionId: 'i'.repeat(201) }, 'too_large', "'decisionId' is longer than 200 characters"],
    [{ ...whole, always: true }, 'invalid_decision', "'always' is not supported by this version"],
    [{ ...whole, modifiedArguments: {} }, 'invalid_decision', "'modifiedArguments' is not supported by this version"],
    [{ ...whole, response: 'x' }, 'invalid_decision', "'response' is not supported by this version"],
    [{ ...whole, signature: {} }, 'invalid_decision', "'signature' is not supported by this version"],
    [{ ...whole, approver: 'me' }, 'invalid_decision', "unknown field 'approver'"],
    [JSON.parse('{"__proto__":{"approved":true}}'), 'invalid_decision', "unknown field '__proto__'"],
    [{ ...whole, constructor: 1 }, 'invalid_decision', "unknown field 'constructor'"],
    [{ ...whole, toString: 1 }, 'invalid_decision', "unknown field 'toString'"],
  ])('%j', (value, code, message) => expect(parseDecision(value)).toEqual({ problem: { code, message } }));

  test('an unknown field is named, but not at any length', () => {
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
  test('parsing gives a decision or one sentence, and never throws', () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), nearly, fc.anything()), (value) => {
        const parsed = parseDecision(value);
        if ('problem' in parsed) {
          expect(parsed.problem.message).toMatch(/^[^\n]{10,200}$/s);
          return;
        }
        expect(parsed.decision).toEqual(JSON.parse(JSON.stringify(value)));
        expect(typeof parsed.decision.approved).toBe('boolean');
        expect(parsed.decision.requestId).toMatch(/^[0-9a-f]{32}$/);
      }),
      { numRuns: 2_000 },
    );
  });

  test('a decision is the same as itself, and as no other', () => {
    const field = fc.constantFrom('approved', 'reason', 'reviewerId', 'digest', 'decisionId', 'requestId');
    fc.assert(
      fc.property(field, (name) => {
        expect(sameDecision(whole, { ...whole })).toBe(true);
        expect(sameDecision(whole, { ...whole, [name]: name === 'approved' ? false : 'other' })).toBe(false);
      }),
    );
  });
});
