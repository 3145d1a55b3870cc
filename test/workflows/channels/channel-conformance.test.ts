/**
 * What every channel does, whatever it is: one suite over all of them, each with the real thing behind it. A lost worker is
 * in `channel-lost.test.ts`.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { formatDuration } from '../../../src/core/base/duration.ts';
import type { ApprovalDetails, RunInput } from '../../../src/contract.ts';
import { type ChannelSubject, channelSubjects } from './channel-subjects.ts';
import { eventually } from '../../support/eventually.ts';
import { inTime } from '../../support/in-time.ts';
import type { RunInTest, Turns } from '../../support/world.ts';

const pay = { tool: 'pay', args: { to: 'ann', amount: 5 } };
/** The kinds run side by side; the tests of one use its channel one after another. */
const inTurn = { concurrent: false };

describe.concurrent.each(Object.entries(channelSubjects))('%s', (_name, kind) => {
  const { open, edits, always, reasons = true, isFunction = false, inProcess, refusesLate, refusesBad } = kind;
  const denied = (reason: string): string => `Denied: ${reasons ? reason : 'User denied'}`;

  let on: ChannelSubject;
  let ranBefore: string[];
  beforeAll(async () => {
    on = await open({});
  });
  afterAll(() => on?.close());

  interface Asked {
    run: RunInTest;
    request: ApprovalDetails;
  }

  async function asked({ turns, input }: { turns?: Turns; input?: Partial<RunInput> } = {}): Promise<Asked> {
    ranBefore = on.world.ran();
    const run = await on.world.start(turns ?? [{ calls: [pay] }, { text: '{{lastResult}}' }], input);
    const [request] = await run.open();
    await on.reached(request!);
    return { run, request: request! };
  }

  /** One that will expire, and reaches the channel before. */
  async function askedToExpire(): Promise<Asked & { timeoutMs: number }> {
    const { played, seconds } = await inTime(15, async (timeoutS) => {
      const policy = { version: 1, approval: { timeout: `${timeoutS}s` } };
      const run = await on.world.start([{ calls: [pay] }, { text: '{{lastResult}}' }], { policy });
      const [request] = await run.open();
      await on.reached(request!);
      return { run, request: request! };
    });
    return { ...played, timeoutMs: seconds * 1_000 };
  }

  /** An answer that must not count: refused to whoever gives it, or taken without an effect. */
  async function tooLate(request: ApprovalDetails): Promise<void> {
    const answered = on.answer(request, { approved: true });
    if (refusesLate === true) await expect(answered).rejects.toThrow(/settled|expired|closed|too late|after/i);
    else await answered;
  }

  const told = (request: ApprovalDetails) => eventually('it is told', () => on.counts(request).settled > 0);

  test('exception: a function denies at once, a service is tried again', inTurn, async () => {
    on.fail();
    if (isFunction) {
      const run = await on.world.start([{ calls: [pay] }, { text: '{{lastResult}}' }]);
      expect((await run.result()).output).toBe('Denied: Approval handler error: TypeError.');
      return;
    }
    const { run, request } = await asked();
    expect(on.counts(request).asked).toBe(1);
    await on.answer(request, { approved: true });
    expect((await run.result()).output).toBe('paid 5 to ann');
  });

  describe('while a deadline passes', inTurn, () => {
    /** A terminal asks about one request at a time. */
    let early: ReturnType<typeof askedToExpire> | undefined;
    beforeAll(() => {
      if (inProcess !== true) early = askedToExpire();
      // The test that needs it reports it.
      early?.catch(() => undefined);
    });

    test('approve: the tool runs, and the channel says so once', async () => {
      const { run, request } = await asked();
      await on.answer(request, { approved: true });
      expect((await run.result()).output).toBe('paid 5 to ann');
      await told(request);
      expect(on.counts(request)).toEqual({ asked: 1, settled: 1 });
    });

    test('deny with a reason: the model reads it, and a second answer changes nothing', async () => {
      const { run, request } = await asked();
      await on.answer(request, { approved: false, reason: 'not today' });
      expect((await run.result()).output).toBe(denied('not today'));
      await tooLate(request);
      expect((await run.result()).output).toBe(denied('not today'));
      expect(on.world.ran()).toEqual(ranBefore);
    });

    test('settled elsewhere first: the channel says so, and its own answer changes nothing', async () => {
      const { run, request } = await asked();
      const decision = { requestId: request.requestId, approved: false, reviewerId: 'ann', reason: 'no' };
      await on.world.client.decide(decision, { workflowId: run.workflowId });
      await tooLate(request);
      expect((await run.result()).output).toBe('Denied: no');
      await told(request);
      expect(on.world.ran()).toEqual(ranBefore);
    });

    test('a malformed answer never approves: a function denies, a service waits for a valid one', async () => {
      const { run, request } = await asked();
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

    test('the user writes: what was sent says so, and an answer then counts', async () => {
      const { run, request } = await asked({ input: { session: true } });
      const sent = (): number | undefined => on.sent?.(request) ?? on.marks?.(request).length;
      const before = sent();
      const tell = (content: string): Promise<unknown> => run.handle.executeUpdate('message', { args: [{ content }] });
      await tell('Make it three.');
      if (before !== undefined) await eventually('a message more', () => sent() === before + 1);
      await on.answer(request, { approved: false, reason: 'not so' });
      await run.awaitsUser();
      expect(on.world.ran()).toEqual(ranBefore);
      await run.handle.signal('close');
      await run.result();
    });

    if (edits) {
      test('edit: the changed call runs', async () => {
        const { run, request } = await asked();
        await on.answer(request, { approved: true, modifiedArguments: { to: 'ann', amount: 3 } });
        expect((await run.result()).output).toContain('paid 3 to ann');
      });
    }

    if (always) {
      test('always: the same call is not asked about again', async () => {
        const { run, request } = await asked({ turns: [{ calls: [pay] }, { calls: [pay] }, { text: 'done' }] });
        await on.answer(request, { approved: true, always: true });
        expect((await run.result()).outcomes).toMatchObject([{ outcome: 'approved' }, { outcome: 'allowed' }]);
      });
    }

    test('time-out: the call is denied, the channel says so, and a late answer changes nothing', async () => {
      const { run, request, timeoutMs } = await (early ?? askedToExpire());
      expect((await run.result()).output).toBe(`Denied: no decision within ${formatDuration(timeoutMs)}`);
      await told(request);
      ranBefore = on.world.ran();
      expect(on.counts(request).asked).toBe(1);
      await tooLate(request);
      expect((await run.result()).outcomes).toMatchObject([{ outcome: 'expired', ran: 'no' }]);
      expect(on.world.ran()).toEqual(ranBefore);
    });
  });
});
