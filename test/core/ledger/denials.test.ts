import { describe, expect, test } from 'vitest';
import { answerBefore } from '../../../src/core/ledger/admission.ts';
import { deniedKept, deniedTools } from '../../../src/core/ledger/denials.ts';
import { emptyLedger, reduce, requestOf, type Ledger, type LedgerCommand } from '../../../src/core/ledger/ledger.ts';
import type { ParsedDecision } from '../../../src/core/messages/decision.ts';
import { limitsOf, type Limits } from '../../../src/core/policy/limits.ts';
import { askRuling, claimedBy, digestOf, requestIdOf, requestRecord } from '../../support/record-request.ts';

/** A denial answers the same call, and counts for its tool, until the model gets words of its user. */

const open = (number: number, digest = digestOf(number), terms: object = {}): LedgerCommand => ({
  kind: 'open',
  atMs: number * 10,
  record: requestRecord(number, null, { digest, requestedAt: new Date(number * 10).toISOString() }, terms),
  ruling: askRuling,
});
const deny = (number: number, fields: Partial<ParsedDecision> = {}): LedgerCommand => ({
  kind: 'decide',
  atMs: number * 10 + 5,
  decision: { requestId: requestIdOf(number), approved: false, reason: `no ${number}`, ...fields },
  voter: claimedBy('ann'),
});
const denied = (number: number, digest?: string): LedgerCommand[] => [open(number, digest), deny(number)];
const three = [1, 2, 3].flatMap((number) => denied(number));
const repeated = (number: number): LedgerCommand => ({
  kind: 'rule',
  atMs: 40,
  callId: '9.1',
  toolName: 'pay',
  outcome: 'denied',
  digest: digestOf(number),
  reason: `no ${number}`,
});
const never = { always: { kind: 'call' } } as const;
const byNever: LedgerCommand = { ...repeated(1), grantId: 'grant-1' } as LedgerCommand;
const heard: LedgerCommand = { kind: 'heard', atMs: 50 };
const revoke = (...grants: string[]): LedgerCommand => ({ kind: 'revoke', atMs: 60, grants });

const played = (commands: readonly LedgerCommand[]): Ledger =>
  commands.reduce(
    (ledger, command) => JSON.parse(JSON.stringify(reduce(ledger, command).ledger)) as Ledger,
    emptyLedger(1),
  );
const limits = (more: Partial<Limits> = {}): Limits => ({ ...limitsOf({}), ...more });
const forRun = limits({ denialsHoldFor: 'run' });

/** The answer to call number `number` of the tool, made anew; undefined: reviewers are asked. */
function answerTo(ledger: Ledger, number: number, of = limits()): string | undefined {
  const ruled = { tool: 'pay', args: {}, risk: 'write' as const };
  const call = { ruled, digest: digestOf(number), reversible: true, atMs: 70 };
  return answerBefore(ledger, { action: 'ask' }, call, of)?.content;
}
const forGood = (attempts: number): string =>
  `Denied: This action was permanently denied after ${attempts} attempts. Do not retry this tool.`;

describe('what answers a call', () => {
  test.each<[string, LedgerCommand[], number, string | undefined, Limits?]>([
    ['its own denial', denied(1), 1, 'Denied: no 1'],
    ['nothing, once the user was heard', [...denied(1), heard], 1, undefined],
    ['its denial, if denials hold for the run', [...denied(1), heard], 1, 'Denied: no 1', forRun],
    ['a denial after the user was heard', [...denied(1), heard, ...denied(2, digestOf(1))], 1, 'Denied: no 2'],
    ['three denials of its tool', three, 4, forGood(3)],
    ['nothing, after three denials and words of the user', [...three, heard], 4, undefined],
    ['three denials, if they hold for the run', [...three, heard], 4, forGood(3), forRun],
    ['three denials since the words', [...denied(1), heard, ...denied(2), ...denied(3), ...denied(4)], 5, forGood(3)],
    ['not two of them', [...denied(1), heard, ...denied(2), ...denied(3)], 5, undefined],
    ['all of them, if they hold for the run', [...denied(1), heard, ...denied(2), ...denied(3)], 5, forGood(3), forRun],
    ['repetitions count', [...denied(1), repeated(1), repeated(1)], 4, forGood(3)],
    ['a standing denial, whatever the user says', [open(1), deny(1, never), heard], 1, 'Denied: no 1'],
    ['nothing: its tool is lifted', [...three, revoke('denied-pay')], 1, undefined],
    ['nothing: its tool is lifted for the run', [...three, heard, revoke('denied-pay')], 1, undefined, forRun],
    [
      'nothing, once a standing denial is revoked and the user was heard',
      [open(1), deny(1, never), byNever, byNever, byNever, revoke('grant-1'), heard],
      1,
      undefined,
    ],
    [
      'not the repetitions that a standing denial answered',
      [open(1), deny(1, never), byNever, byNever, byNever, revoke('grant-1')],
      2,
      undefined,
    ],
  ])('%s', (_, commands, number, expected, of) => {
    expect(answerTo(played(commands), number, of)).toBe(expected);
  });
});

describe('the words of a user loosen nothing else', () => {
  const mayRun = { onTimeout: 'allow' } as const;
  const expired = (number: number): LedgerCommand => ({
    kind: 'expire',
    atMs: 2_000,
    requestId: requestIdOf(number),
  });

  test('what was denied before does not run because nobody answers', () => {
    const again = [open(2, digestOf(1), mayRun), expired(2)];
    const settlement = (commands: LedgerCommand[]) => {
      const found = requestOf(played(commands), requestIdOf(2));
      return found !== undefined && 'settlement' in found ? found.settlement : undefined;
    };
    expect(settlement([...denied(1), heard, ...again])).toMatchObject({ outcome: 'expired', runs: false });
    expect(settlement([open(1), ...again])).toMatchObject({ outcome: 'expired', runs: true });
  });

  test('reviewers are told how often, when, by whom and why', () => {
    const before = (commands: LedgerCommand[], number: number) =>
      requestOf(played(commands), requestIdOf(number))!.deniedBefore;
    const again = [...denied(1), repeated(1), heard, ...denied(2, digestOf(1)), heard, open(3, digestOf(1))];
    const last = { at: '1970-01-01T00:00:00.025Z', reviewerId: 'ann', reason: 'no 2', times: 2 };
    expect(before(again, 3)).toEqual(last);
    // A denial of its twin changes no card that people are reading.
    expect(before([...again, open(4, digestOf(1)), deny(4)], 3)).toEqual(last);
    expect(before([...denied(1), heard, open(2)], 2)).toBeUndefined();
  });

  test('what is remembered is bounded', () => {
    const rounds = Array.from({ length: deniedKept + 5 }, (_, index) => [...denied(index + 1), heard]).flat();
    const all = rounds.reduce((ledger, command) => reduce(ledger, command).ledger, emptyLedger(1));
    expect(all.denied.calls).toHaveLength(deniedKept);
    expect(all.denied.byTool).toEqual({ pay: deniedKept + 5 });
  });
});

describe('lifting', () => {
  test('a tool that is denied for good is listed until the user was heard, or it is lifted', () => {
    const listed = (commands: LedgerCommand[], of = limits()) => deniedTools(played(commands), of);
    const pay = { grantId: 'denied-pay', tool: 'pay', approved: false, scope: { kind: 'tool' }, denials: 3 };
    expect(listed(three)).toEqual([pay]);
    expect(listed(three.slice(0, 4))).toEqual([]);
    expect(listed([...three, heard])).toEqual([]);
    expect(listed([...three, heard], forRun)).toEqual([pay]);
    expect(listed([...three, revoke('denied-pay')], forRun)).toEqual([]);
  });

  test('it is in the journal, an unknown id lifts nothing, and neither does `all`', () => {
    const ledger = played(three);
    const { entries } = reduce(ledger, revoke('denied-pay', 'denied-pay'));
    expect(entries).toMatchObject([{ kind: 'revoked', grantId: 'denied-pay', toolName: 'pay', approved: false }]);
    expect(reduce(ledger, revoke('denied-look')).receipt).toMatchObject({ code: 'grant_unknown' });
    const all = reduce(ledger, { kind: 'revoke', atMs: 60, grants: 'all' });
    expect(all).toMatchObject({ entries: [], ledger: { denied: ledger.denied } });
  });

  test('only words that end a denial are in the journal', () => {
    const ledger = played(denied(1));
    const first = reduce(ledger, heard);
    expect(first.entries).toMatchObject([{ kind: 'heard' }]);
    expect(reduce(first.ledger, heard).entries).toEqual([]);
    expect(reduce(emptyLedger(1), heard).entries).toEqual([]);
  });
});
