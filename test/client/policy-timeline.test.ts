import { expect, test } from 'vitest';
import { PolicyTimeline } from '../../src/client/audit/evidence-of.ts';
import { RecordedPolicies } from '../../src/events/recorded-policies.ts';
import { policyDigest } from '../../src/core/policy/policy.ts';
import { changeRunSide } from '../../src/core/policy/run-side.ts';
import type { AgentConfig } from '../../src/core/policy/run-config.ts';
import { parsePolicy } from '../../src/policy-file/parse-policy.ts';

function agent(name: string, reason: string): AgentConfig {
  const parsed = parsePolicy({ rules: [{ pattern: '*', action: 'ask', reason }] });
  if ('problems' in parsed) throw new Error('the policy is valid');
  const run = parsed.policy;
  return { agent: name, instructions: '', tools: [], maxTurns: 5, run, policyDigest: policyDigest({ run }) };
}

test('a change of the policies may come before the first entry of the agent that took over', () => {
  const [first, second] = [agent('front', 'A'), agent('billing', 'B')];
  const recorded = new RecordedPolicies();
  const result = { ...first, handoffs: [second], continueAsNewAfter: { historyEvents: 8_000, updates: 1_500 } };
  const activity = { kind: 'config', scheduledEventId: 5, given: {} } as const;
  recorded.take({ kind: 'ended', activity, state: 'completed', end: { result } });
  recorded.take({ kind: 'message', name: 'setPolicy', via: 'signal', value: { mode: 'plan' } });
  const run = changeRunSide(second.run, { mode: 'plan' });
  const entry = { seq: 1, at: '2026-01-02T03:00:00.000Z', engine: 1 } as const;
  const timeline = new PolicyTimeline(recorded);
  expect(timeline.at({ ...entry, kind: 'policy', policyDigest: policyDigest({ ...(run && { run }) }) })).toEqual({
    agent: 'billing',
    layers: { run },
  });
  expect(timeline.at({ ...entry, kind: 'policy', policyDigest: 'f'.repeat(64) })).toMatchObject({
    agent: 'billing',
    why: 'the history does not keep the policies that were set here',
  });
});
