import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { WorkflowHandle } from '@temporalio/client';
import fc from 'fast-check';
import { projectHistories } from '../../support/read-histories.ts';
import type { ApprovalDetails, ApprovalRequest, RunStatus } from '../../../src/contract.ts';
import { isProblemError } from '../../../src/core/base/problem.ts';
import type { ProjectedRequest, Projection } from '../../../src/events/journal.ts';
import { eventually } from '../../support/eventually.ts';
import type { RunInTest, Turns, World } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';

/**
 * History is the log: its projection, without the policy, must equal the run's own ledger. Random runs cover everything
 * that can happen; the fixed seed makes failures reproducible.
 */

const seed = 20_261;
const answers = ['approve', 'deny', 'deny with a reason', 'approve by update', 'deny by update', 'leave'] as const;
const calls = {
  look: { tool: 'look', args: { what: 'sea' } },
  pay: { tool: 'pay', args: { to: 'ann', amount: 1 } },
  wipe: { tool: 'wipe', args: {} },
  fail: { tool: 'fail', args: {} },
  unknown: { tool: 'fly', args: {} },
  bad: { tool: 'pay', rawArguments: '{"to":' },
} as const;

const plan = fc.record({
  turns: fc.array(
    fc.array(
      fc.oneof(
        { weight: 3, arbitrary: fc.constant('pay' as const) },
        { weight: 2, arbitrary: fc.constantFrom(...(Object.keys(calls) as (keyof typeof calls)[])) },
      ),
      { minLength: 1, maxLength: 4 },
    ),
    { minLength: 1, maxLength: 3 },
  ),
  answers: fc.array(fc.constantFrom(...answers), { minLength: 1, maxLength: 8 }),
  junk: fc.nat(3),
  continuesAsNew: fc.boolean(),
  end: fc.constantFrom('itself', 'itself', 'itself', 'cancel', 'terminate'),
});
type Plan = typeof plan extends fc.Arbitrary<infer T> ? T : never;

let world: World;
let shortExecutions: World;
beforeAll(async () => {
  world = await openWorld();
  shortExecutions = await openWorld({ continueAsNewAfter: { historyEvents: 30 } });
});
afterAll(async () => {
  await world.close();
  await shortExecutions.close();
});

const isOpen = async (run: RunInTest): Promise<boolean> => (await run.handle.describe()).status.name === 'RUNNING';

async function answer(run: RunInTest, { requestId }: ApprovalRequest, how: (typeof answers)[number]): Promise<void> {
  const approved = how.startsWith('approve');
  const reason = how === 'deny with a reason' ? { reason: 'not now', reviewerId: 'ann', decisionId: requestId } : {};
  const decision = { requestId, approved, ...reason };
  if (how === 'leave') return;
  if (how.endsWith('update')) await run.handle.executeUpdate('decide', { args: [decision] });
  else await run.handle.signal('decide', decision);
}

async function play({ turns, answers: given, junk, continuesAsNew, end }: Plan, index: number): Promise<RunInTest> {
  const script = [...turns.map((turn) => ({ calls: turn.map((name) => calls[name]) })), { text: 'done' }] as Turns;
  const policy = {
    version: 1,
    rules: [{ pattern: 'fail', action: 'allow' }],
    // Long enough for what is answered, short enough for what is left.
    approval: { timeout: given.includes('leave') ? '3s' : '5m' },
  };
  const run = await (continuesAsNew ? shortExecutions : world).start(script, { policy, metadata: { index } });
  const seen = new Set<string>();
  const asks = turns.flat().filter((name) => name === 'pay').length;
  while (await isOpen(run)) {
    // The run may close between reading and acting; a late message changes nothing.
    await step().catch(() => undefined);
    await sleep(20);
  }
  return run;

  async function step(): Promise<void> {
    const open = await run.handle.query<ApprovalRequest[]>('approvals');
    const fresh = open.filter(({ requestId }) => !seen.has(requestId));
    for (const request of fresh) {
      seen.add(request.requestId);
      for (let each = 0; each < junk; each++) await run.handle.signal(each === 1 ? 'aprove' : 'decide', { each });
      await answer(run, request, given[seen.size % given.length]!);
      if (end === 'itself' || seen.size <= asks / 2) continue;
      // At once: the effect of the decision is cancelled before it began.
      await (end === 'cancel' ? run.handle.cancel() : run.handle.terminate('the plan says so'));
      return;
    }
    if (continuesAsNew && open.length > 0 && (await run.status()).executions < 2) {
      for (let each = 0; each < 8; each++) await run.handle.signal('noise');
    }
  }
}

interface Read {
  projection: Projection;
  executions: number;
  /** The last execution that knows its past; a terminated run's last execution may have had no time to verify it. */
  own: WorkflowHandle | undefined;
}

async function read(run: RunInTest): Promise<Read> {
  const { client } = world;
  const { executions } = await client.historyChain(run.workflowId);
  const { workflow } = client.session.client;
  const handles = executions.map(({ runId }) => workflow.getHandle(run.workflowId, runId));
  const own = await lastThatAnswers(handles);
  return { projection: projectHistories(executions), executions: executions.length, own };
}

/** Undefined for a run that was terminated before a worker took its last events: nobody can say what it would. */
async function lastThatAnswers(handles: WorkflowHandle[]): Promise<WorkflowHandle | undefined> {
  const own = handles.at(-1)!;
  try {
    await own.query('run');
    return own;
  } catch (error) {
    const isTerminated = (await own.describe()).status.name === 'TERMINATED';
    if (isTerminated && isProblemError(error) && error.code === 'run_closed') return undefined;
    if (!isTerminated || handles.length === 1) throw error;
    return lastThatAnswers(handles.slice(0, -1));
  }
}

/** A request as the run's own ledger records it. */
async function record(own: WorkflowHandle, requestId: string): Promise<Omit<ProjectedRequest, 'callId'>> {
  const details = (await own.query<ApprovalDetails | null, [object]>('approvals', { requestId }))!;
  const { toolName, digest, requestedAt: openedAt, deadline, rule, settled } = details;
  return { requestId, toolName, digest, openedAt, deadline, rule, ...settled };
}

/** `TURN.INDEX`; here both are below ten. */
const byCall = <T extends { callId: string }>(outcomes: T[]): T[] =>
  outcomes.toSorted((one, other) => Number(one.callId) - Number(other.callId));
const withoutRan = ({ outcomes }: Pick<RunStatus, 'outcomes'>) =>
  byCall(outcomes).map(({ ran: _ran, ...rest }) => rest);

async function expectSame(run: RunInTest): Promise<Read> {
  const found = await read(run);
  const { projection, own } = found;
  expect(projection.gaps).toEqual([]);
  if (own === undefined) return found;
  const status = await own.query<RunStatus>('run');
  const terminated = (await run.handle.describe()).status.name === 'TERMINATED';
  // A query of a terminated run also replays what its last, unfinished task would have done.
  if (terminated) expect(projection.requests.length).toBeLessThanOrEqual(status.counts.asks);
  else expect(projection.requests).toHaveLength(status.counts.asks);
  for (const { callId: _callId, ...request } of projection.requests) {
    const expected = await record(own, request.requestId);
    if (terminated && request.outcome === 'cancelled') {
      // A terminated run could not record the end of its open requests, such as one whose time was over.
      const { outcome: _outcome, runs: _runs, settledAt: _at, ...opened } = expected;
      expect(request).toEqual({ ...opened, outcome: 'cancelled' });
    } else expect(request).toEqual(expected);
  }
  if (terminated) {
    // Nor what happened after its last payload: whether a tool ended, and the last refusals.
    expect(withoutRan(status)).toEqual(expect.arrayContaining(withoutRan(projection)));
    for (const { callId, ran } of projection.outcomes) {
      expect([status.outcomes.find((each) => each.callId === callId)!.ran, 'pending']).toContain(ran);
    }
    expect(projection.refusals).toBeLessThanOrEqual(status.refused.total);
  } else {
    expect(byCall(projection.outcomes)).toEqual(byCall(status.outcomes));
    expect(projection.refusals).toBe(Math.min(status.refused.total, 50));
  }
  return found;
}

describe('the projection of the exported history equals the ledger of the run', () => {
  const plans = fc.sample(plan, { seed, numRuns: 16 });

  test('for random runs', async () => {
    const endings: string[] = [];
    let longest = 0;
    const runs = await Promise.all(plans.map((each, index) => play(each, index)));
    for (const run of runs) {
      const { projection, executions } = await expectSame(run);
      endings.push((await run.handle.describe()).status.name);
      endings.push(...projection.requests.map(({ outcome }) => outcome ?? 'open'));
      endings.push(...projection.outcomes.map(({ outcome }) => outcome));
      longest = Math.max(longest, executions);
    }
    // The test is meaningful only if the seed produces all of this.
    expect(longest).toBeGreaterThanOrEqual(2);
    const expected =
      'CANCELLED COMPLETED TERMINATED allowed approved cancelled denied denied_by_policy expired refused';
    expect([...new Set(endings)].toSorted()).toEqual(expected.split(' '));
  });

  test('for a run that is cancelled while a tool runs', async () => {
    const hold = (name: string) => ({ tool: 'hold', args: { name } });
    const run = await world.start([{ calls: [calls.look, hold('cancelled')] }], {
      policy: { version: 1, rules: [{ pattern: 'hold', action: 'allow' }] },
    });
    await eventually('the tool runs', () => world.ran().includes('start cancelled'));
    await run.handle.signal('aprove');
    await run.handle.cancel();
    await expect(run.handle.result()).rejects.toThrow();
    writeFileSync(join(world.folder, 'release-cancelled'), '');
    await expectSame(run);
  });

  test('for a run that is decided and cancelled at once: the journal entries in the activity that never started are not lost', async () => {
    const run = await world.start([{ calls: [calls.pay, calls.look, calls.pay] }]);
    const [request] = await run.open(2);
    await world.stopWorker();
    await run.handle.signal('aprove');
    await run.handle.signal('decide', { requestId: request!.requestId, approved: true });
    await run.handle.cancel();
    await world.startWorker();
    await expect(run.handle.result()).rejects.toThrow();
    const { projection } = await expectSame(run);
    expect(projection.requests.map(({ outcome }) => outcome)).toEqual(['approved', 'cancelled']);
  });

  test('for a run that is cancelled while an edit is being checked: the refusal of the edit is not lost', async () => {
    const run = await world.start([{ calls: [calls.pay] }]);
    const [request] = await run.open();
    await world.stopWorker();
    const modifiedArguments = { to: 'ann', amount: 2 };
    await run.handle.signal('decide', { requestId: request!.requestId, approved: true, modifiedArguments });
    await run.handle.cancel();
    await world.startWorker();
    await expect(run.handle.result()).rejects.toThrow();
    const { projection } = await expectSame(run);
    expect(projection.requests.map(({ outcome }) => outcome)).toEqual(['cancelled']);
    expect(projection.refusals).toBe(1);
    // The sender learns why the decision had no effect, not that something broke.
    expect((await run.status()).refused.last).toMatchObject([{ code: 'run_closed' }]);
  });

  test('for a run that fails', async () => {
    const run = await world.start([{ calls: [calls.look, calls.pay] }, { error: { status: 400 } }]);
    const [request] = await run.open();
    await run.handle.signal('decide', { requestId: request!.requestId, approved: true });
    await expect(run.handle.result()).rejects.toThrow();
    await run.handle.signal('decide', true).catch(() => undefined);
    await expectSame(run);
  });
});

test('reading the journal needs no ruling: no policy module is imported', () => {
  const seen = new Set<string>();
  const visit = (path: string): void => {
    if (seen.has(path)) return;
    seen.add(path);
    const imports = readFileSync(path, 'utf8').matchAll(/^(?:import|export)(?! type)[^;]*?from '(\.[^']+)'/gms);
    for (const [, specifier] of imports) visit(join(path, '..', specifier!));
  };
  const source = (file: string): string => fileURLToPath(new URL(`../../../src/${file}`, import.meta.url));
  visit(source('client/history/read-history-event.ts'));
  visit(source('events/journal.ts'));
  expect([...seen].map((path) => path.slice(source('').length)).toSorted()).toEqual([
    'client/history/read-history-event.ts',
    'client/history/written-by-gate.ts',
    'client/server/read-payload.ts',
    'codec/plain-payload-converter.ts',
    'contract.ts',
    'core/base/canonical-json.ts',
    'core/base/digest.ts',
    'core/base/json.ts',
    'core/base/permit-metadata.ts',
    'core/base/problem.ts',
    'core/base/text.ts',
    'core/base/tool-call.ts',
    'core/base/undecodable.ts',
    'core/ledger/journal-entry.ts',
    'core/ledger/merkle.ts',
    'events/journal.ts',
  ]);
});
