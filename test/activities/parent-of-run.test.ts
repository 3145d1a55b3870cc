import { expect, test } from 'vitest';
import { changedParents } from '../../src/activities/parent-of-run.ts';
import type { JsonObject } from '../../src/core/base/tool-call.ts';

/** Anyone can send policies as those of a run above: a member of another form or beyond its bounds is refused. */

const asking = (ask: JsonObject): JsonObject => ({ rules: [{ pattern: 'pay', action: 'ask', ask }] });

test.each<[boolean, JsonObject]>([
  [true, {}],
  [true, { ofANewerVersion: 1 }],
  [true, { approval: { timeoutMs: null, maxTimeoutMs: 0, minRemindMs: 1_000, ofANewerVersion: 1 } }],
  [false, { approval: { timeoutMs: -1 } }],
  [false, { approval: { minRemindMs: 999 } }],
  [false, { approval: { minRemindMs: null } }],
  [false, { approval: { maxPending: -1 } }],
  [false, { approval: { onTimeout: 'ask' } }],
  [true, { advisor: { name: 'a', timeoutMs: 1_000 } }],
  [false, { advisor: { name: 'a', timeoutMs: 0 } }],
  [false, { advisor: { name: 'a', mayApprove: 'yes' } }],
  [true, asking({ quorum: 1, always: false, remindMs: 1_000, escalate: [{ afterMs: 0, to: ['ann'] }] })],
  [true, { rules: [{ pattern: '[z-a', when: 'no CEL', action: 'deny' }] }],
  [false, asking({ quorum: 0 })],
  [false, asking({ remindMs: 999 })],
  [false, asking({ escalate: [{ afterMs: -1, to: ['ann'] }] })],
  [false, asking({ advisor: { name: 'a', timeoutMs: 0 } })],
  [false, { rules: [{ pattern: 'pay', action: 'log' }] }],
])('%s: %j', (isGood, members) => {
  const policy = { version: 1, rules: [], riskDefaults: {}, approval: {}, ...members };
  expect(changedParents.safeParse({ policies: [policy] }).success).toBe(isGood);
});
