import { expect, test } from 'vitest';
import { gatedDefinition } from '../../src/core/policy/gated-activity.ts';
import { createLoadGate } from '../../src/activities/load-gate.ts';

const loadGate = createLoadGate({
  agentPolicies: new Map(),
  ceiling: undefined,
  continueAsNewAfter: { historyEvents: 100, updates: 100 },
  gated: new Map(),
});

test('records the name of the agent in NFC, as policies have it', async () => {
  expect(await loadGate({ agent: 'rene\u0301', gated: [] })).toMatchObject({ agent: 'ren\u00e9' });
});

test('refuses an option that a workflow misspelt, with the nearest name', async () => {
  const requested = { agent: 'order', gated: [], polcy: { rules: [] } };
  await expect(loadGate(requested)).rejects.toThrow("gate.load: unknown option 'polcy': did you mean 'policy'?");
});

test('refuses what a workflow misspelt where it guards an activity', async () => {
  const declared = { ...gatedDefinition('refund', {}), written: ['rsk', 'arguments'] };
  await expect(loadGate({ agent: 'order', gated: [declared] })).rejects.toThrow(
    "gate.guard: 'refund': unknown option 'rsk': did you mean 'risk'?",
  );
});
