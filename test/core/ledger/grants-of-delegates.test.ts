import { expect, test } from 'vitest';
import type { ReviewerVote } from '../../../src/core/ledger/approval.ts';
import { emptyLedger, iso, type RequestRecord } from '../../../src/core/ledger/ledger.ts';
import { makeGrant } from '../../../src/core/ledger/make-grant.ts';
import { engine } from '../../../src/core/policy/ruling.ts';
import { requestRecord } from '../../support/record-request.ts';

const by = (reviewerId: string, approved = true): ReviewerVote => ({
  reviewerId,
  approved,
  always: true,
  identity: 'claimed',
  at: iso(0),
  contentDigest: '',
});

function record(delegations: RequestRecord['delegations']): RequestRecord {
  const asked = requestRecord(1, null, { reviewers: ['bob', 'carl'] });
  const requirement = { reviewers: ['bob', 'carl'], quorum: 1, oneOfEach: [], escalate: [], layer: 'run' as const };
  return { ...asked, delegations, terms: { ...asked.terms, requirements: [requirement] as never } };
}

const given = [{ from: 'bob', to: 'eve', at: iso(0) }] as unknown as RequestRecord['delegations'];
test.each<[string, RequestRecord['delegations'], ReviewerVote[], string]>([
  ['a reviewer', [], [by('bob')], '; grant-1 (tool)'],
  ['a delegate', given, [by('eve')], '; no grant: a delegation is for this request alone'],
  ['another reviewer of a delegated request', given, [by('carl')], '; grant-1 (tool)'],
  ['a delegate who denies', given, [by('eve', false)], '; standing denial grant-1 (tool)'],
])('"always" of %s', (_, delegations, votes, note) => {
  const reduction = { ledger: emptyLedger(engine), entries: [] };
  expect(makeGrant(reduction, record(delegations), votes, 0, {}).note).toBe(note);
});
