import { describe, expect, test } from 'vitest';
import {
  coversCommand,
  defaultAlways,
  grantFor,
  isOfDefinition,
  narrowest,
  standingDenial,
  type Grant,
  type GrantScope,
} from '../../../src/core/policy/grants.ts';
import type { Always } from '../../../src/core/policy/policy.ts';
import { grantedCommand } from '../../../src/core/policy/whole-call.ts';
import { notSplit } from '../../../src/core/shell/parts.ts';
import { splitShell } from '../../../src/shell/split.ts';
import type { Json, JsonObject } from '../../../src/core/base/tool-call.ts';
import { readyCall, type RuledCall } from '../../../src/core/policy/ruling.ts';

type Call = Parameters<typeof grantFor>[1];

const grant = (scope: Grant['scope'], more: Partial<Grant> = {}): Grant => ({
  grantId: 'g',
  tool: 'pay',
  approved: true,
  scope,
  ...more,
});
const tool = { kind: 'tool' } as const;
const ready = (call: Omit<RuledCall, 'tool' | 'risk'>) => readyCall({ tool: 'pay', risk: 'write', ...call }, {});
const call = (args: JsonObject = {}, atMs: number | undefined = 1_000): Call => ({
  digest: 'd1',
  atMs,
  ready: ready({ args }),
});
const ofCommand = (match: Record<string, string>): Grant => grant({ kind: 'arguments', match });

const commandCall = (command: Json, beside: JsonObject = {}): Call => {
  const args = { command, ...beside };
  const shell = typeof command === 'string' ? splitShell(command) : notSplit;
  const declared = { args, subject: 'command', shell };
  return { ...call(), ready: ready(declared), command: grantedCommand(declared) };
};
const withEnv = commandCall('ls -l', { env: {} });
const twoCommands = commandCall('ls; rm x');
const noCommand = commandCall(['ls']);
const missing = { args: { note: 'n' }, subject: 'command', shell: notSplit };
const missingCommand: Call = { ...call(), ready: ready(missing), command: grantedCommand(missing) };

describe('whether a grant fits', () => {
  test.each<[string, Grant, Call, boolean]>([
    ['any call of the tool', grant(tool), call(), true],
    ['another tool', grant(tool, { tool: 'Pay' }), call(), false],
    ['the same call', grant({ kind: 'call', digest: 'd1' }), call(), true],
    ['another call', grant({ kind: 'call', digest: 'd2' }), call(), false],
    ['a call without a digest', grant({ kind: 'call', digest: 'd1' }), { ...call(), digest: undefined }, false],
    ['every glob', grant({ kind: 'arguments', match: { to: 'a*', n: '1' } }), call({ to: 'acme', n: 1, x: 2 }), true],
    ['not every glob', grant({ kind: 'arguments', match: { to: 'a*', n: '1' } }), call({ to: 'acme', n: 2 }), false],
    ['a missing argument', grant({ kind: 'arguments', match: { to: '*' } }), call(), false],
    ['an argument of the prototype', grant({ kind: 'arguments', match: { constructor: '*' } }), call(), false],
    ['no glob', grant({ kind: 'arguments', match: {} }), call({ to: 'x' }), false],
    ['a bad glob', grant({ kind: 'arguments', match: { to: '[z-a]' } }), call({ to: '[z-a]' }), false],
    ['the last instant', grant(tool, { expiresAtMs: 1_000 }), call(), true],
    ['too late', grant(tool, { expiresAtMs: 999 }), call(), false],
    ['no clock', grant(tool, { expiresAtMs: 9_999 }), { ...call(), atMs: undefined }, false],
    ['a use left', grant(tool, { usesLeft: 1 }), call(), true],
    ['used up', grant(tool, { usesLeft: 0 }), call(), false],
    ['no clock, and no end', grant(tool), { ...call(), atMs: undefined }, true],
    ['a standing denial', grant(tool, { approved: false }), call(), false],
    ['any call of the tool, a command', grant(tool), twoCommands, true],
    ['the same command', grant({ kind: 'call', digest: 'd1' }), twoCommands, true],
    ['the first of two commands', ofCommand({ command: 'ls*' }), twoCommands, false],
    ['another argument than the command', ofCommand({ note: 'n' }), commandCall('ls', { note: 'n' }), false],
    ['another argument, and no command', ofCommand({ note: 'n' }), missingCommand, false],
    ['a command that is no text', ofCommand({ command: '*' }), noCommand, false],
    ['an undeclared argument that no glob matches', ofCommand({ command: 'ls*' }), withEnv, false],
    ['an undeclared argument with a glob', ofCommand({ command: 'ls*', env: '{}' }), withEnv, true],
    ['an undeclared argument with a glob that does not match', ofCommand({ command: 'ls*', env: 'x' }), withEnv, false],
    ['an undeclared argument, but a glob for it alone', ofCommand({ env: '*' }), withEnv, false],
    ['the very text of two commands', ofCommand({ command: 'ls; rm x' }), twoCommands, true],
    ['the very text, but an undeclared argument without a glob', ofCommand({ command: 'ls -l' }), withEnv, false],
    ['the very text, and an undeclared argument with one', ofCommand({ command: 'ls -l', env: '{}' }), withEnv, true],
    ['the very text, and a glob that does not match', ofCommand({ command: 'ls -l', env: 'x' }), withEnv, false],
    ['the very text, and a bad glob', ofCommand({ command: 'ls -l', env: '[z-a]' }), withEnv, false],
    ['a wrapper that the glob names', ofCommand({ command: 'sudo ls*' }), commandCall('sudo ls -l'), true],
    ['a wrapper that it does not name', ofCommand({ command: '*ls*' }), commandCall('sudo ls -l'), false],
    ['an undeclared argument in the same call', grant({ kind: 'call', digest: 'd1' }), withEnv, true],
    ['an undeclared argument, but any call of the tool', grant(tool), withEnv, true],
  ])('%s', (_, theGrant, theCall, expected) => {
    expect(grantFor([theGrant], theCall, 'tool') === theGrant).toBe(expected);
  });

  test('a standing denial is found only as a standing denial', () => {
    const [yes, no] = [grant(tool), grant(tool, { grantId: 'n', approved: false })];
    expect(standingDenial([yes, no], call())).toBe(no);
    expect(standingDenial([yes], call())).toBeUndefined();
    expect(grantFor([no, yes], call(), 'tool')).toBe(yes);
  });

  test.each<[string, Partial<Grant>, Call, boolean]>([
    ['the last instant', { expiresAtMs: 1_000 }, call(), true],
    ['too late', { expiresAtMs: 999 }, call(), false],
    ['no clock', { expiresAtMs: 9_999 }, { ...call(), atMs: undefined }, true],
    ['the same call', { scope: { kind: 'call', digest: 'd1' } }, call(), true],
    ['another call', { scope: { kind: 'call', digest: 'd2' } }, call(), false],
    ['no glob', { scope: { kind: 'arguments', match: {} } }, call({ to: 'x' }), false],
    [
      'not every glob',
      { scope: { kind: 'arguments', match: { to: 'a*', n: '1' } } },
      call({ to: 'acme', n: 2 }),
      false,
    ],
    // A denial counts where it cannot be evaluated.
    ['a missing argument', { scope: { kind: 'arguments', match: { to: '*' } } }, call(), true],
    ['a bad glob', { scope: { kind: 'arguments', match: { to: '[z-a]' } } }, call({ to: '[z-a]' }), true],
  ])('a standing denial: %s', (_, more, theCall, expected) => {
    const denial = grant(tool, { approved: false, ...more });
    expect(standingDenial([denial], theCall) === denial).toBe(expected);
  });

  test('a standing denial of a command denies it beside any arguments', () => {
    const denial = { ...ofCommand({ command: 'ls*' }), approved: false };
    expect(standingDenial([denial], withEnv)).toBe(denial);
  });
});

test.each<[string, GrantScope, string, boolean]>([
  ['any call', tool, 'ls; rm x', true],
  ['a glob on each part', { kind: 'arguments', match: { command: 'ls*' } }, 'ls a; ls b', true],
  ['a glob on one part', { kind: 'arguments', match: { command: 'ls*' } }, 'ls; rm x', false],
  ['no glob on the command', { kind: 'arguments', match: { note: '*' } }, 'ls', false],
  ['a glob on a command that may do more', { kind: 'arguments', match: { command: 'ls*' } }, 'ls > f', false],
  ['the text of a command that may do more', { kind: 'arguments', match: { command: 'ls > f' } }, 'ls > f', true],
])('a grant of %s: %j covers %s: %s', (_, scope, command, expected) => {
  expect(coversCommand(grant(scope), commandCall(command, { note: 'n' }))).toBe(expected);
});

describe('a list', () => {
  const some = call({ to: ['ann@acme.com', 'eve@evil.example'] });
  const all = call({ to: ['ann@acme.com', 'bob@acme.com'] });
  test.each<[string, boolean, string, Call, boolean]>([
    ['an approval needs every element', true, '*@acme.com', all, true],
    ['an approval of one element', true, '*@acme.com', some, false],
    ['a denial of one element', false, '*@evil.example', some, true],
    ['a denial of no element', false, '*@evil.example', all, false],
  ])('%s', (_, approved, to, theCall, expected) => {
    const each = grant({ kind: 'arguments', match: { to } }, { approved });
    const found = approved ? grantFor([each], theCall, 'tool') : standingDenial([each], theCall);
    expect(found === each).toBe(expected);
  });
});

describe('the widest scope', () => {
  const kinds = [grant({ kind: 'call', digest: 'd1' }), grant({ kind: 'arguments', match: { to: '*' } }), grant(tool)];
  test.each<[Always, number]>([
    [false, 0],
    ['call', 1],
    ['arguments', 2],
    ['tool', 3],
  ])('a rule that admits %s admits %i of the three kinds', (widest, count) => {
    expect(kinds.filter((each) => grantFor([each], call({ to: 'x' }), widest) !== undefined)).toEqual(
      kinds.slice(0, count),
    );
  });

  test.each<[Always[], Always]>([
    [[], 'tool'],
    [['tool', 'call', 'arguments'], 'call'],
    [['tool', 'arguments'], 'arguments'],
    [['call', false], false],
  ])('several rules %j admit %s', (all, expected) => expect(narrowest(all)).toBe(expected));

  test('the default for a rule without the setting', () => {
    expect(defaultAlways({ risk: 'write' })).toBe('tool');
    expect(defaultAlways({ risk: 'destructive' })).toBe('call');
    expect(defaultAlways({ risk: 'write', shell: { parts: [], uncertain: [] } })).toBe('call');
  });
});

test.each<[string, Partial<Grant>, string | undefined, boolean]>([
  ['of the same definition', { definition: 'one' }, 'one', true],
  ['of another definition', { definition: 'one' }, 'two', false],
  ['of a grant that names none', {}, 'two', true],
  ['while the present definition is unknown', { definition: 'one' }, undefined, true],
  ['of another definition, but a denial', { definition: 'one', approved: false }, 'two', true],
])('a grant %s is valid: %j, now %s: %s', (_, more, now, expected) => {
  expect(isOfDefinition(grant(tool, more), now)).toBe(expected);
});
