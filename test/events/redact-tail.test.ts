import { describe, expect, test } from 'vitest';
import { EventRedactor } from '../../src/events/event-redactor.ts';
import type { Policy } from '../../src/core/policy/policy.ts';
import { redactText } from '../../src/core/redact/find-sensitive.ts';
import { tokenTail } from '../../src/events/token-tail.ts';
import { sensitive } from '../core/redact/sensitive-samples.ts';

/** What viewers see of an answer while the model writes it. */

const policy = (more: Partial<Policy> = {}): Policy => ({
  version: 1,
  rules: [],
  riskDefaults: {},
  approval: {},
  ...more,
});

/** A redactor of a run with this policy. */
function redactorOf(run?: Policy): EventRedactor {
  const redactor = new EventRedactor();
  const at = '2026-01-01T00:00:00.000Z';
  const result = { policyDigest: 'x', ...(run !== undefined && { run }) };
  const activity = { kind: 'config', scheduledEventId: 5, given: {} } as const;
  const what = { kind: 'ended', activity, state: 'completed', end: { result } } as const;
  redactor.learn({ eventId: 7, at, what, journal: [] });
  return redactor;
}

/** What is shown after each piece of a text. */
function shownOf(text: string, sizes: (at: number) => number, redactor = redactorOf()): string[] {
  const shown: string[] = [];
  for (let end = sizes(0); ; end = Math.min(text.length, end + sizes(end))) {
    shown.push(redactor.tail(1, tokenTail(1, text.slice(0, end)))?.tail ?? '');
    if (end >= text.length) return shown;
  }
}

const after = ' Then more words follow, of which none is secret, until this sentence has come to its end at last.';

describe('no part of a secret shows before the secret is complete', () => {
  test.each(sensitive)('%s', (_name, text) => {
    for (const whole of [`${text}${after}`, `Well then, ${text}${after}`, `${text} ${text}${after}`]) {
      const redacted = redactText(whole);
      for (const sizes of [() => 1, () => 3, (at: number) => 1 + (at % 7)]) {
        const shown = shownOf(whole, sizes);
        for (const [step, each] of shown.entries()) {
          expect([step, redacted.startsWith(each), each]).toEqual([step, true, each]);
        }
        // All but the last words is shown in the end.
        expect(shown.at(-1)!.length).toBeGreaterThan(redacted.length - 90);
      }
    }
  });
});

test('plain text is held back by one word only', () => {
  expect(shownOf('It is on its way.', () => 4)).toEqual([
    'It ',
    'It is ',
    'It is on ',
    'It is on its ',
    'It is on its ',
  ]);
});

test('a text without blanks comes by its own signs', () => {
  expect(shownOf('你好。世界', () => 1)).toEqual(['', '', '你好。', '你好。', '你好。']);
});

test('what only an argument shows to be secret is held back, too', () => {
  const redactor = redactorOf();
  const item = { type: 'tool_call', callId: '1.1', toolName: 'login', arguments: { password: 'blue lagoon' } } as const;
  redactor.note([{ type: 'RunItemEvent', id: 'a.1.0', workflowId: 'w', at: '', item }]);
  const text = `I used blue lagoon. ${after}`;
  const shown = shownOf(text, () => 1, redactor);
  expect(shown.some((each) => each.includes('blue'))).toBe(false);
  expect(shown.at(-1)).toContain('I used [PASSWORD]. ');
});

test("a policy's own pattern is looked for in a thousand characters", () => {
  const redactor = redactorOf(policy({ redact: { patterns: [{ name: 'TICKET', pattern: 'T-\\d+ of [a-z]+' }] } }));
  const text = `Ticket T-77 of ann. ${'More words. '.repeat(120)}`;
  const shown = shownOf(text, () => 5, redactor);
  expect(shown.some((each) => /T-7|of ann/.test(each))).toBe(false);
  expect(shown.at(-1)).toContain('Ticket [TICKET · ee57]. More');
});

test('nothing shows while the policies are unknown, and if they hide arguments', () => {
  const text = 'Some words that are no secret at all.';
  expect(shownOf(text, () => 9, new EventRedactor()).join('')).toBe('');
  expect(shownOf(text, () => 9, redactorOf(policy({ approval: { includeArguments: false } }))).join('')).toBe('');
});

test('a text whose beginning is unknown does not show: it may be the rest of a secret', () => {
  const redactor = redactorOf();
  expect(redactor.tail(1, { attempt: 1, offset: 20, tail: 'the rest of a key and more words' })).toBeUndefined();
  expect(redactor.tail(1, { attempt: 2, offset: 0, tail: 'again from its beginning' })?.tail).toBe('again from its ');
  expect(redactor.tail(2, { attempt: 1, offset: 0, tail: 'another turn' })?.tail).toBe('another ');
});

test('without redaction, everything shows at once', () => {
  const redactor = redactorOf(policy({ approval: { redact: false } }));
  expect(shownOf('my key is sk-12', () => 20, redactor)).toEqual(['my key is sk-12']);
});
