/** What every channel does, whatever it is: one suite over all of them, each with the real thing behind it. */
import { afterEach, describe, expect, test } from 'vitest';
import { activityNames, type ApprovalDetails, channelsWorkflowId } from '../../src/contract.ts';
import { type ChannelSubject, channelSubjects } from '../support/channel-subjects.ts';
import { eventually } from '../support/eventually.ts';
import { killAll, type ReadyProcess } from '../support/ready-process.ts';
import { sharedAddress } from '../support/shared-server.ts';
import { spawnWorker } from '../support/worker-process.ts';
import type { RunInTest, World, WorldOptions } from '../support/world.ts';

let subject: ChannelSubject | undefined;
afterEach(async () => {
  await killAll();
  await subject?.close();
  subject = undefined;
});

/** True once the channel's `notify` has returned, and history says so. */
async function isRecorded({ client }: World, workflowId: string): Promise<boolean> {
  const { executions } = await client.historyChain(channelsWorkflowId(workflowId));
  const events = executions.flatMap((each) => each.events);
  const sent = events.find(
    (each) => each.activityTaskScheduledEventAttributes?.activityType?.name === activityNames.channelNotify,
  );
  return events.some(
    ({ activityTaskCompletedEventAttributes: completed }) =>
      completed?.scheduledEventId?.equals(sent?.eventId ?? 0) ?? false,
  );
}

/** A worker with the channel in a process of its own, in place of the one in this process. */
async function otherWorker(world: World, channel: ChannelSubject['spec']): Promise<ReadyProcess> {
  await world.stopWorker();
  const { taskQueue, folder } = world;
  return spawnWorker({ address: sharedAddress(), taskQueue, folder, ...(channel && { channel }) });
}

const pay = { tool: 'pay', args: { to: 'ann', amount: 5 } };

describe.each(Object.entries(channelSubjects))('%s', (_name, kind) => {
  const { open, edits, always, reasons = true, isFunction = false, inProcess, refusesLate, refusesBad } = kind;
  const denied = (reason: string): string => `Denied: ${reasons ? reason : 'User denied'}`;

  /** An answer that must not count: refused to whoever gives it, or taken without an effect. */
  async function tooLate(on: ChannelSubject, request: ApprovalDetails): Promise<void> {
    const answered = on.answer(request, { approved: true });
    if (refusesLate === true) await expect(answered).rejects.toThrow(/settled|expired|closed|too late|after/i);
    else await answered;
  }

  async function asked(
    options: WorldOptions = {},
  ): Promise<{ run: RunInTest; request: ApprovalDetails; on: ChannelSubject }> {
    const on = (subject = await open(options));
    const run = await on.world.start([{ calls: [pay] }, { text: '{{lastResult}}' }]);
    const [request] = await run.open();
    await on.reached(request!);
    return { run, request: request!, on };
  }

  test('approve: the tool runs, and the channel says so once', async () => {
    const { run, request, on } = await asked();
    await on.answer(request, { approved: true });
    expect((await run.result()).output).toBe('paid 5 to ann');
    await eventually('it is told', () => on.counts(request).settled > 0);
    expect(on.counts(request)).toEqual({ asked: 1, settled: 1 });
  });

  test('deny with a reason: the model reads it', async () => {
    const { run, request, on } = await asked();
    await on.answer(request, { approved: false, reason: 'not today' });
    expect((await run.result()).output).toBe(denied('not today'));
  });

  test('time-out: the call is denied, and the channel says so', async () => {
    const { run, request, on } = await asked({ policy: { approval: { timeout: '4s' } } });
    expect((await run.result()).output).toBe('Denied: no decision within 4s');
    await eventually('it is told', () => on.counts(request).settled > 0);
  });

  test('a late answer changes nothing', async () => {
    const { run, request, on } = await asked({ policy: { approval: { timeout: '4s' } } });
    const late = on.counts(request);
    await run.result();
    expect(late.asked).toBe(1);
    await tooLate(on, request);
    expect((await run.result()).outcomes).toMatchObject([{ outcome: 'expired', ran: 'no' }]);
    expect(on.world.ran()).toEqual([]);
  });

  test('settled elsewhere first: the channel says so, and its own answer changes nothing', async () => {
    const { run, request, on } = await asked();
    const { requestId } = request;
    await on.world.client.decide(
      { requestId, approved: false, reviewerId: 'ann', reason: 'no' },
      { workflowId: run.workflowId },
    );
    await tooLate(on, request);
    expect((await run.result()).output).toBe('Denied: no');
    await eventually('it is told', () => on.counts(request).settled > 0);
    expect(on.world.ran()).toEqual([]);
  });

  test('a second answer changes nothing', async () => {
    const { run, request, on } = await asked();
    await on.answer(request, { approved: false, reason: 'first' });
    await run.result();
    await tooLate(on, request);
    expect((await run.result()).output).toBe(denied('first'));
    expect(on.world.ran()).toEqual([]);
  });

  test('the worker is killed between the message and the answer: nothing is sent twice, the answer counts', async () => {
    const on = (subject = await open({}));
    const { world, spec } = on;
    // The console is a terminal of this process: its worker is shut down instead.
    const worker = inProcess === true ? { kill: () => world.stopWorker() } : await otherWorker(world, spec);
    const run = await world.start([{ calls: [pay] }, { text: '{{lastResult}}' }]);
    const [request] = await run.open();
    await on.reached(request!);
    // Before that, another attempt may send the message again, under the same key.
    if (spec !== undefined) await eventually('it is recorded', () => isRecorded(world, run.workflowId));
    await worker.kill();
    await world.startWorker();
    // A terminal is asked again.
    await on.reached(request!);
    await on.answer(request!, { approved: true });
    expect((await run.result()).output).toBe('paid 5 to ann');
    expect(on.counts(request!).asked).toBe(1);
  });

  test('exception: a function denies at once, a service is tried again and people answer elsewhere meanwhile', async () => {
    const on = (subject = await open({}));
    on.fail();
    const run = await on.world.start([{ calls: [pay] }, { text: '{{lastResult}}' }]);
    if (isFunction) {
      expect((await run.result()).output).toBe('Denied: Approval handler error: TypeError.');
      return;
    }
    const [request] = await run.open();
    await on.reached(request!);
    expect(on.counts(request!).asked).toBe(1);
    await on.answer(request!, { approved: true });
    expect((await run.result()).output).toBe('paid 5 to ann');
  });

  test('a malformed answer never approves: a function denies, a service waits for a valid one', async () => {
    const { run, request, on } = await asked();
    const misanswered = on.misanswer(request);
    if (refusesBad === true) await expect(misanswered).rejects.toThrow(/approved/);
    else await misanswered;
    if (isFunction) {
      expect((await run.result()).output).toBe('Denied: Approval handler error: InvalidAnswer.');
      return;
    }
    expect((await run.status()).counts.open).toBe(1);
    await on.answer(request, { approved: false, reason: 'meant this' });
    expect((await run.result()).output).toBe(denied('meant this'));
  });

  if (edits) {
    test('edit: the changed call runs', async () => {
      const { run, request, on } = await asked();
      await on.answer(request, { approved: true, modifiedArguments: { to: 'ann', amount: 3 } });
      expect((await run.result()).output).toContain('paid 3 to ann');
    });
  }

  if (always) {
    test('always: the same call is not asked about again', async () => {
      const on = (subject = await open({}));
      const run = await on.world.start([{ calls: [pay] }, { calls: [pay] }, { text: 'done' }]);
      const [request] = await run.open();
      await on.reached(request!);
      await on.answer(request!, { approved: true, always: true });
      expect((await run.result()).outcomes).toMatchObject([{ outcome: 'approved' }, { outcome: 'allowed' }]);
    });
  }
});
