/** One change of policy in all open runs of a namespace, on a real server: by the client, and by `policy apply --all`. */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createReviewerKey } from '../../src/client/send/sign-message.ts';
import type { PolicyResult, SetPolicyOfRunsOptions } from '../../src/client/send/set-policy-of-runs.ts';
import type { RunPolicies, SetPolicyMessage } from '../../src/contract.ts';
import { cli, jsonLines, startCli, startOnTerminal } from '../adapters/cli/support.ts';
import { eventually } from '../support/eventually.ts';
import { type GatedWorld, openGatedWorld } from '../support/gated-world.ts';
import { makeNamespace } from '../support/make-namespace.ts';
import { callOf, last, once, pay, rule, team } from '../support/team.ts';
import { type World, openWorld } from '../support/world.ts';

/** Of these tests alone: what they change is every run of the namespace. */
const namespace = `tighten-${randomUUID()}`;
const env = { TEMPORAL_NAMESPACE: namespace };
const closed = 'The shop is closed';
const denied = (reason = closed) => rule('pay', 'deny', { reason });
const operator = createReviewerKey();

let world: World;
let gated: GatedWorld;
/** Its operator has a key, and takes no change without a signature. */
let strict: World;
beforeAll(async () => {
  await makeNamespace(namespace);
  const long = { version: 1, rules: [], approval: { max_timeout: '3d' } };
  world = await openWorld({ namespace, worker: false, policy: long, agentsIn: (folder) => team(folder) });
  await world.client.setUp();
  await world.startWorker();
  gated = await openGatedWorld({ namespace, policy: { ...long, rules: [{ pattern: 'hang', action: 'allow' }] } });
  const reviewer_keys = { desk: { public_key: operator.publicKey, operator: true } };
  strict = await openWorld({ namespace, policy: { version: 1, rules: [], reviewer_keys } });
});
afterAll(async () => {
  await Promise.all([world, gated, strict].map((each) => each?.close()));
});

const echo = { tool: 'echo', args: { to: 'ann' } };
const asking = () => world.start(once(pay('ann'), echo));

interface Runs {
  /** By workflow id: everything that is open and has asked. */
  open: Map<string, WorkflowHandle>;
  nested: string[];
  refusing: string;
  /** A workflow with a gate that has not asked. */
  silent: WorkflowHandle;
  bare: WorkflowHandle;
}

let runs: Runs;
/** 30 runs: 18 that ask for two things, 4 that have ended, 2 with nested ones, 2 workflows with a gate, one refuses. */
beforeAll(async () => {
  const [waiting, ended, above, own, refusing] = await Promise.all([
    Promise.all(Array.from({ length: 18 }, asking)),
    Promise.all(Array.from({ length: 4 }, () => world.start([{ text: 'done' }]))),
    Promise.all(
      ['n1', 'n2'].map((name) =>
        world.start(once(callOf('researcher', { calls: [pay(name), { tool: 'hold', args: { name } }] }, last))),
      ),
    ),
    Promise.all(
      ['a', 'b'].map((to) =>
        gated.start('calls', [
          { name: 'pay', args: [to, 1] },
          { name: 'order', args: [{ item: to }] },
        ]),
      ),
    ),
    strict.start(once(pay('ann'), echo)),
  ]);
  await Promise.all(ended.map((run) => run.result()));
  const nested = await Promise.all(
    above.map(async ({ workflowId }) => {
      const run = await eventually('the researcher is called', async () => {
        const asked = world.run(`${workflowId}/1.1`);
        return (await asked.handle.describe().catch(() => undefined)) && asked;
      });
      await run.open(2);
      return run;
    }),
  );
  await Promise.all([...waiting, refusing].map((run) => run.open(2)));
  await Promise.all(own.map((handle) => gated.open(handle, 2)));
  const silent = await gated.start('calls', [{ name: 'hang', args: ['on'] }]);
  await eventually('it hangs', () => gated.ran().includes('hang on'));
  const bare = await gated.start('bareCalls', [{ name: 'linger', args: ['on'] }]);
  const asked = [...waiting, ...above, ...nested, refusing].map((run): [string, WorkflowHandle] => [
    run.workflowId,
    run.handle,
  ]);
  runs = {
    open: new Map([...asked, ...own.map((handle): [string, WorkflowHandle] => [handle.workflowId, handle])]),
    nested: nested.map(({ workflowId }) => workflowId),
    refusing: refusing.workflowId,
    silent,
    bare,
  };
  await listed((ids) => [...runs.open.keys()].every((id) => ids.includes(id)) && !ids.includes(ended[0]!.workflowId));
});

/** Waits until the index knows all of these. */
const listed = (isSo: (ids: string[]) => boolean) =>
  eventually('the index knows it', async () => {
    const ids: string[] = [];
    for (const status of ['running', 'waiting'] as const)
      for await (const { workflowId } of world.client.runs({ status })) ids.push(workflowId);
    return isSo(ids);
  });

async function apply(
  message: Omit<SetPolicyMessage, 'signature'>,
  options: SetPolicyOfRunsOptions = {},
  take: (result: PolicyResult) => void | Promise<void> = () => undefined,
): Promise<PolicyResult[]> {
  const results: PolicyResult[] = [];
  for await (const result of world.client.setPolicyOfRuns(message, { lookAgainMs: 0, ...options })) {
    results.push(result);
    await take(result);
  }
  return results;
}

const outcomesOf = (results: PolicyResult[]) => new Map(results.map((each) => [each.workflowId, each.outcome]));
const allBut = (outcome: string, others: Record<string, string> = {}) =>
  new Map([...runs.open.keys()].map((id) => [id, others[id] ?? outcome]));
/** True if no task and no activity of the run is pending, and each signal that it sent to another run has arrived. */
async function isIdle(handle: WorkflowHandle): Promise<boolean> {
  const { raw } = await handle.describe();
  if (raw.pendingWorkflowTask || raw.pendingActivities?.length) return false;
  const events = (await handle.fetchHistory()).events ?? [];
  const sent = events.filter((each) => each.signalExternalWorkflowExecutionInitiatedEventAttributes);
  const ended = events.filter(
    (each) =>
      each.externalWorkflowExecutionSignaledEventAttributes ??
      each.signalExternalWorkflowExecutionFailedEventAttributes,
  );
  return sent.length === ended.length;
}
/** Waits until every run is idle: a run first answers the sender of a change, and then signals its nested runs. */
const lengths = () =>
  eventually('every run is idle', async () => {
    // The runs above come first: while one of them is idle, it signals no nested run.
    for (const isNested of [false, true]) {
      const those = [...runs.open].filter(([id]) => runs.nested.includes(id) === isNested);
      const idle = await Promise.all(those.map(([, handle]) => isIdle(handle)));
      if (idle.includes(false)) return false;
    }
    return Promise.all([...runs.open.values()].map(async (handle) => (await handle.describe()).historyLength));
  });
const policyOf = (id: string) => runs.open.get(id)!.query<RunPolicies>('policy');

describe('the client', () => {
  test('a dry run names them and changes nothing', async () => {
    const before = await lengths();
    expect(outcomesOf(await apply({ policy: denied() }, { dryRun: true }))).toEqual(allBut('would_apply'));
    expect(await lengths()).toEqual(before);
  });

  test.each([
    [
      'a policy',
      { policy: { rules: [{ pattern: 'pay', action: 'forbid' }] } },
      {},
      'policy_invalid',
      'rules[0].action',
    ],
    ['nothing', {}, {}, 'policy_invalid', "needs 'policy', 'mode' or 'channels'"],
    ['a query', { mode: 'plan' }, { query: 'WorkflowType =' }, 'invalid_message', 'The server refuses the query: '],
    ['an attribute', { mode: 'plan' }, { query: "Colour = 'red'" }, 'invalid_message', 'Colour'],
  ] as const)(
    '%s that is wrong is refused before anything is sent',
    async (_what, message, options, code, sentence) => {
      const before = await lengths();
      await expect(apply(message as SetPolicyMessage, options)).rejects.toMatchObject({
        code,
        message: expect.stringContaining(sentence),
      });
      expect(await lengths()).toEqual(before);
    },
  );

  test('a query that finds nothing: nothing', async () => {
    expect(await apply({ mode: 'plan' }, { query: "WorkflowId = 'nobody'" })).toEqual([]);
  });

  test('stopped in the middle, what is left comes as unsent; a second try finishes it, a third changes nothing', async () => {
    const stop = new AbortController();
    const first = await apply({ policy: denied(), by: 'rita' }, { signal: stop.signal }, () => stop.abort());
    expect(new Set(outcomesOf(first).keys())).toEqual(new Set(runs.open.keys()));
    const sent = first.filter(({ outcome }) => outcome !== 'unsent');
    expect(sent.length).toBeGreaterThan(0);
    expect(sent.length).toBeLessThanOrEqual(8);

    const second = await apply({ policy: denied(), by: 'rita' });
    expect(outcomesOf(second)).toEqual(
      allBut('applied', {
        ...Object.fromEntries(sent.map(({ workflowId }) => [workflowId, 'unchanged'])),
        [runs.refusing]: 'refused',
      }),
    );
    const refused = second.find(({ workflowId }) => workflowId === runs.refusing)!;
    expect(refused).toMatchObject({ code: 'not_permitted_by_ceiling', message: expect.stringContaining('sign') });
    const applied = [...sent, ...second].filter(({ outcome }) => outcome === 'applied');
    // The policy of a run settles what its nested runs ask, before or after they get it themselves.
    for (const { workflowId, settled } of applied) {
      if (runs.nested.includes(workflowId) || runs.nested.includes(`${workflowId}/1.1`)) continue;
      expect(settled).toEqual([{ requestId: expect.any(String), outcome: 'superseded' }]);
    }
    for (const id of runs.open.keys()) {
      const { run } = await policyOf(id);
      expect(run?.rules.some(({ reason }) => reason === closed) ?? false).toBe(id !== runs.refusing);
    }
    await eventually('what the policy denies waits no more', async () => {
      const { approvals } = await world.client.approvals.list({ tool: 'pay' });
      return approvals.every(({ workflowId }) => workflowId === runs.refusing);
    });

    const before = await lengths();
    const third = await apply({ policy: denied(), by: 'somebody else' });
    expect(outcomesOf(third)).toEqual(allBut('unchanged', { [runs.refusing]: 'refused' }));
    expect(await lengths()).toEqual(before);
  });

  test('an older change that comes back is not taken for the one that is in force', async () => {
    const [nested] = runs.nested;
    const query = `WorkflowId = '${nested!}'`;
    // Longer than a policy may wait without a ceiling: only the run knows that its ceiling permits it.
    const meanwhile = { ...denied('Meanwhile'), approval: { timeout: '2d' } };
    for (const policy of [meanwhile, denied()]) {
      expect(outcomesOf(await apply({ policy }, { query }))).toEqual(new Map([[nested!, 'applied']]));
    }
    expect((await policyOf(nested!)).change).toMatchObject({ policy: { rules: [{ reason: closed }] } });
  });

  test('each run gets a signature of its own; what was signed before is not sent again', async () => {
    const query = `WorkflowId = '${runs.refusing}'`;
    const sign = { keyId: 'desk', privateKey: operator.privateKey };
    for (const outcome of ['applied', 'unchanged']) {
      expect(outcomesOf(await apply({ mode: 'default' }, { query, sign }))).toEqual(
        new Map([[runs.refusing, outcome]]),
      );
    }
  });

  test('a run that starts meanwhile is found by the next look', async () => {
    let late: string | undefined;
    const results = await apply({ policy: denied() }, {}, async () => {
      if (late !== undefined) return;
      const run = await asking();
      await run.open(2);
      runs.open.set(run.workflowId, run.handle);
      late = run.workflowId;
      await listed((ids) => ids.includes(run.workflowId));
    });
    expect(outcomesOf(results).get(late!)).toBe('applied');
  });

  test("a query reaches one's own workflow that has not asked, and no workflow without a gate", async () => {
    const query = `WorkflowId IN ('${runs.silent.workflowId}', '${runs.bare.workflowId}')`;
    await eventually(
      'the index knows them',
      async () => (await apply({ mode: 'plan' }, { query, dryRun: true })).length === 2,
    );
    const length = (await runs.bare.describe()).historyLength;
    expect(outcomesOf(await apply({ mode: 'plan' }, { query }))).toEqual(
      new Map([
        [runs.silent.workflowId, 'applied'],
        [runs.bare.workflowId, 'ungated'],
      ]),
    );
    expect((await runs.bare.describe()).historyLength).toBe(length);
  });

  test('a run that closes meanwhile: closed', async () => {
    const newestFirst: string[] = [];
    for await (const { workflowId } of world.client.runs({ status: 'waiting' })) newestFirst.push(workflowId);
    // The last that is sent to. Others need the one that refuses, and a nested run ends with the run above it.
    const isPlain = (id: string): boolean =>
      id !== runs.refusing && !runs.nested.some((nested) => nested === id || nested === `${id}/1.1`);
    const last = newestFirst.findLast(isPlain)!;
    let isFirst = true;
    const results = await apply({ policy: denied('Another reason') }, {}, async () => {
      if (isFirst) await runs.open.get(last)!.terminate();
      isFirst = false;
    });
    expect(results.find(({ workflowId }) => workflowId === last)).toMatchObject({
      outcome: 'closed',
      code: 'run_closed',
    });
    runs.open.delete(last);
    await listed((ids) => !ids.includes(last));
  });
});

describe('policy apply --all', () => {
  const all = (...words: string[]) => cli(['policy', 'apply', '--all', ...words], { env });
  const fileOf = (reason: string): string => {
    const file = join(world.folder, 'strict.json');
    writeFileSync(file, JSON.stringify(denied(reason)));
    return file;
  };
  const counts = (lines: Record<string, unknown>[]) => {
    const count = (name: string) => lines.filter(({ outcome }) => outcome === name).length;
    return { applied: count('applied'), unchanged: count('unchanged'), refused: count('refused') };
  };

  test.each([
    ['a run alone', ['ticket-8'], 'Say what to apply'],
    ['nothing', [], 'Say which runs change: a run, --all, or --query QUERY.'],
    ['a run beside --all', ['--all', 'ticket-8', 'strict.json'], 'name a policy file at most, and no run'],
    ['--all beside --query', ['--all', '--query', 'x', '--mode', 'plan'], "cannot be used with option '--query"],
    ['--yes for one run', ['ticket-8', '--mode', 'plan', '--yes'], '--dry-run and --yes are for several runs'],
    ['no terminal', ['--all', '--mode', 'plan'], 'No terminal can ask whether to go on'],
    ['no change', ['--all', '--yes'], 'Say what to apply'],
  ])('%s: a mistake in the command', async (_what, words, sentence) => {
    const { code, stdout, stderr } = await cli(['policy', 'apply', ...words], { env });
    expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: '', stderr: expect.stringContaining(sentence) });
  });

  test('a dry run prints a line for each, and changes nothing', async () => {
    const before = await lengths();
    const result = await all(fileOf('From the terminal'), '--dry-run', '--json', 'workflowId,outcome');
    expect(result.code).toBe(0);
    expect(new Map(jsonLines(result).map(({ workflowId, outcome }) => [workflowId, outcome]))).toEqual(
      allBut('would_apply'),
    );
    expect(result.stderr).toBe(`${runs.open.size} runs: ${runs.open.size} would_apply\n`);
    expect(await lengths()).toEqual(before);
  });

  test('Ctrl-C reports what was done; after a kill in the middle the next command finishes it; another changes nothing', async () => {
    const command = ['policy', 'apply', '--all', fileOf('From the terminal'), '--yes', '--reviewer', 'rita'];
    const interrupted = startCli(command, { env });
    await interrupted.shows('"outcome":"applied"');
    interrupted.child.kill('SIGINT');
    const stopped = await interrupted.ended;
    expect(stopped.code).toBe(130);
    expect(stopped.stderr).toContain('Stopped. Give the command again to go on: no run is changed twice.');
    expect(jsonLines(stopped)).toHaveLength(runs.open.size);

    command[3] = fileOf('After the kill');
    const killed = startCli(command, { env });
    await killed.shows('"outcome":"applied"');
    killed.child.kill('SIGKILL');
    await killed.ended;

    const next = await cli(command, { env });
    expect(next.code).toBe(1);
    const { applied, unchanged, refused } = counts(jsonLines(next));
    expect(unchanged).toBeGreaterThan(0);
    expect([applied + unchanged, refused]).toEqual([runs.open.size - 1, 1]);
    expect(next.stderr).toMatch(/^\d+ runs: .*1 refused\n/);
    for (const id of runs.open.keys()) {
      if (id !== runs.refusing) expect((await policyOf(id)).change?.policy?.rules[0]?.reason).toBe('After the kill');
    }
    const before = await lengths();
    const again = await cli(command, { env });
    expect(counts(jsonLines(again))).toEqual({ applied: 0, unchanged: runs.open.size - 1, refused: 1 });
    expect(await lengths()).toEqual(before);
  });

  test('on a terminal it says which runs would change, and asks', async () => {
    const before = await lengths();
    const words = ['policy', 'apply', '--all', fileOf('After the question')];
    const count = runs.open.size;
    const refused = startOnTerminal(words, env);
    await refused.shows(`Apply this to these ${count} runs? Type yes to go on:`);
    expect(refused.printed()).toContain(`… and ${count - 20} more`);
    refused.type('y\r');
    expect(await refused.ended).toBe(1);
    expect(refused.printed()).toContain('Nothing was changed.');
    expect(await lengths()).toEqual(before);

    const confirmed = startOnTerminal(words, env);
    await confirmed.shows('Type yes to go on:');
    confirmed.type('yes\r');
    expect(await confirmed.ended).toBe(1);
    expect(confirmed.printed()).toContain(`✗ ${runs.refusing} refused: only an operator can loosen`);
    expect(confirmed.printed()).toContain(`${count} runs: ${count - 1} applied, 1 refused`);
  });

  test('without a worker it is recorded, and the exit code says that it is not in force', async () => {
    await strict.stopWorker();
    const query = ['--query', `WorkflowId = '${runs.refusing}'`];
    const result = await cli(['policy', 'apply', ...query, '--mode', 'plan', '--yes'], { env });
    expect([result.code, jsonLines(result).map(({ outcome }) => outcome)]).toEqual([6, ['recorded']]);
    expect(result.stderr).toContain('1 run: 1 recorded\n');
    const none = await cli(['policy', 'apply', '--query', "WorkflowId = 'nobody'", '--mode', 'plan', '--yes'], { env });
    expect(none).toEqual({ code: 0, stdout: '', stderr: 'No open run is found.\n' });
    const bad = await cli(['policy', 'apply', '--query', 'WorkflowId', '--mode', 'plan', '--yes'], { env });
    expect(bad).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('The server refuses the query: '),
    });
  });
});
