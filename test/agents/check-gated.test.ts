import { expect, test } from 'vitest';
import { checkGated, ungatedWindows } from '../../src/agents/check-gated.ts';

test('returns the declarations by name', () => {
  const gated = checkGated({ refund: { risk: 'destructive', arguments: ['orderId'], subject: 'orderId' }, order: {} });
  expect([...gated.keys()]).toEqual(['refund', 'order']);
  expect(gated.get('refund')).toMatchObject({ risk: 'destructive', argumentNames: ['orderId'], subject: 'orderId' });
});

test('keeps the arguments to show apart from the definition that an approval is bound to', () => {
  const plain = checkGated({ refund: { arguments: ['orderId'] } }).get('refund');
  const shown = checkGated({ refund: { arguments: ['orderId'], show: ['orderId'] } }).get('refund');
  expect(shown).toEqual({ ...plain, show: ['orderId'] });
});

test('accepts arguments that are harmless beside a command, named or by position', () => {
  const named = {
    arguments: ['command', 'note'],
    subject: { argument: 'command', shell: true, beside: ['note'] },
  } as const;
  const unnamed = { subject: { argument: '$1', shell: true, beside: ['$2'] } } as const;
  const gated = checkGated({ named, unnamed });
  expect(gated.get('named')).toMatchObject({ subject: 'command', shellSubject: true, beside: ['note'] });
  expect(gated.get('unnamed')).toMatchObject({ subject: '$1', shellSubject: true, beside: ['$2'] });
});

test('reads when an activity may be called without a permit', () => {
  const windows = ungatedWindows({
    charge: { gatedSince: '2030-01-31T12:00:00+02:00', ungatedUntil: '2030-03-01' },
    refund: {},
  });
  expect([...windows]).toEqual([
    ['charge', { sinceMs: Date.parse('2030-01-31T10:00:00Z'), untilMs: Date.parse('2030-03-01T00:00:00Z') }],
  ]);
});

test.each<[string, object, RegExp]>([
  ['no gatedSince', { ungatedUntil: '2030-01-31' }, /ungatedUntil needs gatedSince, the time from which/],
  ['no ungatedUntil', { gatedSince: '2030-01-31' }, /gatedSince needs ungatedUntil$/],
  ['no instant', { gatedSince: 'soon', ungatedUntil: '2030-01-31' }, /gatedSince must be an instant with its offset/],
  ['a time without an offset', { gatedSince: '2030-01-01T12:00', ungatedUntil: '2030-01-31' }, /gatedSince must be an/],
  ['a day that does not exist', { gatedSince: '2030-01-01', ungatedUntil: '2030-02-32' }, /ungatedUntil must be an/],
  ['a Date', { gatedSince: new Date(0), ungatedUntil: '2030-01-31' }, /gatedSince must be an instant/],
  [
    'an end before the start',
    { gatedSince: '2030-02-01', ungatedUntil: '2030-01-31' },
    /must be later than gatedSince$/,
  ],
])('a window with %s is reported in one sentence', (_name, window, message) => {
  const declared = { charge: window } as never;
  expect(() => ungatedWindows(declared)).toThrow(message);
  expect(() => ungatedWindows(declared)).toThrow(/^gated activity 'charge': /);
});

test.each<[string, unknown, RegExp]>([
  ['no object', ['refund'], /^gated must be an object/],
  ['a name that no pattern could match', { 're fund': {} }, /^tool name "re fund"/],
  ['a name that is taken', { default: {} }, /^tool name 'default' is taken/],
  ['no declaration', { refund: true }, /^gated activity 'refund': expected an object/],
  ['an unknown option', { refund: { risks: 'write' } }, /^gated activity 'refund': unknown option 'risks'/],
  ['an unknown risk', { refund: { risk: 'high' } }, /^gated activity 'refund': risk must be one of read_only, write/],
  ['a description that is no text', { refund: { description: 1 } }, /description must be text/],
  ['arguments that are no names', { refund: { arguments: ['$1'] } }, /arguments must be a list of names/],
  ['arguments of one name', { refund: { arguments: ['a', 'a'] } }, /arguments must be different names/],
  [
    'a subject that is no argument',
    { refund: { arguments: ['a'], subject: 'b' } },
    /subject must name one of its arguments \(a\)/,
  ],
  ['a shell subject without shell', { refund: { subject: { argument: 'a' } } }, /subject\.shell must be true/],
  [
    'an unknown argument beside a command',
    { sh: { arguments: ['command', 'note'], subject: { argument: 'command', shell: true, beside: ['env'] } } },
    /subject\.beside must list arguments beside 'command' \(note\)$/,
  ],
  [
    'a list that is none beside a command',
    { sh: { subject: { argument: '$1', shell: true, beside: '$2' } } },
    /subject\.beside must list arguments beside '\$1' \(none\)$/,
  ],
  [
    'arguments to show that are no list',
    { refund: { show: 'orderId' } },
    /'refund': show must be a list of at most 20/,
  ],
  ['a subject that is nothing', { refund: { subject: null } }, /subject: expected an object/],
  ['idempotent, perhaps', { refund: { idempotent: 'yes' } }, /idempotent must be true or false/],
  [
    'no heartbeat time-out',
    { refund: { heartbeat: { timeoutMs: 0 } } },
    /heartbeat\.timeoutMs: expected a whole number/,
  ],
])('%s: reported in one sentence', (_name, gated, message) => {
  expect(() => checkGated(gated as never)).toThrow(message);
});
