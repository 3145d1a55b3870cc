import { expect, test } from 'vitest';
import { severities } from '../../../src/core/base/tool-call.ts';
import {
  adviceSentence,
  readAdvice,
  readAdvisorAnswer,
  withoutReasons,
  type Advice,
} from '../../../src/core/policy/advice.ts';

/** How the answer of an advisor is read, how the run keeps it, and how it is put in words. */

test.each<[string, unknown, object]>([
  ['nothing', undefined, { answer: 'ask', failure: 'it gave no answer' }],
  ['the answer of another', [{ advisor: 'b', answer: 'approve' }], { answer: 'ask', failure: 'it gave no answer' }],
  ['no list', { advisor: 'a', answer: 'approve' }, { answer: 'ask', failure: 'it gave no answer' }],
  ['no answers', [null, 'a', ['a']], { answer: 'ask', failure: 'it gave no answer' }],
  ['another member', [{ advisor: 'a', answer: 'approve', layer: 'x' }], { answer: 'ask' }],
  ['an approval with a failure', [{ advisor: 'a', answer: 'approve', failure: 'x' }], { answer: 'ask', failure: 'x' }],
  ['an answer', [{ advisor: 'a', answer: 'deny', reason: 'No.' }], { answer: 'deny', reason: 'No.' }],
])('an activity that was completed with %s', (_, recorded, expected) => {
  expect(readAdvice([{ name: 'a' }], recorded)).toMatchObject([{ advisor: 'a', ...expected }]);
});

test.each<[string, unknown, object]>([
  ['null', null, { problem: 'expected an object' }],
  ['text', 'approve', { problem: 'expected an object' }],
  ['a list', [], { problem: 'expected an object' }],
  ['nothing', {}, { problem: 'answer: expected one of ask, deny, approve' }],
  ['another answer', { answer: 'allow' }, { problem: 'answer: expected one of ask, deny, approve' }],
  ['another member', { answer: 'ask', by: 'a' }, { problem: 'expected only answer, severity, reason' }],
  [
    'another severity',
    { answer: 'ask', severity: 'none' },
    { problem: `severity: expected one of ${severities.join(', ')}` },
  ],
  ['a number for a reason', { answer: 'ask', reason: 7 }, { problem: 'reason: expected text' }],
  ['an answer', { answer: 'approve' }, { answer: 'approve' }],
  ['a severity', { answer: 'deny', severity: 'low' }, { answer: 'deny', severity: 'low' }],
  ['a reason', { answer: 'ask', reason: ' because ' }, { answer: 'ask', reason: 'because' }],
  ['an empty reason', { answer: 'ask', reason: '  ' }, { answer: 'ask' }],
  ['half a character', { answer: 'ask', reason: 'a\ud800b' }, { answer: 'ask', reason: 'a\ufffdb' }],
  ['a long reason', { answer: 'ask', reason: 'x'.repeat(501) }, { answer: 'ask', reason: `${'x'.repeat(500)}…` }],
])('an advisor that answers with %s', (_, value, expected) => {
  expect(readAdvisorAnswer(value)).toStrictEqual(expected);
});

test.each<[Advice, string]>([
  [{ advisor: 'a', answer: 'ask' }, 'Advisor a asks about this call'],
  [{ advisor: 'a', answer: 'deny', reason: 'No.' }, 'Advisor a denies this call: No.'],
  [{ advisor: 'a', answer: 'approve' }, 'Advisor a approves this call'],
  [{ advisor: 'a', answer: 'ask', failure: 'it is late' }, 'Advisor a gave no answer: it is late'],
])('%j in words: %s', (advice, sentence) => expect(adviceSentence(advice)).toBe(sentence));

test('what may quote arguments is left out', () => {
  const advice: Advice[] = [{ advisor: 'a', answer: 'deny', severity: 'high', reason: 'No.' }];
  expect(withoutReasons(advice)).toStrictEqual([{ advisor: 'a', answer: 'deny', severity: 'high' }]);
});
