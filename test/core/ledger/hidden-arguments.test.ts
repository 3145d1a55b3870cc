import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import type { ApprovalRequest } from '../../../src/core/ledger/approval.ts';
import { approvalIndex, approvalMemo } from '../../../src/core/ledger/approval-index.ts';
import { assessBuiltIn, assess } from '../../../src/assess/assess.ts';
import { compileAssessRules } from '../../../src/core/policy/assess-rules.ts';
import type { Assessment } from '../../../src/core/assess/assessment.ts';
import { splitShell } from '../../../src/shell/split.ts';
import {
  hiddenText,
  hideGlobs,
  hideInEntry,
  hideInRequest,
  hideInSettlement,
  hideInVote,
  shownGrant,
  listed,
} from '../../../src/core/ledger/hidden-arguments.ts';
import type { JournalEntry } from '../../../src/core/ledger/journal-entry.ts';
import { emptyLedger, reduce, type LedgerCommand } from '../../../src/core/ledger/ledger.ts';
import { compileLayers, evaluate } from '../../../src/core/policy/ruling.ts';
import type { JsonObject, Risk } from '../../../src/core/base/tool-call.ts';
import { currentDetails } from '../../../src/workflows/gate/visibility-index.ts';
import { growth, squareGrowth } from '../../support/processor-time.ts';
import { requestRecord, requestIdOf } from '../../support/record-request.ts';

/** Policy `include_arguments: false`: no argument value appears in anything that reviewers see (I13). */

const word = 'qzxmarker';
const amount = 918_273_645;
const isMarked = (shown: unknown): boolean => {
  const text = JSON.stringify(shown).toLowerCase();
  return text.includes(word) || text.includes(String(amount));
};

/** Calls that each trigger a built-in assessor, with the marker wherever a value can be. */
const calls: Record<string, (mark: string) => { tool: string; args: JsonObject; shell?: true }> = {
  'a file': (mark) => ({ tool: 'delete_file', args: { path: `/etc/${mark}/.ssh`, recursive: true } }),
  'many files': (mark) => ({ tool: 'write_files', args: { files: [`../${mark}`, `~/.${mark}`, `${mark}.pem`] } }),
  'a command': (mark) => ({ tool: 'bash', args: { command: `sudo rm -rf /${mark} > /etc/${mark}` }, shell: true }),
  'a command that cannot be read': (mark) => ({ tool: 'bash', args: { command: `rm '${mark}` }, shell: true }),
  'a statement': (mark) => ({ tool: 'run_sql', args: { query: `DROP TABLE ${mark}; DELETE FROM ${mark}` } }),
  'a program': (mark) => ({ tool: 'python', args: { code: `import os; os.system("rm ${mark}")` } }),
  'an address': (mark) => ({ tool: 'http_post', args: { url: `http://${mark}:${mark}@10.0.0.1/${mark}`, body: mark } }),
  'an address that cannot be read': (mark) => ({ tool: 'fetch_url', args: { url: `https://[${mark}`, method: mark } }),
  money: (mark) => ({ tool: 'wire_transfer', args: { amount, currency: mark, to: mark } }),
  'money that cannot be read': (mark) => ({ tool: 'pay', args: { amount: mark, iban: mark } }),
  'a message': (mark) => ({ tool: 'send_email', args: { to: [`${mark}@a.com`, `x@${mark}.com`], subject: mark } }),
  'something else': (mark) => ({ tool: 'note', args: { deep: { list: [{ text: mark }, amount] } } }),
};
/** Rules with fixed texts about these calls; any value in an answer would come from the engine. */
const rules = compileAssessRules({
  run: {
    assess: [
      { pattern: '*', severity: 'high', affected: ['path', 'command', 'url', 'to', 'amount', 'deep'] },
      { pattern: `*:*${'?'.repeat(3)}*`, severity: 'low', reason: 'three characters', recommend: 'Count them.' },
    ],
  },
});
/** A policy with a condition that cannot be evaluated; the reason explains why. */
const layers = compileLayers({
  run: {
    version: 1,
    rules: [{ id: 'errs', pattern: '*', action: 'ask', when: 'int(args.path) + args.amount > 1' }],
    riskDefaults: {},
    approval: {},
  },
});
/** The texts of a worker's own assessor, which includes argument values although it should not. */
const own = (mark: string): Assessment => ({
  severity: 'critical',
  reasons: [`it touches ${mark}`, 'it is Friday'],
  affectedResources: [`ticket:${mark}`],
  reversible: false,
  recommendations: [`Ask whoever owns ${mark}.`],
  requiresApproval: true,
  fromWorker: [`it touches ${mark}`, 'it is Friday', `Ask whoever owns ${mark}.`],
});

const marks = fc
  .tuple(fc.stringMatching(/^[a-z0-9 ./@'"$;*?-]{0,12}$/), fc.stringMatching(/^[a-z0-9 ./@'"$;*?-]{0,300}$/))
  .map(([before, after]) => `${before}${word}${after}`);
const cases = fc.record({
  kind: fc.constantFrom(...Object.keys(calls)),
  mark: marks,
  risk: fc.constantFrom<Risk>('read_only', 'write', 'destructive', 'unknown'),
  isOwn: fc.boolean(),
});

/**
 * Everything that reviewers see of a run that asked: an edited call, a denied one, one that the standing denial
 * answered, and an open one.
 */
function shownOf(
  { kind, mark, risk, isOwn }: { kind: string; mark: string; risk: Risk; isOwn: boolean },
  hides: boolean,
): [ApprovalRequest[], ...unknown[]] {
  const { tool, args, shell } = calls[kind]!(mark);
  const command = args['command'];
  const split = shell && typeof command === 'string' ? { subject: 'command', shell: splitShell(command) } : {};
  const call = { tool, args, risk, ...split };
  const assessment = assess(call, rules, isOwn ? [own(mark)] : []);
  const ruling = evaluate(layers, call, {});
  const fields = { toolName: tool, arguments: args, riskLevel: risk, assessment, contextSummary: `I now use ${mark}` };
  const record = (number: number) =>
    requestRecord(number, null, { ...fields, rule: ruling.rule, reason: ruling.reason ?? 'asked' });
  const always = { kind: 'arguments' as const, match: { [Object.keys(args)[0]!]: '*' }, uses: 3 };
  const named = { kind: 'arguments' as const, match: { text: `*${mark.slice(0, 200)}*` } };
  const edit = { arguments: args, digest: 'e'.repeat(64), reversible: true };
  const commands: LedgerCommand[] = [
    ...[1, 2, 3].map((number): LedgerCommand => ({ kind: 'open', atMs: 0, record: record(number), ruling })),
    { kind: 'decide', atMs: 1, decision: { requestId: requestIdOf(1), approved: true }, edit },
    { kind: 'decide', atMs: 2, decision: { requestId: requestIdOf(2), approved: false, always } },
    { kind: 'open', atMs: 2, record: record(4), ruling },
    { kind: 'refuse', atMs: 3, refused: { code: 'invalid_decision', size: 3 } },
    { kind: 'rule', atMs: 4, callId: '2.1', toolName: tool, outcome: 'denied_by_policy', ruling },
  ];
  let ledger = emptyLedger(1);
  const entries: JournalEntry[] = [];
  const receipts: unknown[] = [];
  for (const each of commands) {
    const reduced = reduce(ledger, each);
    ({ ledger } = reduced);
    entries.push(...reduced.entries);
    receipts.push(reduced.receipt);
  }
  const scope = { kind: 'arguments' as const, match: named.match };
  const journal = [...entries, { seq: 99, kind: 'grant' as const, at: '', engine: 1, scope }];
  const grants = [...ledger.grants, { grantId: 'grant-9', tool, approved: true, scope }];
  const vote = { reviewerId: 'ann', identity: 'claimed' as const, approved: true, at: '', always: named };
  const open = ledger.open.map(({ request }) => (hides ? hideInRequest(request) : request));
  const settled = ledger.settled.map(({ request, settlement }) =>
    hides ? [hideInRequest(request), hideInSettlement(settlement)] : [request, settlement],
  );
  const { memo, rest } = approvalMemo(ledger, hides ? journal.map(hideInEntry) : journal, {
    directories: {},
    nowMs: 0,
  });
  return [
    open,
    open.map(listed),
    settled,
    memo,
    rest,
    approvalIndex(ledger),
    currentDetails(ledger),
    grants.map((grant) => shownGrant(grant, !hides)),
    hides ? hideInVote(vote) : vote,
    receipts,
  ];
}

describe('with include_arguments false', () => {
  test('no argument value is shown anywhere', () => {
    fc.assert(
      fc.property(cases, (each) => {
        for (const shown of shownOf(each, true)) expect(isMarked(shown)).toBe(false);
      }),
      // Text that an assessment truncates is still known as its author's.
      { numRuns: 400, examples: [[{ kind: 'a file', mark: word + 'x'.repeat(300), risk: 'write', isOwn: true }]] },
    );
  });

  test.each(Object.keys(calls))('of %s: names, severity and fixed texts are shown', (kind) => {
    const each = { kind, mark: word, risk: 'write' as const, isOwn: true };
    const [whole, hidden] = [false, true].map((hides) => shownOf(each, hides)[0][0]!) as [
      ApprovalRequest,
      ApprovalRequest,
    ];
    expect(isMarked(whole)).toBe(true);
    const { tool, args } = calls[kind]!(word);
    expect(assessBuiltIn({ tool, args, risk: 'write' }) === undefined).toBe(kind === 'something else');
    expect(hidden).toMatchObject({
      arguments: {},
      argumentNames: Object.keys(args),
      shown: 'part',
      digest: whole.digest,
      contextSummary: '',
      assessment: { severity: 'critical', affectedResources: [], reversible: false, requiresApproval: true },
    });
    const fixed = whole.assessment.reasons.filter((text) => text !== 'it is Friday' && !isMarked(text));
    expect(fixed).toContain('assess rule run.assess#1 says high');
    expect(hidden.assessment.reasons).toEqual(fixed);
    expect(hidden.assessment).not.toHaveProperty('fromWorker');
  });

  test('of a grant: its kind and the argument names that it matches', () => {
    const grant = { grantId: 'grant-1', tool: 'pay', approved: true, reason: 'often' };
    const matching = { ...grant, scope: { kind: 'arguments' as const, match: { to: 'ann*', note: '*' } } };
    const hidden = { ...grant, scope: { kind: 'arguments', match: { to: hiddenText, note: hiddenText } } };
    expect(shownGrant(matching, false)).toEqual(hidden);
    // A grant from a request with hidden arguments keeps them hidden.
    expect(shownGrant({ ...matching, hidden: true }, true)).toEqual(hidden);
    expect(shownGrant(matching, true)).toEqual(matching);
    for (const scope of [{ kind: 'tool' as const }, { kind: 'call' as const, digest: 'd'.repeat(64) }]) {
      expect(shownGrant({ ...grant, scope }, false)).toEqual({ ...grant, scope });
    }
  });

  test('of a request that showed arguments without a worker: nothing of them', () => {
    const shown = { shownArguments: { to: word }, notShown: ['amount'] };
    const hidden = hideInRequest(requestRecord(1, null, shown).request);
    expect([hidden.shownArguments, hidden.notShown]).toEqual([undefined, undefined]);
  });

  test('what contains no value stays the same', () => {
    const vote = { approved: true, always: true };
    const entry: JournalEntry = { seq: 1, kind: 'settled', at: '', engine: 1, outcome: 'denied', reason: 'No' };
    const settlement = { outcome: 'denied' as const, runs: false, settledAt: '', reason: 'No' };
    expect([hideInVote(vote), hideInEntry(entry), hideInSettlement(settlement)]).toEqual([vote, entry, settlement]);
  });
});

test('globs on many arguments take as much longer as there are more', () => {
  const match = (size: number) =>
    Object.fromEntries(Array.from({ length: size }, (_, index) => [`argument${index}`, 'a']));
  const names = (size: number) => Array.from({ length: size }, (_, index) => `another1${index}`);
  const work = (size: number) => {
    const scope = { kind: 'arguments', match: match(size) } as const;
    return () => hideGlobs(scope, names(size));
  };
  expect(growth(work, 1_000)).toBeLessThan(squareGrowth);
});
