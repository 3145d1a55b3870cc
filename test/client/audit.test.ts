import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import { historyFromJSON } from '@temporalio/common/lib/proto-utils.js';
import { defineAgent } from '../../src/agents/define-agent.ts';
import type { SealedLine } from '../../src/audit/audit-line.ts';
import { sealer } from '../../src/audit/entry-line.ts';
import { createReviewerKey } from '../../src/client/send/sign-message.ts';
import { RunLines } from '../../src/client/audit/audit.ts';
import { auditedRun } from '../../src/client/audit/audited-run.ts';
import { fetchRun } from '../../src/client/history/history-chain.ts';
import { readExecutions } from '../support/read-histories.ts';
import { LiveComparison } from '../../src/client/audit/verify-live.ts';
import { edited, exported, lineOf, resealed, verified } from '../audit/audit-file.ts';
import { eventually } from '../support/eventually.ts';
import { type GatedWorld, openGatedWorld } from '../support/gated-world.ts';
import { promptScripted } from '../support/prompt-scripted.ts';
import { hasVerified, resetTo } from '../support/reset-to.ts';
import { team } from '../support/team.ts';
import { testAgent } from '../support/test-agent.ts';
import { type RunInTest, type World, openWorld } from '../support/world.ts';

/** `client.audit`: the record of runs, from history alone, which anybody can check. */

const { publicKey, privateKey } = createReviewerKey();
const policy = { version: 1, rules: [{ pattern: 'pay', action: 'ask', ask: { quorum: 2 }, reason: 'Money' }] };

let world: World;
let gated: GatedWorld;
beforeAll(async () => {
  world = await openWorld({ policy, agentsIn: (folder) => team(folder), continueAsNewAfter: { historyEvents: 25 } });
  gated = await openGatedWorld({ policy: { version: 1, rules: [{ pattern: 'pay', action: 'ask' }] } });
});
afterAll(async () => {
  await world.close();
  await gated.close();
});

const pay = (to: string) => ({ calls: [{ tool: 'pay', args: { to, amount: 1 } }] });
const look = { calls: [{ tool: 'look', args: { what: 'x' } }] };

async function answered(run: RunInTest): Promise<void> {
  const [request] = await run.open();
  const { requestId } = request!;
  await world.client.decide({ requestId, approved: true, reviewerId: 'ann', reason: 'Fine by me' });
  await run.handle.signal('decide', {
    requestId,
    approved: true,
    reviewerId: 'bob',
    decisionId: `second-${requestId}`,
  });
}

const linesOf = (texts: string[]) => texts.map((text) => JSON.parse(text) as SealedLine);
const entriesOf = (texts: string[]) => linesOf(texts).flatMap((line) => (line.line === 'entry' ? [line] : []));
const headOf = (texts: string[]) => linesOf(texts).find((line) => line.line === 'head');

async function live(texts: string[]) {
  const comparison = new LiveComparison(world.client.session);
  await verified(texts, { onLine: (text) => comparison.take(text) });
  return comparison.end();
}

test('a run that is cancelled while its model answers commits itself to what activities have carried', async () => {
  const scripted = promptScripted();
  let asked = 0;
  const model: LanguageModelV4 = {
    ...scripted,
    doStream: (options) => {
      asked += 1;
      if (asked === 1) return scripted.doStream(options);
      return new Promise((_resolve, reject) => {
        options.abortSignal?.addEventListener('abort', () => reject(new Error('aborted')));
      });
    },
  };
  const { tools } = testAgent(world.folder);
  const own = await openWorld({ agentsIn: () => [defineAgent({ name: 'tester', instructions: '', model, tools })] });
  try {
    const run = await own.start([look]);
    await eventually('the second turn', () => asked === 2);
    await run.handle.cancel();
    await expect(run.handle.result()).rejects.toThrow();
    const texts = await exported(own.client.audit(run.workflowId));
    expect(entriesOf(texts).map(({ entry }) => entry.kind)).toEqual(['ruling', 'ran']);
    expect(await verified(texts)).toMatchObject({ ok: true, notes: [] });
  } finally {
    await own.close();
  }
});

test('what the user of a session said: by whom, by which message, and without its text', async () => {
  const run = await world.start([{ text: 'one' }, { text: 'two' }, { text: 'three' }, { text: 'four' }], {
    session: true,
  });
  const turn = (count: number) => eventually(`turn ${count}`, async () => (await run.status()).turn === count);
  await turn(1);
  const message = { content: 'the secret plan', by: 'carl', messageId: 'm-1' };
  await world.client.message(run.workflowId, message);
  await turn(2);
  // A retry is no second message.
  await run.handle.signal('message', message);
  for (const [index, content] of ['again', 'again'].entries()) {
    await run.handle.signal('message', { content });
    await turn(3 + index);
  }
  await world.client.closeRun(run.workflowId);
  await run.result();
  const texts = await exported(world.client.audit(run.workflowId));
  expect(await verified(texts)).toMatchObject({ ok: true });
  expect(texts.join('\n')).not.toContain('secret plan');
  expect(entriesOf(texts).map(({ entry, context }) => [entry.kind, entry['reviewerId'], context.message?.via])).toEqual(
    [
      ['message', 'carl', 'update'],
      ['message', undefined, 'signal'],
      // Which of two equal texts led to this entry is not certain.
      ['message', undefined, undefined],
    ],
  );
  const redacted = await exported(world.client.audit(run.workflowId, { withhold: ['reviewerId', 'digest'] }));
  expect(await verified(redacted)).toMatchObject({ ok: true });
  expect(entriesOf(redacted)[0]?.entry).not.toHaveProperty('digest');
});

describe('a run that was approved by two, over several executions', () => {
  let run: RunInTest;
  let texts: string[];
  beforeAll(async () => {
    run = await world.start([look, pay('a'), pay('b'), { text: 'done' }], { caller: { userId: 'carl' } });
    await answered(run);
    const [second] = await run.open();
    await world.client.decide({ requestId: second!.requestId, approved: false, reviewerId: 'rita' });
    await run.result();
    texts = await exported(world.client.audit(run.workflowId, { privateKey }));
  });

  test('says who decided, through which message, how long it took, and what ran', () => {
    const [first] = linesOf(texts);
    expect(first).toMatchObject({ line: 'export', publicKey, of: { workflowId: run.workflowId }, withheld: [] });
    expect(linesOf(texts)[1]).toMatchObject({ agent: 'tester', caller: { userId: 'carl' }, committed: true });
    const entries = entriesOf(texts);
    expect(entries.map(({ entry }) => [entry.kind, entry['reviewerId'], entry['outcome'], entry['ran']])).toEqual([
      ['ruling', undefined, 'allowed', undefined],
      ['ran', undefined, undefined, 'yes'],
      ['opened', undefined, undefined, undefined],
      ['vote', 'ann', undefined, undefined],
      ['settled', 'bob', 'approved', undefined],
      ['ran', undefined, undefined, 'yes'],
      ['opened', undefined, undefined, undefined],
      ['settled', 'rita', 'denied', undefined],
    ]);
    const [vote, settled] = entries.filter(({ entry }) => ['vote', 'settled'].includes(entry.kind));
    expect(vote!.context).toMatchObject({ message: { via: 'update', sender: expect.any(String) } });
    expect(settled!.context).toMatchObject({ message: { via: 'signal' }, openForMs: expect.any(Number) });
    expect(settled!.context.policyDigest).toMatch(/^[0-9a-f]{64}$/);
    const ran = linesOf(texts).flatMap((line) => (line.line === 'activity' ? [line] : []));
    expect(ran).toMatchObject([
      { activity: 'look', callId: '1.1', state: 'completed', attempt: 1 },
      { activity: 'pay', callId: '2.1', state: 'completed', attempt: 1 },
    ]);
  });

  test("verifies with the operator's key, and equals the history", async () => {
    expect(await verified(texts, { publicKey })).toMatchObject({
      ok: true,
      runs: 1,
      entries: 8,
      notes: [],
      rulings: { agreed: 3, notMade: {} },
    });
    expect(headOf(texts)).toMatchObject({ status: 'COMPLETED', recorded: { size: 8 } });
    expect((headOf(texts) as { executions: number }).executions).toBeGreaterThan(1);
    expect(await live(texts)).toEqual({ findings: [], notes: [] });
  });

  test('a policy that was changed with all hashes made anew is found by ruling again', async () => {
    const bare = await exported(world.client.audit(run.workflowId));
    const index = linesOf(bare).findIndex((line) => line.line === 'evidence' && line.part === 'policy');
    const forged = edited(bare, index, ({ value }: { value: { rules: { reason?: string }[] } }) => {
      value.rules[0]!.reason = 'Another reason';
    });
    const { findings } = await verified(resealed(forged));
    expect(findings[0]).toMatchObject({ kind: 'ruling', workflowId: run.workflowId });
  });

  test('shows in no export the secret of its salts', async () => {
    const { tree } = auditedRun('default', run.workflowId, await fetchRun(world.client.session, run.workflowId));
    expect(tree.secret).toMatch(/^[0-9a-f]{64}$/);
    expect(texts.join('\n')).not.toContain(tree.secret);
  });

  test('verifies redacted, and shows nobody', async () => {
    const withhold = ['reviewerId', 'reason', 'caller', 'sender'];
    const redacted = await exported(world.client.audit(run.workflowId, { withhold }));
    expect(redacted.join()).not.toMatch(/ann|bob|rita|carl|Fine by me|Money/);
    // Without evidence: policies name people, and the digest of a call can be guessed.
    expect(linesOf(redacted).filter((line) => line.line === 'evidence')).toEqual([]);
    expect(await verified(redacted)).toMatchObject({ ok: true, entries: 8, rulings: { agreed: 0, notMade: {} } });
    expect(await live(redacted)).toEqual({ findings: [], notes: [] });
    const heads = [texts, redacted].map((each) => (headOf(each) as { root: string }).root);
    expect(heads[0]).toBe(heads[1]);
  });

  test.each([
    ['an entry with another reviewer', (line: { entry: object }) => Object.assign(line.entry, { reviewerId: 'eve' })],
    ['an entry with another context', (line: { context: object }) => Object.assign(line.context, { openForMs: 1 })],
  ])('%s and all hashes made anew is found on the server', async (_name, edit) => {
    const index = lineOf(texts, 5);
    const forged = resealed(edited(texts, index, edit).map((text) => text.replace(`"publicKey":"${publicKey}",`, '')));
    const { findings } = await live(forged);
    expect(findings).toMatchObject([{ kind: 'live', line: index + 1, seq: 5, workflowId: run.workflowId }]);
  });

  test('withholds nothing that every export shows', async () => {
    const lines = world.client.audit(run.workflowId, { withhold: ['outcome'] });
    await expect(exported(lines)).rejects.toMatchObject({ code: 'arguments_invalid' });
  });
});

describe('a run that did not end by itself', () => {
  test.each<[string, (run: RunInTest) => Promise<unknown>, string, string[]]>([
    ['cancelled', (run) => run.handle.cancel(), 'CANCELLED', ['opened', 'settled']],
    ['terminated', (run) => run.handle.terminate(), 'TERMINATED', ['opened']],
  ])('%s', async (_name, end, status, kinds) => {
    const run = await world.start([pay('a'), { text: 'done' }]);
    await run.open();
    await end(run);
    await run.handle.result().catch(() => undefined);
    const texts = await exported(world.client.audit(run.workflowId));
    expect(entriesOf(texts).map(({ entry }) => entry.kind)).toEqual(kinds);
    expect(headOf(texts)).toMatchObject({ status, recorded: { size: kinds.length } });
    expect(await verified(texts)).toMatchObject({ ok: true, notes: [] });
  });

  test('that waits, and later: the older export is the beginning of the newer one', async () => {
    const run = await world.start([pay('a'), { text: 'done' }]);
    await run.open();
    const older = await exported(world.client.audit(run.workflowId));
    expect(headOf(older)).toMatchObject({ status: 'RUNNING', size: 1 });
    await answered(run);
    await run.result();
    const newer = await exported(world.client.audit(run.workflowId));
    const { heads } = await verified(older);
    expect(await verified(newer, { since: heads })).toMatchObject({ ok: true, entries: 4 });
    expect(await verified(older, { since: (await verified(newer)).heads })).toMatchObject({
      ok: false,
      findings: [{ kind: 'deleted', seq: 2 }],
    });
    expect(await live(older)).toEqual({ findings: [], notes: [] });
  });

  test('and was reset: the new run is another one than the old export says', async () => {
    const run = await world.start([pay('a'), { text: 'done' }]);
    await run.open();
    const older = await exported(world.client.audit(run.workflowId));
    await resetTo(world, run.workflowId, hasVerified);
    const again = world.run(run.workflowId);
    await answered(again);
    await again.result();
    const newer = await exported(world.client.audit(run.workflowId));
    expect(await verified(newer)).toMatchObject({ ok: true });
    const { findings } = await verified(newer, { since: (await verified(older)).heads });
    expect(findings).toMatchObject([{ kind: 'head', seq: 1 }]);
    // The reset execution is on the server, and is what the old export says.
    expect(await live(older)).toEqual({ findings: [], notes: [] });
  });
});

test('a run of an agent that calls another one: the nested run is what ran', async () => {
  const script = JSON.stringify([look, { text: 'found' }]);
  const run = await world.start([{ calls: [{ tool: 'researcher', args: { input: script } }] }, { text: 'done' }]);
  await run.result();
  const texts = await exported(world.client.audit(run.workflowId));
  const [ran] = linesOf(texts).filter((line) => line.line === 'activity');
  expect(ran).toMatchObject({ callId: '1.1', activity: `${run.workflowId}/1.1`, state: 'completed' });
  expect(await verified(texts)).toMatchObject({ ok: true });
});

test('a custom workflow with a gate', async () => {
  const handle = await gated.start('inTurn', [{ name: 'pay', args: ['ann', 1] }]);
  const [request] = await gated.open(handle);
  await gated.client.decide({ requestId: request!.requestId, approved: true });
  await handle.result();
  const texts = await exported(gated.client.audit(handle.workflowId));
  expect(entriesOf(texts).map(({ entry }) => entry.kind)).toEqual(['opened', 'settled', 'ran']);
  expect(linesOf(texts).filter((line) => line.line === 'activity')).toMatchObject([
    { activity: 'pay', state: 'completed' },
  ]);
  expect(await verified(texts)).toMatchObject({ ok: true, notes: [] });
});

describe('a query', () => {
  test('exports the runs that it finds, oldest first, and no workflow without a gate', async () => {
    const runs = [await world.start([{ text: 'one' }]), await world.start([look, { text: 'two' }])];
    await Promise.all(runs.map((run) => run.result()));
    const ids = runs.map(({ workflowId }) => workflowId);
    const query = `WorkflowId IN (${ids.map((id) => `'${id}'`).join(', ')})`;
    const texts = await eventually('both runs are in visibility', async () => {
      const found = await exported(world.client.audit({ query }, { privateKey }));
      return linesOf(found).filter((line) => line.line === 'run').length === 2 && found;
    });
    expect(linesOf(texts).flatMap((line) => (line.line === 'run' ? [line.workflowId] : []))).toEqual(ids);
    expect(await verified(texts, { publicKey })).toMatchObject({ ok: true, runs: 2, entries: 2 });
  });
});

describe('following', () => {
  test('exports entries as they come, and ends with the run', async () => {
    const run = await world.start([pay('a'), pay('b'), pay('c'), { text: 'done' }]);
    const texts: string[] = [];
    const following = (async () => {
      for await (const line of world.client.audit(run.workflowId, { follow: true, intervalMs: 100, privateKey })) {
        texts.push(JSON.stringify(line));
      }
    })();
    await run.open();
    await eventually('the first entry', () => Promise.resolve(entriesOf(texts).length === 1));
    for (let call = 0; call < 3; call++) await answered(run);
    await run.result();
    await following;
    expect(entriesOf(texts).filter(({ entry }) => entry.kind === 'settled')).toHaveLength(3);
    expect(await verified(texts, { publicKey })).toMatchObject({ ok: true, notes: [] });
    expect(await live(texts)).toEqual({ findings: [], notes: [] });
  });

  test('that is ended closes the export', async () => {
    const run = await world.start([pay('a'), { text: 'done' }]);
    await run.open();
    const stop = new AbortController();
    const texts: string[] = [];
    for await (const line of world.client.audit(run.workflowId, {
      follow: true,
      intervalMs: 100,
      signal: stop.signal,
    })) {
      texts.push(JSON.stringify(line));
      if (line.line === 'entry') stop.abort();
    }
    expect(headOf(texts)).toMatchObject({ status: 'RUNNING', size: 1 });
    expect(await verified(texts)).toMatchObject({ ok: true });
  });
});

describe('what is gone', () => {
  test('executions that retention has removed: the rest verifies from the tree that they carried', async () => {
    const run = await world.start([pay('a'), pay('b'), pay('c'), { text: 'done' }]);
    for (let call = 0; call < 3; call++) await answered(run);
    await run.result();
    const { executions } = await fetchRun(world.client.session, run.workflowId);
    const whole = auditedRun('default', run.workflowId, { executions, unread: 0 });
    const rest = auditedRun('default', run.workflowId, { executions: executions.slice(1), unread: 0 });
    const seal = sealer();
    const texts = [
      { line: 'export' as const, format: 1, namespace: 'default', at: '', of: { query: '' }, withheld: [] },
      ...new RunLines(1, new Set()).part(rest, true),
      { line: 'end' as const, at: '', runs: 1, entries: rest.entries.length },
    ].map((line) => JSON.stringify(seal(line)));
    const lost = whole.entries.length - rest.entries.length;
    expect(rest.tree.before?.size).toBe(lost);
    expect(lost).toBeGreaterThan(0);
    const verdict = await verified(texts);
    const note = expect.stringContaining(`entries 1 to ${lost} are gone with executions that retention has removed`);
    expect(verdict).toMatchObject({ ok: true, notes: [note] });
    const [forged] = (
      await verified(
        resealed(
          edited(texts, lineOf(texts, lost + 1), ({ entry }: { entry: object }) =>
            Object.assign(entry, { kind: 'policy' }),
          ),
        ),
      )
    ).findings;
    expect(forged).toMatchObject({ kind: 'head' });
  });

  test('a run that ended before it had a secret has no head, and its export has no entries', async () => {
    const file = join(import.meta.dirname, '../histories/0.1.0-agent-unknown.json');
    const { events } = historyFromJSON(JSON.parse(readFileSync(file, 'utf8')) as object);
    const run = auditedRun('default', 'w', { executions: readExecutions([{ runId: 'r', events }]), unread: 0 });
    const seal = sealer();
    const texts = [...new RunLines(1, new Set()).part(run, true)].map((line) => JSON.stringify(seal(line)));
    expect(linesOf(texts)[0]).toMatchObject({ committed: false });
    expect(entriesOf(texts)).toEqual([]);
  });

  test('a run that does not exist', async () => {
    await expect(exported(world.client.audit('no-such-run'))).rejects.toMatchObject({ code: 'run_not_found' });
  });
});
