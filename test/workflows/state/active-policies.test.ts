import { expect, test } from 'vitest';
import { ActivePolicies } from '../../../src/workflows/state/active-policies.ts';

const active = (recorded: { tellsApart?: true }): ActivePolicies =>
  new ActivePolicies(
    { agent: 'a', policies: {}, continueAsNewAfter: { historyEvents: 8_000, updates: 1_500 }, ...recorded },
    undefined,
  );

test.each<[string, { tellsApart?: true }, string]>([
  ['of an older version: they have the lengths that it recorded', {}, 'pay [CARD] with password=[PASSWORD]'],
  ['that records it', { tellsApart: true }, 'pay [CARD …1111 · 9bbe] with password=[PASSWORD]'],
])('placeholders in the journal and memo of a run %s', (_name, recorded, shown) => {
  const text = 'pay 4111 1111 1111 1111 with password=hunter2';
  expect(active(recorded).redactText(text, ['PASSWORD', 'CARD'])).toBe(shown);
});
