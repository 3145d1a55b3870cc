import { expect, test } from 'vitest';
import { createLoadGate } from '../../src/activities/load-gate.ts';

test('records the name of the agent in NFC, as policies have it', async () => {
  const continueAsNewAfter = { historyEvents: 100, updates: 100 };
  const loadGate = createLoadGate({
    agentPolicies: new Map(),
    ceiling: undefined,
    continueAsNewAfter,
    gated: new Map(),
  });
  expect(await loadGate({ agent: 'rene\u0301', gated: [] })).toMatchObject({ agent: 'ren\u00e9' });
});
