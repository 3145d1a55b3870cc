import { expect, test } from 'vitest';
import { HiddenByPolicies } from '../../src/events/hidden-by-policies.ts';
import type { Activity, Fact } from '../../src/events/history-event.ts';
import { RecordedPolicies } from '../../src/events/recorded-policies.ts';

const policyOf = (name: string, approval: object = {}) => ({
  version: 1,
  rules: [{ pattern: name, action: 'deny' }],
  riskDefaults: {},
  approval,
});

const started = (more: object): Fact => ({
  kind: 'started',
  workflowType: 'agentRun',
  isAgentRun: true,
  workflowId: 'w',
  runId: 'r',
  firstRunId: 'r',
  ...more,
});

function ended(kind: 'config' | 'policy' | 'parents', result: unknown): Fact {
  const activity: Activity = { kind, scheduledEventId: 5, given: {} };
  return { kind: 'ended', activity, state: 'completed', end: { result } };
}

const config = (agent: string, more: object = {}) => ({ agent, tools: [], policyDigest: 'a'.repeat(64), ...more });

function hidden(...facts: Fact[]): HiddenByPolicies {
  const policies = new HiddenByPolicies();
  for (const what of facts) policies.learn({ eventId: 1, at: '2026-01-01T00:00:00.000Z', what, journal: [] });
  return policies;
}

test('a run begins with what was loaded, and goes on with what its executions handed over', () => {
  const policies = new RecordedPolicies();
  const change = { policy: policyOf('change') };
  const carried = { gate: { ledger: {}, change }, state: { config: config('later'), agent: 'billing' } };
  expect(policies.take(started({}))).toBe('none');
  expect(policies.take(ended('config', config('first')))).toBe('more');
  expect(policies.take(started({ before: 'r', carried }))).toBe('more');
  expect(policies).toMatchObject({ first: { agent: 'first' }, config: { agent: 'later' }, changed: { change } });
  expect([policies.carried, policies.pasts.length]).toEqual([undefined, 1]);
});

test('a history whose beginning is gone begins with what its first execution was handed', () => {
  const policies = new RecordedPolicies();
  const carried = { gate: { ledger: {} }, config: config('desk') };
  policies.take(started({ before: 'r', carried }));
  expect(policies).toMatchObject({ first: { agent: 'desk' }, carried: { config: { agent: 'desk' } } });
});

test('policies that nobody can read hide everything, for good', () => {
  const known = [started({}), ended('config', config('a'))];
  expect(hidden(...known).isKnown).toBe(true);
  const unreadable = [started({ before: 'r', carried: null }), ended('policy', 'no object'), ended('config', null)];
  for (const each of unreadable) expect(hidden(...known, each, ...known).isKnown).toBe(false);
  expect(hidden(...known, ended('policy', { problem: 'it is none' })).isKnown).toBe(true);
});

test('reviewers see no arguments once a policy of any agent, of a change or of a calling run says so', () => {
  const hides = policyOf('x', { includeArguments: false });
  const first = ended('config', config('a'));
  expect(hidden(first).hidesArguments).toBe(false);
  expect(hidden(ended('config', config('a', { handoffs: [config('b', { run: hides })] }))).hidesArguments).toBe(true);
  expect(hidden(first, ended('policy', { policy: hides })).hidesArguments).toBe(true);
  expect(hidden(first, ended('parents', { policies: [hides] })).hidesArguments).toBe(true);
  const loosened = [ended('policy', { policy: hides }), ended('policy', { policy: policyOf('y') })];
  expect(hidden(first, ...loosened).hidesArguments).toBe(true);
  // A tool's schema may have the same words, and is no policy.
  const tools = [{ name: 't', schema: { approval: { includeArguments: false } } }];
  expect(hidden(ended('config', config('a', { tools }))).hidesArguments).toBe(false);
});
