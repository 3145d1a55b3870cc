import { afterAll, beforeAll, expect, test } from 'vitest';
import { readFileSync } from 'node:fs';
import { parsePolicy } from '../../../src/policy-file/parse-policy.ts';
import example from '../../../examples/channels/advisor.ts';
import { runShop, type ShopRun } from './shop-world.ts';
import { examplesOf } from '../../support/policy-pages.ts';

let shop: ShopRun;
beforeAll(async () => {
  shop = await runShop(example);
});
afterAll(() => shop.close());

test('the advisor approves the cheap item; a person, who reads its advice, decides about the account', async () => {
  const [request] = await shop.run.open();
  expect(request).toMatchObject({
    toolName: 'delete_account',
    assessment: { severity: 'critical' },
    advice: [{ advisor: 'triage', answer: 'ask', severity: 'critical', reason: 'The customer has open orders.' }],
  });
  const denial = { requestId: request!.requestId, approved: false };
  await shop.run.handle.executeUpdate('decide', { args: [denial] });
  expect(await shop.outcomes()).toEqual(['replace_item: allowed', 'delete_account: denied']);
});

test('the policies on the page are valid', () => {
  const page = readFileSync(new URL('../../../docs/advisors.md', import.meta.url), 'utf8');
  const examples = examplesOf(page);
  expect(examples).toHaveLength(1);
  for (const { source } of examples) expect(parsePolicy(source, { ceiling: true })).not.toHaveProperty('problems');
});
