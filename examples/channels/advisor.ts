/**
 * A function on the worker looks at each call that the policy asks about, before people do. Here it approves replacements
 * of cheap items, where the rule says that it may, and tells reviewers what it knows of the rest.
 *
 *   countersign worker examples/channels/advisor.ts
 *   countersign run shop --input 'My lamp came broken'
 *
 */
import type { AdvisorFunction } from 'countersign';
import { shop } from './shop.ts';

/** Stands for a price list. */
const cheap = ['lamp', 'cable'];

const triage: AdvisorFunction = ({ tool, args }) => {
  if (tool === 'replace_item' && cheap.some((each) => each === args.item)) {
    return { answer: 'approve', reason: 'The item is cheap.' };
  }
  return { answer: 'ask', severity: 'critical', reason: 'The customer has open orders.' };
};

const policy = {
  rules: [
    { pattern: 'replace_item', action: 'ask', ask: { advisor: { name: 'triage', may_approve: true } } },
    { pattern: 'delete_account', action: 'ask', ask: { advisor: { name: 'triage' } } },
  ],
};

export default { agents: [shop], policy, advisors: { triage } };
