import { expect, test } from '@jest/globals';
import { checkGated } from '../../src/agents/check-gated.ts';

test('returns the declarations by name', () => {
  const gated = checkGated({ refund: { risk: 'destructive', arguments: ['orderId'], subject: 'orderId' }, order: {} });
  expect([...gated.keys()]).toEqual(['refund', 'order']);
  expect(gated.get('refund')).toMatchObject({ risk: 'destructive', argumentNames: ['orderId'], subject: 'orderId' });
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
