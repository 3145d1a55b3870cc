import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { journalIn } from '../../../src/client/history/written-by-gate.ts';
import type { JsonObject } from '../../../src/core/base/tool-call.ts';
import { findTimeSkipping, type TimeSkippingServer } from './time-skipping-server.ts';
import type { RunInTest, World } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';

/**
 * Hours and days of waiting, on a server that skips time. Plain waiting only: deadlines across continue-as-new, crashes
 * and races are tested on the real server in deadline, crash and chaos.
 */

const found = await findTimeSkipping();
const overDays = 'missing' in found ? describe.skip : describe;

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const pay = (to: string) => ({ tool: 'pay', args: { to, amount: 1 } });
const turns = (to: string) => [{ calls: [pay(to)] }, { text: '{{lastResult}}' }];
const within = (timeout: string) => ({ policy: { version: 1, approval: { timeout } } });

overDays(`over hours and days (needs ${'missing' in found ? `Java and Maven: ${found.missing}` : 'Java'})`, () => {
  let server: TimeSkippingServer;
  let world: World;
  beforeAll(async () => {
    server = await (found as Extract<typeof found, { start: unknown }>).start();
    world = await openWorld({ address: server.address, policy: { version: 1, approval: { max_timeout: 'never' } } });
  });
  afterAll(async () => {
    await world?.close();
    await server?.close();
  });

  test.each([
    ['5h', 5 * hourMs, '5h'],
    ['3d', 3 * dayMs, '3d'],
    ['90d', 90 * dayMs, '90d'],
  ])(
    'a request that waits %s is open until then, to the minute, and expires after that',
    async (timeout, timeoutMs, told) => {
      const run = await world.start(turns(timeout), within(timeout));
      const [request] = await run.open();
      expect(Date.parse(request!.deadline!) - Date.parse(request!.requestedAt)).toBe(timeoutMs);
      await server.skip(timeoutMs - minuteMs);
      expect(await run.status()).toMatchObject({ status: 'waiting', counts: { open: 1 } });
      await server.skip(2 * minuteMs);
      expect(await run.result()).toMatchObject({
        output: `Denied: no decision within ${told}`,
        outcomes: [{ outcome: 'expired', ran: 'no' }],
      });
    },
  );

  test('an approval in the last minute of a week counts', async () => {
    const run = await world.start(turns('week'), within('7d'));
    const [request] = await run.open();
    await server.skip(7 * dayMs - minuteMs);
    await run.handle.signal('decide', { requestId: request!.requestId, approved: true });
    expect((await run.result()).output).toBe('paid 1 to week');
    expect(world.ran().filter((line) => line === 'pay week 1')).toHaveLength(1);
  });

  test('two requests on one timer: each expires at its own time, the later one can still be answered', async () => {
    const rules = [
      { pattern: 'pay:soon', action: 'ask', ask: { timeout: '1h' } },
      { pattern: 'pay:later', action: 'ask', ask: { timeout: '2d' } },
    ];
    const run = await world.start([{ calls: [pay('later'), pay('soon')] }, { text: '{{lastResult}}' }], {
      policy: { version: 1, rules },
    });
    const requests = await run.open(2);
    await server.skip(2 * hourMs);
    expect(await run.open()).toEqual([requests[0]]);
    await server.skip(dayMs);
    await run.handle.signal('decide', { requestId: requests[0]!.requestId, approved: true });
    expect((await run.result()).outcomes.map(({ callId, outcome }) => [callId, outcome])).toEqual([
      ['1.2', 'expired'],
      ['1.1', 'approved'],
    ]);
  });

  test('if the ceiling allows it, a request waits forever: after three years it is still open', async () => {
    const run = await world.start(turns('for ever'), within('never'));
    const [request] = await run.open();
    expect(request!.deadline).toBeNull();
    await server.skip(3 * 365 * dayMs);
    expect(await run.open()).toEqual([request]);
    await run.handle.signal('decide', { requestId: request!.requestId, approved: false, reason: 'too late for me' });
    expect((await run.result()).output).toBe('Denied: too late for me');
  });

  describe('steps before the deadline', () => {
    const start = (to: string, ask: JsonObject): Promise<RunInTest> =>
      world.start(turns(to), {
        policy: { version: 1, rules: [{ pattern: `pay:${to}`, action: 'ask', ask }] },
      });

    test('a reminder each day, a warning in the last hour, then expiry', async () => {
      const run = await start('reminded', { timeout: '3d', remind: '1d', warn_before: '1h' });
      await run.open();
      await server.skip(dayMs - minuteMs);
      expect(await steps(run)).toEqual([]);
      await server.skip(2 * minuteMs);
      expect(await steps(run)).toEqual(['reminded at 24h']);
      await server.skip(dayMs);
      expect(await steps(run)).toEqual(['reminded at 24h', 'reminded at 48h']);
      await server.skip(23 * hourMs);
      expect(await steps(run)).toEqual(['reminded at 24h', 'reminded at 48h', 'warned at 71h']);
      expect(await run.status()).toMatchObject({ status: 'waiting' });
      await server.skip(hourMs);
      expect((await run.result()).output).toBe('Denied: no decision within 3d');
      expect(await steps(run)).toEqual(['reminded at 24h', 'reminded at 48h', 'warned at 71h']);
    });

    test('no answer for a day: the next reviewers are asked and may answer, and the deadline stays', async () => {
      const run = await start('escalated', {
        reviewers: ['ann'],
        timeout: '7d',
        escalate: [
          { after: '1d', to: ['bob'] },
          { after: '3d', to: ['eve'] },
        ],
      });
      const [request] = await run.open();
      const decide = (reviewerId: string): Promise<unknown> =>
        run.handle.executeUpdate('decide', { args: [{ requestId: request!.requestId, approved: true, reviewerId }] });
      await expect(decide('bob')).rejects.toMatchObject({ cause: { type: 'not_entitled' } });
      await server.skip(dayMs + minuteMs);
      const [later] = await run.open();
      expect(later).toEqual({
        ...request,
        reviewers: ['ann', 'bob'],
        approvers: ['ann', 'bob'],
        escalated: [{ at: new Date(Date.parse(request!.requestedAt) + dayMs).toISOString(), to: ['bob'] }],
      });
      await expect(decide('eve')).rejects.toMatchObject({ cause: { type: 'not_entitled' } });
      expect(await decide('bob')).toMatchObject({ accepted: true, outcome: 'approved' });
      expect((await run.result()).output).toBe('paid 1 to escalated');
      await server.skip(7 * dayMs);
      expect(await steps(run)).toEqual(['escalated at 24h to bob']);
    });

    test('a reviewer adds a day: the request expires a day later, and reminders continue', async () => {
      const run = await start('extended', { timeout: '2d', remind: '1d' });
      const [request] = await run.open();
      const { requestId, deadline } = request!;
      await server.skip(dayMs + hourMs);
      const until = new Date(Date.parse(deadline!) + dayMs).toISOString();
      expect(await run.handle.executeUpdate('extend', { args: [{ requestId, until, by: 'ann' }] })).toMatchObject({
        accepted: true,
      });
      await server.skip(dayMs);
      expect(await run.open()).toEqual([{ ...request, deadline: until }]);
      await server.skip(dayMs);
      expect(await run.result()).toMatchObject({ outcomes: [{ outcome: 'expired', ran: 'no' }] });
      expect(await steps(run)).toEqual(['reminded at 24h', 'reminded at 48h']);
    });
  });

  /** The steps that were taken, in hours after the request was opened, from the journal. */
  async function steps(run: RunInTest): Promise<string[]> {
    const { events } = await run.handle.fetchHistory();
    const entries = [...new Map(events!.flatMap(journalIn).map((entry) => [entry.seq, entry])).values()];
    const openedAtMs = Date.parse(entries.find(({ kind }) => kind === 'opened')!.at);
    return entries
      .filter(({ kind }) => kind === 'reminded' || kind === 'warned' || kind === 'escalated')
      .map(({ kind, at, to }) => {
        const hours = Math.round((Date.parse(at) - openedAtMs) / hourMs);
        return `${kind} at ${hours}h${to === undefined ? '' : ` to ${to.join(' ')}`}`;
      });
  }
});
