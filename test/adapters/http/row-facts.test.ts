import { expect, test } from 'vitest';
import { readRowFacts, waitsFor } from '../../../packages/gateway/src/http/inbox/row-facts.ts';

/** Any workflow may answer the query of the inbox, and the gateway keeps what it says of thousands of rows. */
const requestId = 'a'.repeat(32);
const request = {
  requestId,
  workflowId: 'w',
  toolName: 'pay',
  arguments: { to: 'bob' },
  riskLevel: 'write',
  assessment: { severity: 'low', reasons: [], affectedResources: [], recommendations: [] },
  agentName: 'clerk',
  callerUserId: null,
  contextSummary: '',
  rule: null,
  reason: 'asks',
  requestedAt: '2030-01-01T00:00:00.000Z',
  deadline: null,
  digest: 'b'.repeat(64),
  lineage: [],
  metadata: {},
  reviewers: ['ann'],
  shown: 'all',
};

test('nothing large of a stranger is kept', () => {
  const large = 'x'.repeat(1_000_000);
  const delegations = [{ from: 'ann', to: 'bob', more: large }];
  const facts = readRowFacts([{ ...request, delegations, sentence: large }], 'w');
  expect(facts.get(requestId)).toMatchObject({ reviewers: ['ann'], delegations: [{ from: 'ann', to: 'bob' }] });
  expect(JSON.stringify([...facts]).length).toBeLessThan(10_000);
  expect(readRowFacts([{ ...request, reviewers: [large] }], 'w').size).toBe(0);
  expect(readRowFacts([{ ...request, delegations: [{ from: 'ann', to: large }] }], 'w').size).toBe(0);
});

test('a sentence that is cut says so, and shows its end', () => {
  const sentence = `Pay bob${' and others'.repeat(100)}, and the rest to mallory`;
  const shown = readRowFacts([{ ...request, sentence }], 'w').get(requestId)!.sentence;
  expect(shown).toMatch(/^Pay bob and others.* … \[\d+ characters hidden\] … .*, and the rest to mallory$/);
});

test.each<[string, object, object]>([
  ['a row says that no votes can approve it', { cannotBeApproved: 'It cannot …' }, { cannotBeApproved: true }],
  [
    'people with names and further ids',
    {
      approvers: ['ann'],
      people: {
        ann: { name: 'Ann', also: ['u-17'] },
        bob: { also: [7] },
        carl: null,
        dora: { name: 'Dora' },
        eve: { name: 7, also: ['u-18'] },
      },
    },
    {
      approvers: ['ann'],
      people: { ann: { name: 'Ann', also: ['u-17'] }, dora: { name: 'Dora', also: [] }, eve: { also: ['u-18'] } },
    },
  ],
])('%s', (_, more, expected) => {
  const facts = readRowFacts([{ ...request, ...more }], 'w').get(requestId)!;
  const { sentence: _sentence, ...kept } = facts;
  expect(kept).toEqual({ reviewers: ['ann'], delegations: [], ...expected });
});

test('a request whose card cannot be made has no row', () => {
  expect(readRowFacts([{ ...request, cannotBeApproved: { toString: 7 } }], 'w').size).toBe(0);
});

test('a row waits for a person under each of their ids', () => {
  const more = { approvers: ['ann'], people: { ann: { also: ['u-17'] } } };
  const facts = readRowFacts([{ ...request, ...more }], 'w').get(requestId)!;
  expect(['ann', 'U-17', 'u-18'].map((id) => waitsFor({ id, groups: [] }, facts))).toEqual(['you', 'you', 'others']);
});
