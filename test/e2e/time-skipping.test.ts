import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { findTimeSkipping, type TimeSkippingServer } from '../support/time-skipping-server.ts';
import type { World } from '../support/world.ts';
import { openWorld } from '../support/world.ts';

/**
 * Hours and days of waiting, on a server that skips time: plain waiting only. Deadlines in continue-as-new, crashes and
 * races are in deadline, crash and chaos, on the real server.
 */

const found = await findTimeSkipping();
// A reason, not silence: whoever reads the report sees what was not tested.
if ('missing' in found) process.stderr.write(`Tests at hours and days are skipped: ${found.missing}.\n`);
const overDays = 'missing' in found ? describe.skip : describe;

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const pay = (to: string) => ({ tool: 'pay', args: { to, amount: 1 } });
const turns = (to: string) => [{ calls: [pay(to)] }, { text: '{{lastResult}}' }];
const within = (timeout: string) => ({ policy: { version: 1, approval: { timeout } } });

overDays('over hours and days', () => {
  let server: TimeSkippingServer;
  let world: World;
  beforeAll(async () => {
    server = await (found as Extract<typeof found, { start: unknown }>).start();
    world = await openWorld({ address: server.address, policy: { version: 1, approval: { max_timeout: 'never' } } });
  }, 120_000);
  afterAll(async () => {
    await world?.close();
    await server?.close();
  });

  test.each([
    ['5h', 5 * hourMs, '5h'],
    ['3d', 3 * dayMs, '72h'],
    ['90d', 90 * dayMs, '2160h'],
  ])('a request that waits %s is open until then, to the minute, and expires after', async (timeout, timeoutMs, told) => {
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
  });

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

  test('where the ceiling allows it, a request waits for ever: after three years it is still open', async () => {
    const run = await world.start(turns('for ever'), within('never'));
    const [request] = await run.open();
    expect(request!.deadline).toBeNull();
    await server.skip(3 * 365 * dayMs);
    expect(await run.open()).toEqual([request]);
    await run.handle.signal('decide', { requestId: request!.requestId, approved: false, reason: 'too late for me' });
    expect((await run.result()).output).toBe('Denied: too late for me');
  });
});
