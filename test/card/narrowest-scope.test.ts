import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import type { JsonObject } from '../../src/core/base/tool-call.ts';
import { type AskedAlways, narrowestScope, scopeCovers, scopeSteps } from '../../src/card/narrowest-scope.ts';
import { parseDecision, type RequestedScope } from '../../src/core/messages/decision.ts';
import { parseJson } from '../../src/core/base/json.ts';

const asked = (args: JsonObject, terms: AskedAlways['terms'] = { widest: 'tool' }): AskedAlways => ({
  tool: 'pay',
  args,
  terms,
});
const shell: AskedAlways['terms'] = { widest: 'arguments', command: { argument: 'command', beside: ['note'] } };
const exact = (match: Record<string, string>): RequestedScope => ({ kind: 'arguments', match });
const call: RequestedScope = { kind: 'call' };

describe('the narrowest scope', () => {
  test.each<[string, AskedAlways, RequestedScope]>([
    ['each argument', asked({ to: 'ann', amount: 20 }), exact({ to: 'ann', amount: '20' })],
    ['wildcards are spelled', asked({ to: 'a*b?c[d]' }), exact({ to: 'a[*]b[?]c[[]d]' })],
    ['blanks at the ends', asked({ to: ' a\t' }), exact({ to: '[ ]a[\t]' })],
    ['a single blank', asked({ to: ' ' }), exact({ to: '[ ]' })],
    ['other values are JSON', asked({ a: null, b: [1, '*'], c: {} }), exact({ a: 'null', b: '[[]1,"[*]"]', c: '{}' })],
    ['no arguments', asked({}), call],
    ['an empty text', asked({ to: '' }), call],
    ['a long text', asked({ to: 'x'.repeat(300) }), call],
    ['many wildcards', asked({ to: '*'.repeat(17) }), call],
    ['many arguments', asked(Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`a${index}`, 1]))), call],
    ['a long name', asked({ ['n'.repeat(201)]: 1 }), call],
    ['terms that admit no more', asked({ to: 'ann' }, { widest: 'call' }), call],
    ['a command', asked({ command: 'ls -l' }, shell), exact({ command: 'ls -l' })],
    ['a command and what is beside it', asked({ command: 'ls', env: 'x' }, shell), exact({ command: 'ls', env: 'x' })],
    ['several commands', asked({ command: 'ls; rm x' }, shell), exact({ command: 'ls; rm x' })],
    ['several commands with a wildcard', asked({ command: 'ls *; rm x' }, shell), call],
  ])('%s', (_name, each, scope) => {
    expect(narrowestScope(each)).toEqual(scope);
  });

  test('it covers its call and no other, and a decision may hold it', () => {
    const args = fc.dictionary(
      fc.string({ minLength: 1, maxLength: 5 }),
      fc.jsonValue({ maxDepth: 1 }).map((value) => parseJson(JSON.stringify(value)) as JsonObject[string]),
      { maxKeys: 4, noNullPrototype: true },
    );
    fc.assert(
      fc.property(args, args, (one, other) => {
        const scope = narrowestScope(asked(one));
        expect(scopeCovers(scope, asked(one), one)).toBe(true);
        const decision = { requestId: '0'.repeat(32), approved: true, always: scope };
        expect(parseDecision(decision)).toHaveProperty('decision');
        const isWithin = Object.entries(one).every(([name, value]) => textOf(other[name]) === textOf(value));
        if (!isWithin) expect(scopeCovers(scope, asked(one), other)).toBe(false);
      }),
    );
  });
});

/** A text and a JSON value that is written like it are the same to a glob. */
function textOf(value: JsonObject[string] | undefined): string | undefined {
  return typeof value === 'string' ? value.normalize('NFC') : JSON.stringify(sorted(value))?.normalize('NFC');
}

function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  return Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

test.each<[string, AskedAlways, RequestedScope['kind'][]]>([
  ['any grant', asked({ to: 'ann' }), ['call', 'arguments', 'tool']],
  ['no whole tool', asked({ to: 'ann' }, { widest: 'arguments' }), ['call', 'arguments']],
  ['only the call', asked({ to: 'ann' }, { widest: 'call' }), ['call']],
  ['no arguments', asked({}), ['call', 'tool']],
])('the scopes to choose from: %s', (_name, each, kinds) => {
  expect(scopeSteps(each).map(({ kind }) => kind)).toEqual(kinds);
});

test.each<[string, RequestedScope, AskedAlways, JsonObject, boolean]>([
  ['the same call', call, asked({ a: 1, b: 2 }), { b: 2, a: 1 }, true],
  ['another call', call, asked({ a: 1 }), { a: 2 }, false],
  ['any call of the tool', { kind: 'tool' }, asked({ a: 1 }), { b: 2 }, true],
  ['not any call if the terms do not admit it', { kind: 'tool' }, asked({ a: 1 }, { widest: 'call' }), { a: 1 }, false],
  ['a glob', exact({ to: '*@acme.com' }), asked({ to: 'ann@acme.com' }), { to: 'bob@acme.com', cc: 'eve' }, true],
  ['an argument that is missing', exact({ to: 'ann', cc: '*' }), asked({ to: 'ann' }), { to: 'ann' }, false],
  [
    'each part of a command',
    exact({ command: 'make*' }),
    asked({ command: 'make' }, shell),
    { command: 'make; rm x' },
    false,
  ],
  [
    'what is beside a command',
    exact({ command: 'ls' }),
    asked({ command: 'ls' }, shell),
    { command: 'ls', env: 'x' },
    false,
  ],
  [
    'what is harmless beside it',
    exact({ command: 'ls' }),
    asked({ command: 'ls' }, shell),
    { command: 'ls', note: 'x' },
    true,
  ],
])('covers: %s', (_name, scope, each, args, covered) => {
  expect(scopeCovers(scope, each, args)).toBe(covered);
});
