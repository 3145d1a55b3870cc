import { expect, test } from 'vitest';
import { approvalsText, whoCanAnswer } from '../../packages/gateway/src/inbox/request/who-answers.ts';
import { whatChanged } from '../../packages/gateway/src/inbox/request/what-changed.ts';
import { requestDetails } from '../support/requests.ts';
import { decidingTexts } from '../../src/card/card.ts';

/** How the page of a request names people, and says what has changed. */

const people = { bob: { name: 'Bob Lee' } };

test.each([
  [{ approvers: ['bob', 'dora'], reviewers: ['group:finance'], people }, 'Bob Lee (bob) or dora (finance)'],
  [{ approvers: ['sam'], reviewers: ['sam'] }, 'sam'],
  [{ approvers: ['a', 'b', 'c', 'd', 'e', 'f'], reviewers: [] }, 'a, b, c, d, e or f'],
  [{ approvers: ['a', 'b', 'c', 'd', 'e', 'f', 'g'], reviewers: [] }, 'a, b, c, d, e or 2 more'],
  [{ reviewers: ['group:finance', 'group:cfo'] }, 'group finance or cfo'],
  [{ approvers: [], reviewers: ['sam'] }, undefined],
  [{ reviewers: [] }, undefined],
])('%j: %s', (request, expected) => {
  expect(whoCanAnswer(request)).toBe(expected);
});

test('of several approvals, those still needed are named', () => {
  const asked = { approvers: ['sam'], reviewers: ['rita', 'sam'] };
  expect(approvalsText({ ...asked, approvals: { have: 1, need: 2 } })).toBe('1 of 2 approvals · still needed: sam');
  expect(approvalsText({ ...asked, approvals: { have: 0, need: 1 } })).toBeUndefined();
});

test('a change is named by what has changed', () => {
  const before = requestDetails({ arguments: { amount: 6 }, reviewers: ['rita'], approvers: ['rita'] });
  const after = {
    ...before,
    arguments: { amount: 600 },
    userMessages: { count: 1, last: ['Stop'] },
    approvers: ['bob'],
  };
  expect(whatChanged(before, after)).toBe('amount 6 → 600, what the user wrote, reviewers rita → bob');
  expect(whatChanged(before, { ...before, digest: 'e'.repeat(64) })).toBe('the tool');
});

test('a vote, a seat and a channel change nothing on which a decision is based', () => {
  const before = requestDetails({ reviewers: ['rita', 'sam'], approvers: ['rita', 'sam'] });
  const approvals = { have: 1, need: 2 };
  const later = { approvals, approvers: ['sam'], people: { sam: { name: 'Sam' } }, channels: ['mail'] };
  expect(decidingTexts({ ...before, ...later })).toBe(decidingTexts(before));
  expect(decidingTexts({ ...before, reason: 'another' })).not.toBe(decidingTexts(before));
});
