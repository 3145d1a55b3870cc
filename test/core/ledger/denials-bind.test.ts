import { describe, expect, test } from 'vitest';
import { reduce, requestOf, emptyLedger, type LedgerCommand } from '../../../src/core/ledger/ledger.ts';
import { askTermsOf, type AskTerms } from '../../../src/core/policy/ask-terms.ts';
import type { ParsedDecision } from '../../../src/core/messages/decision.ts';
import { askRuling, claimedBy, digestOf, requestIdOf, requestRecord } from '../../support/record-request.ts';

/** No deadline, change of policy, or grant of another reviewer lets a call run that a reviewer has denied. */

const deadlineMs = 1_000;
const late = deadlineMs + 1;
const [usual] = askTermsOf({}, askRuling, { risk: 'write' }).requirements;
const of = (...reviewers: string[]): Partial<AskTerms> => ({ requirements: [{ ...usual!, reviewers }], named: true });

const open = (number: number, terms: Partial<AskTerms>, digest = digestOf(number)): LedgerCommand => ({
  kind: 'open',
  atMs: 0,
  record: requestRecord(number, deadlineMs, { digest }, { onTimeout: 'allow', always: 'tool', ...terms }),
  ruling: askRuling,
});
const decide = (number: number, reviewerId: string, fields: Partial<ParsedDecision>): LedgerCommand => ({
  kind: 'decide',
  atMs: 1,
  decision: { requestId: requestIdOf(number), approved: false, reason: 'no', ...fields },
  voter: claimedBy(reviewerId),
});
const never = { always: { kind: 'tool' } } as const;
const expire = (number: number): LedgerCommand => ({ kind: 'expire', atMs: late, requestId: requestIdOf(number) });
const allowed = (number: number): LedgerCommand => ({
  kind: 'supersede',
  atMs: 2,
  requestId: requestIdOf(number),
  runs: true,
  ruling: { ...askRuling, action: 'allow' },
});

/** The settlement of the last request. */
function settled(commands: readonly LedgerCommand[]) {
  const ledger = commands.reduce((before, command) => reduce(before, command).ledger, emptyLedger(1));
  const last = commands.filter(({ kind }) => kind === 'open').length;
  const found = requestOf(ledger, requestIdOf(last));
  return found !== undefined && 'settlement' in found ? found.settlement : undefined;
}

const withoutVeto = { ...of('ann', 'bob'), veto: false };
const rows: [string, LedgerCommand[], object][] = [
  [
    'its own denial, which a quorum outweighs until the deadline',
    [open(1, withoutVeto), decide(1, 'ann', {}), expire(1)],
    { outcome: 'denied', runs: false, reviewerId: 'ann', reason: 'no' },
  ],
  [
    'the denial of the very same call, at the deadline',
    [open(1, of('ann')), open(2, of('bob'), digestOf(1)), decide(1, 'ann', {}), expire(2)],
    { outcome: 'expired', runs: false },
  ],
  [
    'a standing denial of other reviewers, at the deadline',
    [open(1, of('ann')), open(2, of('bob')), decide(1, 'ann', never), expire(2)],
    { outcome: 'expired', runs: false },
  ],
  [
    'a standing denial of other reviewers, when the policy allows',
    [open(1, of('ann')), open(2, of('bob')), decide(1, 'ann', never), allowed(2)],
    { outcome: 'superseded', runs: false, by: 'grant', byId: 'grant-1', reason: 'no' },
  ],
  [
    'a standing denial of other reviewers, when another grants',
    [
      open(1, of('ann')),
      open(2, of('bob')),
      open(3, of('bob')),
      decide(1, 'ann', never),
      decide(2, 'bob', { approved: true, ...never }),
    ],
    { outcome: 'superseded', runs: false, by: 'grant', byId: 'grant-1', reason: 'no' },
  ],
];

describe('a denial binds an open request', () => {
  test.each(rows)('%s', (_name, commands, settlement) => expect(settled(commands)).toMatchObject(settlement));

  test.each<[string, LedgerCommand[], object]>([
    ['at its deadline, as the policy says', [open(1, of('ann')), expire(1)], { outcome: 'expired', runs: true }],
    [
      'after the denial of another call',
      [open(1, of('ann')), open(2, of('bob')), decide(1, 'ann', {}), expire(2)],
      { outcome: 'expired', runs: true },
    ],
    [
      'approved by a reviewer of its own',
      [open(1, of('ann')), open(2, of('bob')), decide(1, 'ann', never), decide(2, 'bob', { approved: true })],
      { outcome: 'approved', runs: true },
    ],
  ])('and another one runs %s', (_name, commands, settlement) => expect(settled(commands)).toMatchObject(settlement));
});
