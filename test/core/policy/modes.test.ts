import { expect, test } from 'vitest';
import { applyMode, isMode, modes, type Mode, type Action } from '../../../src/core/policy/modes.ts';
import type { Risk } from '../../../src/core/base/tool-call.ts';

test.each([...modes])('%s is a mode', (mode) => expect(isMode(mode)).toBe(true));
test.each(['', 'Plan', 'constructor', 'toString', undefined, 7, ['plan']])('%j is not a mode', (name) =>
  expect(isMode(name)).toBe(false),
);

test.each<[Mode, 'allow' | 'ask' | 'none', Action, Risk, { action: Action; decided: boolean }]>([
  ['default', 'ask', 'ask', 'write', { action: 'ask', decided: false }],
  ['default', 'none', 'ask', 'write', { action: 'ask', decided: false }],
  // The rule decided, not the mode.
  ['plan', 'allow', 'allow', 'read_only', { action: 'allow', decided: false }],
  ['plan', 'allow', 'allow', 'write', { action: 'deny', decided: true }],
  ['confirm_all', 'allow', 'allow', 'write', { action: 'ask', decided: true }],
  ['plan', 'none', 'allow', 'read_only', { action: 'allow', decided: true }],
  ['bypassPermissions', 'none', 'allow', 'read_only', { action: 'allow', decided: true }],
  ['custom', 'none', 'allow', 'read_only', { action: 'allow', decided: true }],
  // The risk default stays, so the mode did not decide.
  ['headless', 'none', 'allow', 'read_only', { action: 'allow', decided: false }],
  ['headless', 'none', 'ask', 'write', { action: 'deny', decided: true }],
  ['acceptEdits', 'none', 'allow', 'write', { action: 'allow', decided: false }],
  ['acceptEdits', 'none', 'ask', 'write', { action: 'allow', decided: true }],
  ['acceptEdits', 'none', 'ask', 'unknown', { action: 'ask', decided: false }],
])('%s, %s, %s, %s: who decided', (mode, by, action, risk, expected) => {
  expect(applyMode(mode, by, action, { risk, severity: 'safe', requiresApproval: false })).toEqual(expected);
});
