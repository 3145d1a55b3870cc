/** Calls with an unknown outcome that their tool does not know either: a person is asked about them (I7). */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { expect, test } from 'vitest';
import { assessBuiltIn } from '../../../src/assess/assess.ts';
import { evidenceOfParts, evidenceParts } from '../../../src/audit/evidence.ts';
import { rulingsOf } from '../../../src/audit/rule-again.ts';
import { verifyEvidence } from '../../../src/audit/verify-evidence.ts';
import { autoApprove } from '../../../src/channels/simple-channels.ts';
import { evidenceOf } from '../../../src/client/audit/evidence-of.ts';
import { type ApprovalDetails, channelsWorkflowId, type RunInput } from '../../../src/contract.ts';
import { eventually } from '../../support/eventually.ts';
import { type Event, resetTo } from '../../support/reset-to.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { killAll } from '../../support/ready-process.ts';
import { projectHistories, readExecutions } from '../../support/read-histories.ts';
import { sharedAddress } from '../../support/shared-server.ts';
import { spawnWorker } from '../../support/worker-process.ts';
import { openWorld, testBundle, type RunInTest, type World } from '../../support/world.ts';
import { approve, decide, opened } from '../gate/bound-world.ts';
import type { HistoryEvent } from '../replay/history-tasks.ts';
import { placementsOf, replayPlacements } from '../replay/placements.ts';
import { continuedAsNew } from '../replay/recorded/play-runs.ts';
import { type PayArgs, reconcilingAgents } from './reconciling-agent.ts';

const allow = { version: 1, rules: [{ pattern: '*', action: 'allow' }] };
const ask = { version: 1, rules: [{ pattern: 'pay', action: 'ask' }] };
const world = forAllTests(() => openWorld({ agentsIn: reconcilingAgents, policy: allow }));

const unknown = 'Unknown: the tool was started but its outcome is not known. Do not assume that it did nothing.';
const notAgain = (why: string): string => `${unknown} It is not started again. ${why}`;
const set = (file: string): void => writeFileSync(join(world.folder, file), '');
const linesOf = (own: World, what: string, name: string): string[] =>
  own.ran().filter((line) => line.startsWith(`${what} ${name} `));
const starts = (name: string): string[] => linesOf(world, 'start', name);
const turns = (name: string, how: PayArgs['how'] = 'breaks', tool = 'pay') => [
  { calls: [{ tool, args: { name, how } }] },
  { text: '{{lastResult}}' },
];
/** A run whose call is about to be asked about, because nothing knows what became of it. */
async function asked(
  name: string,
  input: Partial<RunInput> = {},
  tool = 'pay',
): Promise<{ run: RunInTest; request: ApprovalDetails }> {
  set(`${name}.silent`);
  const run = await world.start(turns(name, 'breaks', tool), input);
  return { run, request: await opened(run) };
}

async function replays({ handle }: RunInTest): Promise<void> {
  const { events } = JSON.parse(historyToJSON(await handle.fetchHistory())) as { events: HistoryEvent[] };
  const placements = placementsOf(events, [1, 2, 3]);
  expect(placements.length).toBeGreaterThan(0);
  expect(await replayPlacements({ codePath: testBundle() }, placements)).toEqual(new Map());
}

test('a rule had allowed it: a person is asked, and an approval starts it once more, with the same key', async () => {
  const { run, request } = await asked('allowed');
  expect(request).toMatchObject({
    replaces: { by: 'unknown' },
    arguments: { name: 'allowed', how: 'breaks' },
    reason: 'It may have run: it was started, and its tool does not know the outcome. Look before you answer.',
    ranBefore: { ran: 'unknown' },
  });
  expect(request.replaces).not.toHaveProperty('requestId');
  expect((await run.status()).counts.calls).toBe(1);
  set('allowed.works');
  await approve(run, request, { reason: 'the bank has no such payment' });
  const { output, outcomes } = await run.result();
  expect(output).toBe('A reviewer approved this call and wrote: "the bank has no such payment".\npaid allowed');
  expect(outcomes).toEqual([
    { callId: '1.1', toolName: 'pay', requestId: request.requestId, outcome: 'approved', ran: 'yes' },
  ]);
  expect(starts('allowed')).toHaveLength(2);
  expect(new Set(starts('allowed')).size).toBe(1);
  expect(projectHistories([await run.handle.fetchHistory()])).toMatchObject({
    outcomes: [{ callId: '1.1', ran: 'yes' }],
    gaps: [],
  });
  await replays(run);
});

test('a denial starts nothing, and the model gets the words; nothing says that the call did not run', async () => {
  const { run, request } = await asked('denied', {}, 'odd');
  await decide(run, { requestId: request.requestId, approved: false, reason: 'I shall ask the bank tomorrow' });
  const { output, outcomes } = await run.result();
  expect(output).toBe(notAgain('Denied: I shall ask the bank tomorrow'));
  expect(outcomes).toMatchObject([{ callId: '1.1', outcome: 'denied', ran: 'unknown' }]);
  expect(starts('denied')).toHaveLength(1);
  expect(projectHistories([await run.handle.fetchHistory()])).toMatchObject({
    outcomes: [{ callId: '1.1', outcome: 'denied', ran: 'unknown' }],
    gaps: [],
  });
  await replays(run);
});

test('the deadline denies it in the same way, also where silence lets calls run', async () => {
  const ceiling = {
    version: 1,
    rules: [{ pattern: '*', action: 'allow' }],
    approval: { timeout: '1s', on_timeout: 'allow' },
    assess: [{ pattern: '*', severity: 'low' }],
  };
  const own = await openWorld({ agentsIn: reconcilingAgents, policy: ceiling });
  try {
    writeFileSync(join(own.folder, 'late.silent'), '');
    const run = await own.start(turns('late', 'breaks', 'checked'));
    const { output, outcomes } = await run.result();
    expect(output).toBe(notAgain('Denied: no decision within 1s'));
    expect(outcomes).toMatchObject([{ outcome: 'expired', ran: 'unknown' }]);
    expect(linesOf(own, 'start', 'late')).toHaveLength(1);
    await replays(run);
  } finally {
    await own.close();
  }
});

test('a person can answer in its place, and cannot edit it or approve later calls with it', async () => {
  const { run, request } = await asked('told');
  const { requestId } = request;
  expect(request.always).toBeUndefined();
  const edit = { requestId, approved: true, modifiedArguments: { name: 'told', how: 'hangs' } };
  await expect(decide(run, edit)).rejects.toThrow();
  await run.handle.signal('decide', edit);
  await eventually('the edit is refused', async () => (await run.status()).counts.refused > 0);
  await decide(run, { requestId, approved: false, response: 'paid by hand' });
  const { output, outcomes } = await run.result();
  expect([output, outcomes]).toMatchObject(['paid by hand', [{ outcome: 'responded', ran: 'unknown' }]]);
  expect(starts('told')).toHaveLength(1);
});

test('no grant, rule, mode or channel answers it, and a rule that denies does', async () => {
  const { run, request } = await asked('granted', { policy: ask });
  // The first request, before the start.
  await approve(run, request, { always: { kind: 'tool' } });
  const again = await opened(run, request);
  expect(again.replaces).toEqual({ requestId: request.requestId, by: 'unknown' });
  expect((await run.status()).counts).toMatchObject({ calls: 1, asks: 2 });
  for (const message of [{ policy: allow }, { mode: 'approve_all' }, { mode: 'auto_approve' }]) {
    await run.handle.executeUpdate('setPolicy', { args: [message] });
    expect((await run.open()).map(({ requestId }) => requestId)).toEqual([again.requestId]);
  }
  const byChannel = { requestId: again.requestId, approved: true, reviewerId: 'channel:robot' };
  await expect(decide(run, byChannel)).rejects.toThrow();
  expect(starts('granted')).toHaveLength(1);
  const deny = { version: 1, rules: [{ pattern: 'pay', action: 'deny', reason: 'the bank is closed' }] };
  await run.handle.executeUpdate('setPolicy', { args: [{ policy: deny }] });
  expect((await run.result()).output).toBe(notAgain('Denied: the bank is closed'));
  await replays(run);
});

test('a grant that is made meanwhile settles other requests, and not this one', async () => {
  set('parked.silent');
  const call = (name: string) => ({ tool: 'pay', args: { name, how: 'breaks' } });
  const calls = ['parked', 'other', 'third'].map(call);
  const run = await world.start([{ calls }, { text: '{{lastResult}}' }], { policy: ask });
  const open = await run.open(3);
  const named = (name: string): string => open.find(({ arguments: args }) => args['name'] === name)!.requestId;
  await decide(run, { requestId: named('parked'), approved: true });
  const parked = await eventually('it is asked about again', async () =>
    (await run.open()).find(({ replaces }) => replaces?.by === 'unknown'),
  );
  const { settled } = await decide(run, { requestId: named('other'), approved: true, always: { kind: 'tool' } });
  expect(settled).toEqual([{ requestId: named('third'), outcome: 'superseded' }]);
  expect((await run.open()).map(({ requestId }) => requestId)).toEqual([parked.requestId]);
  await decide(run, { requestId: parked.requestId, approved: false });
  await run.result();
  expect([starts('parked'), starts('third')].map(({ length }) => length)).toEqual([1, 1]);
});

test('its rulings are made again, and it counts once in sums and among irreversible calls', async () => {
  const ceiling = {
    version: 1,
    rules: [{ pattern: 'pay', action: 'allow' }],
    assess: [{ pattern: 'pay', severity: 'high', reversible: false }],
    approval: { max_irreversible_per_run: 2 },
  };
  const own = await openWorld({ agentsIn: reconcilingAgents, policy: ceiling });
  try {
    const silent = (name: string): void => writeFileSync(join(own.folder, `${name}.silent`), '');
    silent('one');
    silent('two');
    const call = (name: string) => ({ tool: 'pay', args: { name, how: 'breaks' } });
    const run = await own.start([
      { calls: [call('one')] },
      { calls: [call('two')] },
      { calls: [call('three')] },
      { text: '{{lastResult}}' },
    ]);
    const first = await opened(run);
    await decide(run, { requestId: first.requestId, approved: false });
    const second = await opened(run, first);
    writeFileSync(join(own.folder, 'two.works'), '');
    await approve(run, second);
    expect(await run.result()).toMatchObject({
      output: 'Denied: This run may make at most 2 calls that cannot be undone.',
      outcomes: [{ ran: 'unknown' }, { ran: 'yes' }, { outcome: 'refused', ran: 'no' }],
    });
    expect((await run.status()).counts.calls).toBe(3);
    const { executions } = await own.client.historyChain(run.workflowId);
    const { entries, evidence } = evidenceOf(readExecutions(executions));
    const read = evidenceOfParts(JSON.parse(JSON.stringify(evidenceParts(evidence))));
    if ('problem' in read) throw new Error(read.problem);
    const { agreed, differing, notReRuled } = verifyEvidence(entries, read.evidence);
    expect({ differing, notReRuled }).toEqual({ differing: [], notReRuled: [] });
    expect(agreed).toEqual(rulingsOf(entries).map(({ seq }) => seq));
  } finally {
    await own.close();
  }
});

test('unknown each time: three starts, each of the others by a person', async () => {
  const { run, request } = await asked('often');
  await approve(run, request);
  await approve(run, await opened(run, request));
  expect(await run.result()).toMatchObject({ output: unknown, outcomes: [{ outcome: 'approved', ran: 'unknown' }] });
  expect(starts('often')).toHaveLength(3);
  expect(new Set(starts('often')).size).toBe(1);
  await replays(run);
});

test('a start that the second gate refuses does not say that the call did not run', async () => {
  const { run, request } = await asked('moved', {}, 'bound');
  expect(request.preview).toBeDefined();
  await eventually('its preview is finished', async () => (await opened(run)).preview?.state === 'ready');
  set('moved.changed');
  await approve(run, request);
  const again = await opened(run, request);
  expect(again.replaces).toMatchObject({ requestId: request.requestId, by: 'unknown' });
  expect(again.replaces?.changes).toHaveLength(1);
  await decide(run, { requestId: again.requestId, approved: false });
  const { output, outcomes } = await run.result();
  expect(output).toBe(notAgain('Denied: User denied'));
  expect(outcomes).toMatchObject([{ callId: '1.1', ran: 'unknown' }]);
  expect(starts('moved')).toHaveLength(1);
});

test('it waits through continue-as-new, and a run that is closed meanwhile does not start it', async () => {
  const own = await openWorld({
    agentsIn: reconcilingAgents,
    policy: allow,
    continueAsNewAfter: { historyEvents: 60 },
  });
  try {
    for (const name of ['carried', 'closed']) {
      writeFileSync(join(own.folder, `${name}.silent`), '');
      const run = await own.start(turns(name));
      const { requestId } = await opened(run);
      await continuedAsNew(own, run);
      expect((await run.open()).map((each) => each.requestId)).toEqual([requestId]);
      writeFileSync(join(own.folder, `${name}.works`), '');
      if (name === 'carried') await run.handle.signal('decide', { requestId, approved: true });
      else await run.handle.signal('close', { reason: 'enough' });
      const { output, outcomes } = await run.result();
      if (name === 'carried') expect(output).toBe('paid carried');
      expect(outcomes).toMatchObject([{ callId: '1.1', ran: name === 'carried' ? 'yes' : 'unknown' }]);
      expect(new Set(linesOf(own, 'start', name)).size).toBe(1);
      expect(linesOf(own, 'start', name)).toHaveLength(name === 'carried' ? 2 : 1);
      await replays(run);
    }
  } finally {
    await own.close();
  }
});

test('kill -9 in mid-call: the next worker asks the tool, then a person', async () => {
  const own = await openWorld({ agentsIn: reconcilingAgents, policy: allow, worker: false });
  const worker = () => {
    return spawnWorker({ address: sharedAddress(), taskQueue: own.taskQueue, folder: own.folder, reconciling: true });
  };
  try {
    const first = await worker();
    for (const name of ['yes', 'no']) writeFileSync(join(own.folder, `${name}.silent`), '');
    const runs = [await own.start(turns('yes', 'hangs')), await own.start(turns('no', 'hangs'))] as const;
    for (const run of runs) await approve(run, await opened(run));
    await eventually('both run', () => own.ran().filter((line) => line.startsWith('start ')).length === 2);
    await first.kill();
    await worker();
    const isAgain = async (run: RunInTest): Promise<ApprovalDetails> =>
      eventually('it is asked about again', async () => {
        const request = await opened(run);
        return request.replaces?.by === 'unknown' && request;
      });
    const [toRun, toLeave] = [await isAgain(runs[0]), await isAgain(runs[1])];
    writeFileSync(join(own.folder, 'yes.works'), '');
    await runs[0].handle.signal('decide', { requestId: toRun.requestId, approved: true });
    await runs[1].handle.signal('decide', { requestId: toLeave.requestId, approved: false, reason: 'it is paid' });
    expect((await runs[0].result()).output).toBe('paid yes');
    expect((await runs[1].result()).output).toBe(notAgain('Denied: it is paid'));
    expect(new Set(linesOf(own, 'start', 'yes')).size).toBe(1);
    expect([linesOf(own, 'start', 'yes').length, linesOf(own, 'start', 'no').length]).toEqual([2, 1]);
    for (const run of runs) await replays(run);
  } finally {
    await killAll();
    await own.close();
  }
});

test('a channel that approves by itself leaves it to a person', async () => {
  const own = await openWorld({ agentsIn: reconcilingAgents, policy: allow, channels: { auto: autoApprove() } });
  try {
    writeFileSync(join(own.folder, 'auto.silent'), '');
    const run = await own.start(turns('auto'));
    const request = await opened(run);
    const channels = own.client.session.client.workflow.getHandle(channelsWorkflowId(run.workflowId));
    await eventually('its approval is refused', async () =>
      // The workflow that carries the run's channels may not have begun.
      JSON.stringify(await channels.query('deliveries').catch(() => '')).includes('not_entitled'),
    );
    expect(linesOf(own, 'start', 'auto')).toHaveLength(1);
    writeFileSync(join(own.folder, 'auto.works'), '');
    await approve(run, request, { reviewerId: 'rita' });
    expect((await run.result()).output).toBe('paid auto');
  } finally {
    await own.close();
  }
});

test('an operator who completes the look at the call changes neither its arguments nor that it is asked about', async () => {
  let calls = 0;
  let go: (() => void) | undefined;
  const second = new Promise<void>((resolve) => (go = resolve));
  const assessors = [() => (++calls === 2 ? second.then(() => undefined) : undefined)];
  const own = await openWorld({ agentsIn: reconcilingAgents, policy: allow, assessors });
  try {
    writeFileSync(join(own.folder, 'forged.silent'), '');
    const run = await own.start(turns('forged'));
    const pending = await eventually('the look is in flight', async () => {
      const { raw } = await run.handle.describe();
      return raw.pendingActivities!.find(({ activityType }) => activityType!.name === 'countersign.checkEdit');
    });
    // With another assessment, an audit that rules again would say that it differs.
    const assessment = assessBuiltIn({ tool: 'pay', args: { name: 'forged', how: 'breaks' }, risk: 'write' });
    const forged = { args: { name: 'other', how: 'hangs' }, sentence: 'Pays nothing', assessment };
    const { client } = own.client.session;
    await client.activity.complete({ workflowId: run.workflowId, activityId: pending.activityId! }, forged);
    go!();
    const request = await opened(run);
    expect(request).toMatchObject({ replaces: { by: 'unknown' }, arguments: { name: 'forged', how: 'breaks' } });
    await decide(run, { requestId: request.requestId, approved: false });
    expect((await run.result()).output).toBe(notAgain('Denied: User denied'));
    expect(linesOf(own, 'start', 'forged')).toHaveLength(1);
  } finally {
    await own.close();
  }
});

test('a reset to before the question asks anew: an earlier approval does not start it', async () => {
  const { run, request } = await asked('reset');
  await run.handle.signal('decide', { requestId: request.requestId, approved: true });
  await approve(run, await opened(run, request));
  await run.result();
  expect(starts('reset')).toHaveLength(3);
  const isLook = ({ activityTaskScheduledEventAttributes: scheduled }: Event): boolean =>
    scheduled?.activityType?.name === 'countersign.checkEdit';
  await resetTo(world, run.workflowId, isLook);
  const again = await opened(world.run(run.workflowId));
  expect(again.requestId).not.toBe(request.requestId);
  expect(again.replaces).toEqual({ by: 'unknown' });
  await eventually(
    'the approval is refused',
    async () => (await world.run(run.workflowId).status()).counts.refused > 0,
  );
  expect(starts('reset')).toHaveLength(3);
  await world.run(run.workflowId).handle.terminate();
});
