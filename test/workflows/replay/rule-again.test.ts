import { afterAll, beforeAll, expect, test } from 'vitest';
import { evidenceOf } from '../../../src/client/audit/evidence-of.ts';
import { readExecutions } from '../../support/read-histories.ts';
import { evidenceOfParts, evidenceParts } from '../../../src/audit/evidence.ts';
import { rulingsOf } from '../../../src/audit/rule-again.ts';
import { verifyEvidence } from '../../../src/audit/verify-evidence.ts';
import type { JournalEntry } from '../../../src/core/ledger/journal-entry.ts';
import { eventually } from '../../support/eventually.ts';
import { openGatedWorld, type GatedWorld } from '../../support/gated-world.ts';
import { callOf, last, pay, rule, team, yes } from '../../support/team.ts';
import { type RunInTest, type Turns, type World, openWorld } from '../../support/world.ts';

/** Every ruling of real runs can be made again from what their histories keep (docs/decisions/0041). */

const ceiling = {
  version: 1,
  approval: { max_retries_after_deny: 3, max_irreversible_per_run: 5 },
  rules: [
    { id: 'late', pattern: 'look', when: 'counts.calls >= 2 && has(metadata.team)', action: 'ask' },
    { id: 'mallory', pattern: 'pay:mallory', action: 'deny', reason: 'Never' },
  ],
  risk_defaults: { destructive: 'ask' },
};

let world: World;
let guarded: GatedWorld;
beforeAll(async () => {
  world = await openWorld({
    policy: ceiling,
    continueAsNewAfter: { historyEvents: 60 },
    agentsIn: (folder) => team(folder, { billing: rule('pay', 'ask', { reason: 'Billing asks' }) }),
  });
  guarded = await openGatedWorld({ policy: { version: 1, rules: [ceiling.rules[1]] } });
});
afterAll(async () => {
  await world.close();
  await guarded.close();
});

const send = (run: RunInTest, name: string, message: object) => run.handle.executeUpdate(name, { args: [message] });
const look = { tool: 'look', args: { what: 'x' } };
const wipe = { tool: 'wipe', args: {} };

/** Rules again on what the histories keep, through the lines of a file. */
async function again(of: World | GatedWorld, workflowId: string) {
  const { executions } = await of.client.historyChain(workflowId);
  const { entries, evidence } = evidenceOf(readExecutions(executions));
  const lines = JSON.parse(JSON.stringify(evidenceParts(evidence))) as ReturnType<typeof evidenceParts>;
  const read = evidenceOfParts(lines);
  if ('problem' in read) throw new Error(read.problem);
  const result = verifyEvidence(JSON.parse(JSON.stringify(entries)) as JournalEntry[], read.evidence);
  const rulings = rulingsOf(entries);
  return { ...result, rulings, entries, evidence, executions };
}

const named = (entries: readonly JournalEntry[]): string[] =>
  entries.map(({ kind, outcome = 'asked', by, layer }) => [kind, outcome, by, layer].filter(Boolean).join(' '));

test('a run with grants, denials, edits, limits, setPolicy, a mode, a handoff and continue-as-new', async () => {
  const run = await world.start(
    [
      { calls: [look, look, pay('ann', 1), pay('mallory')] },
      { calls: [pay('ann', 2), pay('bob', 3), pay('cem', 4)] },
      { calls: [pay('bob', 3), pay('dan', 9)] },
      { calls: [wipe, wipe, wipe] },
      { calls: [pay('eve', 5), { tool: 'echo', args: { a: 1 } }] },
      { calls: [{ tool: 'transfer_to_billing', args: { reason: 'money' } }] },
      { calls: [pay('fay', 6), look] },
      last,
    ] as Turns,
    { metadata: { team: 'red' }, caller: { userId: 'olga' } },
  );
  const decide = async (amount: number, decision: object): Promise<void> => {
    const found = await eventually(`the payment of ${amount}`, async () =>
      (await run.open().catch(() => [])).find((each) => each.arguments['amount'] === amount),
    );
    await send(run, 'decide', { requestId: found.requestId, approved: true, reviewerId: 'rita', ...decision });
  };
  await decide(1, { always: { kind: 'arguments', match: { to: 'ann' }, uses: 1 } });
  await decide(3, { approved: false, reason: 'No' });
  await decide(4, { modifiedArguments: { to: 'cem', amount: 40 } });
  await decide(9, { approved: false });
  const wipes = await run.open(2);
  for (const { requestId } of wipes) await send(run, 'decide', yes(requestId));
  // Denied three times: further payments are refused, whatever the policies become.
  await eventually('echo is asked about', async () =>
    (await run.open().catch(() => [])).some(({ toolName }) => toolName === 'echo'),
  );
  await send(run, 'setPolicy', { policy: rule('echo', 'ask', { ask: { reviewers: ['ann'] } }) });
  await send(run, 'setPolicy', { policy: rule('echo', 'deny'), mode: 'acceptEdits' });
  await eventually('billing is in charge', async () => (await run.status()).agent === 'billing');
  await send(run, 'setPolicy', { mode: 'bypassPermissions' });
  await eventually('the run ends', async () => {
    const open = await run.open().catch(() => []);
    for (const { requestId } of open) await send(run, 'decide', yes(requestId)).catch(() => undefined);
    return (await run.handle.describe()).status.name !== 'RUNNING';
  });
  const { agreed, differing, notReRuled, rulings, entries, executions } = await again(world, run.workflowId);
  expect({ differing, notReRuled }).toEqual({ differing: [], notReRuled: [] });
  expect(agreed).toEqual(rulings.map(({ seq }) => seq));
  expect(executions.length).toBeGreaterThan(1);
  expect(named(rulings)).toEqual(
    expect.arrayContaining([
      'ruling allowed default',
      'ruling denied_by_policy ceiling',
      'ruling allowed grant',
      'ruling refused',
      'opened asked default',
      'opened asked ceiling',
      'reruled asked',
      'settled approved',
      'settled superseded policy',
    ]),
  );
  // The journal names the policies: at the start, after the two changes, and after the handoff.
  const digests = entries.flatMap(({ policyDigest }) => policyDigest ?? []);
  expect(new Set(digests).size).toBeGreaterThanOrEqual(4);
});

test('a nested run, whose calling run gets another policy', async () => {
  const call = callOf('researcher', { calls: [pay('nested')] }, { calls: [pay('mallory'), look] }, last);
  const run = await world.start([{ calls: [call] }, last] as Turns, { policy: rule('pay', 'ask') });
  const nested = world.run(`${run.workflowId}/1.1`);
  const [request] = await eventually('it asks', () => nested.open().catch(() => undefined));
  await send(run, 'setPolicy', { policy: rule('pay', 'ask', { ask: { reviewers: ['ann'] } }) });
  await eventually('others are asked', async () => (await nested.open())[0]!.reviewers.includes('ann'));
  await nested.handle.executeUpdate('decide', { args: [{ ...yes(request!.requestId), reviewerId: 'ann' }] });
  await run.result();
  for (const each of [run, nested]) {
    const { agreed, differing, notReRuled, rulings } = await again(world, each.workflowId);
    expect({ differing, notReRuled }).toEqual({ differing: [], notReRuled: [] });
    expect(agreed).toEqual(rulings.map(({ seq }) => seq));
    expect(agreed.length).toBeGreaterThan(0);
  }
  const { rulings, evidence } = await again(world, nested.workflowId);
  expect(named(rulings)).toContain('reruled asked');
  expect(evidence.rulings.every(({ policies }) => (policies.parents ?? []).length > 0)).toBe(true);
});

test('guarded activities: what ran is ruled on again; arguments that no history keeps are counted', async () => {
  const handle = await guarded.start('calls', [
    { name: 'look', args: ['a'] },
    { name: 'pay', args: ['ann', 1] },
    { name: 'pay', args: ['bob', 2] },
    { name: 'pay', args: ['mallory', 3] },
    { name: 'order', args: [{ item: 'tea' }] },
  ]);
  const open = await guarded.open(handle, 3);
  for (const { requestId, arguments: args } of open) {
    const approved = args['to'] === 'ann';
    await handle.executeUpdate('decide', { args: [{ requestId, approved }] });
  }
  await handle.result();
  const { agreed, differing, notReRuled, rulings } = await again(guarded, handle.workflowId);
  expect(differing).toEqual([]);
  expect(agreed.length + notReRuled.length).toBe(rulings.length);
  const toolOf = (seq: number) => rulings.find((each) => each.seq === seq)!.toolName;
  // 'look' and Ann's payment ran; no rule reads the arguments of 'order'.
  expect(new Set(agreed.map(toolOf))).toEqual(new Set(['look', 'order', 'pay']));
  expect(agreed).toHaveLength(3);
  expect(notReRuled.map(({ seq }) => toolOf(seq))).toEqual(['pay', 'pay']);
  expect(new Set(notReRuled.map(({ why }) => why))).toEqual(
    new Set(['no history keeps its arguments, and the policies or a grant read them']),
  );
});

test('a continued workflow by itself, as when retention has removed the executions before it', async () => {
  const run = await world.start([
    { calls: [pay('gil', 1)] },
    { calls: [pay('gil', 2)] },
    { calls: [pay('hal', 3)] },
    last,
  ] as Turns);
  const [first] = await run.open();
  await send(run, 'decide', { ...yes(first!.requestId), always: { kind: 'arguments', match: { to: 'gil' } } });
  await eventually('two executions', async () => {
    await run.handle.signal('decide', { requestId: 'unknown', approved: true });
    return (await world.client.historyChain(run.workflowId)).executions.length > 1;
  });
  const [second] = await run.open();
  await send(run, 'decide', { ...yes(second!.requestId), approved: false });
  await run.result();
  const { executions } = await world.client.historyChain(run.workflowId);
  const { entries, evidence } = evidenceOf(readExecutions(executions.slice(1)));
  expect(evidence.start!.grants).toHaveLength(1);
  const { agreed, differing, notReRuled } = verifyEvidence(entries, evidence);
  expect(differing).toEqual([]);
  expect(notReRuled.every(({ why }) => why.startsWith('it is older'))).toBe(true);
  expect(agreed.length + notReRuled.length).toBe(rulingsOf(entries, evidence.start).length);
});
