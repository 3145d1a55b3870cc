import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { RecordedEvent, RunEvent } from '../../src/events/run-event.ts';
import type { ApprovalDetails } from '../../src/contract.ts';
import { RunFeed } from '../../src/client/watch/run-feed.ts';
import { countPolls } from '../adapters/http/count-polls.ts';
import { createClient } from '../../src/client/client.ts';
import { forAllTests } from '../support/for-all-tests.ts';
import { sharedAddress } from '../support/shared-server.ts';
import { eventually } from '../support/eventually.ts';
import { resetTo } from '../support/reset-to.ts';
import { type RunInTest, openWorld } from '../support/world.ts';

/** `client.events`: a run's events, live and afterwards. */

const world = forAllTests(() => openWorld({ continueAsNewAfter: { historyEvents: 30 } }));

const pay = (amount: number, to = 'ann') => ({ calls: [{ tool: 'pay', args: { to, amount } }] });
const threeTurns = [pay(1), pay(2), pay(3), { text: 'done' }];

async function all(events: AsyncIterable<RunEvent>): Promise<RecordedEvent[]> {
  const found: RecordedEvent[] = [];
  for await (const event of events) if (event.type !== 'RawResponseEvent') found.push(event);
  return found;
}

/** Approves every request of a run until the run ends. */
async function approveAll(run: RunInTest): Promise<void> {
  for await (const event of world.client.events(run.workflowId, { tokens: false })) {
    if (event.type === 'ApprovalRequestEvent') {
      await world.client.decide({ requestId: event.requestId, approved: true }, { workflowId: run.workflowId });
    }
  }
}

test('live, late and resumed viewers get the same events, across continue-as-new', async () => {
  const run = await world.start(threeTurns);
  const live = [all(world.client.events(run.workflowId)), all(world.client.events(run.workflowId))];
  await approveAll(run);
  const [first, second] = await Promise.all(live);
  const late = await all(world.client.events(run.workflowId));
  const past = await all(world.client.events(run.workflowId, { follow: false }));
  expect(first!.at(-1)).toMatchObject({ type: 'RunCompleteEvent', status: 'completed', output: 'done' });
  expect(new Set(first!.map(({ id }) => id.split('.')[0])).size).toBeGreaterThan(1);
  for (const other of [second, late, past]) expect(other).toEqual(first);
  for (const [index, { id }] of first!.entries()) {
    expect(await all(world.client.events(run.workflowId, { after: id }))).toEqual(first!.slice(index + 1));
    expect(await all(world.client.events(run.workflowId, { after: id, follow: false }))).toEqual(
      first!.slice(index + 1),
    );
  }
});

test('an open run: what has happened so far ends, what is followed does not', async () => {
  const run = await world.start([pay(1), { text: 'done' }]);
  await run.open();
  const so = await all(world.client.events(run.workflowId, { follow: false }));
  expect(so.map(({ type }) => type)).toEqual(['RunItemEvent', 'RunItemEvent', 'ApprovalRequestEvent']);
  const stop = new AbortController();
  const seen: RunEvent[] = [];
  for await (const event of world.client.events(run.workflowId, { signal: stop.signal })) {
    seen.push(event);
    if (event.type === 'ApprovalRequestEvent') setTimeout(() => stop.abort(), 200);
  }
  expect(seen).toEqual(so);
  await world.client.closeRun(run.workflowId);
  const rest = await all(world.client.events(run.workflowId, { after: so.at(-1)!.id }));
  expect(rest.map(({ type }) => type)).toEqual(['ApprovalResultEvent', 'RunCompleteEvent']);
  expect(rest.at(-1)).toMatchObject({ status: 'closed' });
});

test('one poller for any number of viewers, and none afterwards', async () => {
  const run = await world.start([pay(1), { text: 'done' }]);
  await run.open();
  const polls = countPolls(world.client);
  try {
    const stop = new AbortController();
    const seen = Array.from({ length: 30 }, (): RunEvent[] => []);
    const viewers = seen.map(async (events) => {
      for await (const event of world.client.events(run.workflowId, { signal: stop.signal })) events.push(event);
    });
    const [request] = await run.open();
    await eventually('the poller waits', () => polls.open === 1);
    await eventually('all have read it', () => seen.every((events) => events.length >= 3));
    stop.abort();
    await Promise.all(viewers);
    for (const events of seen) expect(events).toHaveLength(3);
    await eventually('the poller is gone', () => polls.open === 0);
    expect(polls.most).toBe(1);
    await world.client.decide({ requestId: request!.requestId, approved: false });
  } finally {
    polls.stop();
  }
  await run.result();
});

test('a viewer that does not read holds up nobody, and misses nothing', async () => {
  const run = await world.start(threeTurns);
  const slow = world.client.events(run.workflowId)[Symbol.asyncIterator]();
  const first = await slow.next();
  const live = all(world.client.events(run.workflowId));
  await approveAll(run);
  const expected = await live;
  const rest: RunEvent[] = [first.value as RunEvent];
  for (let next = await slow.next(); next.done !== true; next = await slow.next()) rest.push(next.value);
  expect(rest.filter(({ type }) => type !== 'RawResponseEvent')).toEqual(expected);
});

test('closing the client ends every watch cleanly', async () => {
  const client = await createClient({ address: sharedAddress() });
  const run = await world.start([pay(1), { text: 'done' }]);
  const [request] = await run.open();
  const watch = () => client.events(run.workflowId, { tokens: false })[Symbol.asyncIterator]();
  const [waiting, paused, unread] = [watch(), watch(), watch()];
  const past = client.events(run.workflowId, { follow: false })[Symbol.asyncIterator]();
  await Promise.all([waiting.next(), paused.next(), past.next()]);
  // Reads until nothing more has happened, and then waits for the next event.
  const ended = all({ [Symbol.asyncIterator]: () => waiting });
  const polls = countPolls(client);
  await eventually('the watch waits', () => polls.open === 1);
  polls.stop();
  await client.close();
  await ended;
  for (const each of [paused, unread, past]) await all({ [Symbol.asyncIterator]: () => each });
  await expect(client.show(run.workflowId)).rejects.toMatchObject({
    code: 'server_unreachable',
    message: `The client was closed before the Temporal server at ${sharedAddress()} answered.`,
  });
  await world.client.decide({ requestId: request!.requestId, approved: false });
  await run.result();
});

test('a feed keeps a bounded number of events, and says what it has dropped', async () => {
  const run = await world.start([{ text: 'done' }]);
  await run.result();
  const feed = new RunFeed(world.client.session, run.workflowId, { events: 2, characters: 1_000_000 });
  await eventually('the feed ends', () => feed.hasEnded);
  const ids = (await all(world.client.events(run.workflowId))).map(({ id }) => id);
  expect(ids).toHaveLength(3);
  expect(feed.find(undefined)).toBe('dropped');
  expect(
    [0, 1, 2, 3].map((ordinal) => feed.at(ordinal)).map((each) => (typeof each === 'object' ? each.id : each)),
  ).toEqual(['dropped', ids[1], ids[2], undefined]);
});

test('watching adds no event to the history', async () => {
  const lengths = await Promise.all(
    [false, true].map(async (isWatched) => {
      const run = await world.start([{ calls: [{ tool: 'look', args: { what: 'sea' } }] }, { text: 'done' }]);
      if (isWatched) await all(world.client.events(run.workflowId));
      await run.result();
      return (await run.handle.describe()).historyLength;
    }),
  );
  expect(lengths[1]).toBe(lengths[0]);
});

test('a viewer that was shown a task which the server withdraws misses nothing of what gets its ids', async () => {
  const run = await world.start([{ calls: [{ tool: 'hold', args: { name: 'withdrawn' } }] }, { text: 'done' }]);
  const [request] = await run.open();
  await world.client.decide({ requestId: request!.requestId, approved: true });
  await eventually('the tool runs', () => world.ran().includes('start withdrawn'));
  const { workflowService } = world.client.session.connection;
  const read = workflowService.getWorkflowExecutionHistory.bind(workflowService);
  let hasShown = false;
  // An update that is refused costs no event: while a worker looks at it, its task ends the history.
  workflowService.getWorkflowExecutionHistory = (async (request: { waitNewEvent?: boolean }) => {
    const answer = await read(request);
    if (hasShown || request.waitNewEvent !== true) return answer;
    hasShown = true;
    const { events } = answer.history!;
    const last = Number(events!.at(-1)!.eventId);
    events!.push(
      { eventId: (last + 1) as never, workflowTaskScheduledEventAttributes: {} },
      { eventId: (last + 2) as never, workflowTaskStartedEventAttributes: {} },
    );
    return answer;
  }) as never;
  try {
    const live = all(world.client.events(run.workflowId, { tokens: false }));
    await eventually('the viewer has seen the task', () => hasShown);
    writeFileSync(join(world.folder, 'release-withdrawn'), '');
    expect(await live).toEqual(await all(world.client.events(run.workflowId, { follow: false })));
  } finally {
    workflowService.getWorkflowExecutionHistory = read;
  }
});

test('after a reset, viewers are told, and the run goes on from there', async () => {
  const run = await world.start([pay(1, 'reset'), { text: 'done' }]);
  const [before] = await run.open();
  const live = all(world.client.events(run.workflowId, { tokens: false }));
  await world.client.decide({ requestId: before!.requestId, approved: true });
  await run.result();
  const first = await live;
  await resetTo(world, run.workflowId, (event) => event.activityTaskCompletedEventAttributes != null);
  const resumed = all(world.client.events(run.workflowId, { after: first.at(-1)!.id }));
  await run.result();
  const late = await all(world.client.events(run.workflowId));
  const rest = await resumed;
  expect(rest[0]).toMatchObject({ type: 'gap', reason: 'reset' });
  expect(late.slice(-(rest.length - 1))).toEqual(rest.slice(1));
  expect(late.at(-1)).toMatchObject({ type: 'RunCompleteEvent', output: 'done' });
  // The events before the reset keep their places.
  const [, message] = first[1]!.id.split(/(?<=^[^.]+)\./);
  expect(await all(world.client.events(run.workflowId, { after: first[1]!.id }))).toEqual(
    late.slice(late.findIndex(({ id }) => id.endsWith(`.${message}`)) + 1),
  );
});

test('a live viewer goes on through a reset', async () => {
  const run = await world.start([pay(1, 'live reset'), { text: 'done' }]);
  await run.open();
  const live = all(world.client.events(run.workflowId, { tokens: false }));
  await resetTo(world, run.workflowId, (event) => event.activityTaskCompletedEventAttributes != null);
  await world.client.closeRun(run.workflowId);
  const events = await live;
  expect(events.map(({ type }) => type)).toContain('gap');
  expect(events.filter(({ type }) => type === 'RunCompleteEvent')).toHaveLength(1);
  const late = await all(world.client.events(run.workflowId));
  const gap = events.findIndex(({ type }) => type === 'gap');
  expect(late.slice(-(events.length - gap - 1))).toEqual(events.slice(gap + 1));
});

test.each<[name: string, id: (own: string) => string, why: RegExp]>([
  ['no id', () => 'nonsense', /an id is RUNID\.EVENTID\.INDEX/],
  ['of no execution', () => '00000000-0000-4000-8000-000000000000.1.0', /no such execution/],
  ['beyond the end', (own) => `${own.split('.')[0]}.999999.0`, /fewer events/],
])('an id that is foreign: %s', async (_name, id, why) => {
  const run = await world.start([{ text: 'done' }]);
  await run.result();
  const [own] = await all(world.client.events(run.workflowId));
  const opened = all(world.client.events(run.workflowId, { after: id(own!.id) }));
  await expect(opened).rejects.toMatchObject({ code: 'invalid_message', message: expect.stringMatching(why) });
});

test('an id of another run, and a run that does not exist', async () => {
  const [one, other] = [await world.start([{ text: 'done' }]), await world.start([{ text: 'done' }])];
  await Promise.all([one.result(), other.result()]);
  const [foreign] = await all(world.client.events(other.workflowId));
  await expect(all(world.client.events(one.workflowId, { after: foreign!.id }))).rejects.toMatchObject({
    code: 'invalid_message',
  });
  await expect(all(world.client.events('no-such-run'))).rejects.toMatchObject({ code: 'run_not_found' });
  await expect(all(world.client.events('no-such-run', { follow: false }))).rejects.toMatchObject({
    code: 'run_not_found',
  });
});

test.each<[name: string, policy: object]>([
  ['by default', {}],
  ['with patterns of the policy', { redact: { patterns: [{ name: 'TICKET', pattern: 'T-[0-9]+' }] } }],
  ['without arguments', { approval: { include_arguments: false } }],
  [
    'with reviewers',
    { rules: [{ pattern: 'pay', action: 'ask', ask: { reviewers: ['ann', 'bob'] }, reason: 'Money' }] },
  ],
])('an event of a request shows what reviewers see: %s', async (_name, policy) => {
  const args = { to: 'eve@acme.com', amount: 4, note: 'T-17, sk-live_4eC39HqLyjWDarjtT1zdp7dc' };
  const run = await world.start(
    [
      {
        text: 'To eve@acme.com for T-17',
        calls: [
          { tool: 'echo', args },
          { tool: 'pay', args },
        ],
      },
    ],
    {
      policy: { version: 1, rules: [{ pattern: '*', action: 'ask' }], ...policy },
      caller: { userId: 'carl' },
      metadata: { team: 'one' },
    },
  );
  const requests = await run.open(2);
  const events = await all(world.client.events(run.workflowId, { follow: false }));
  const asked = events.filter((event) => event.type === 'ApprovalRequestEvent');
  for (const { approvals: _____, approvers: ______, ...request } of requests as ApprovalDetails[]) {
    const {
      type: _,
      id: __,
      at: ___,
      callId: ____,
      ...shown
    } = asked.find((each) => each.requestId === request.requestId)!;
    expect(shown).toEqual(request);
  }
  await world.client.closeRun(run.workflowId);
});

test('after a change of policy in the turn, an event shows no argument that the new policy may hide', async () => {
  const args = { to: 'T-17', amount: 4 };
  const rules = [{ pattern: 'pay', action: 'ask' }];
  const run = await world.start(
    [
      {
        calls: [
          { tool: 'pay', args },
          { tool: 'pay', args: { ...args, amount: 5 } },
        ],
      },
    ],
    {
      policy: { version: 1, rules, approval: { batch: 'sequential' } },
    },
  );
  const [first] = await run.open();
  const changed = { version: 1, rules, redact: { patterns: [{ name: 'TICKET', pattern: 'T-[0-9]+' }] } };
  await world.client.setPolicy(run.workflowId, { policy: changed });
  await world.client.decide({ requestId: first!.requestId, approved: false });
  await eventually('the second request', async () => (await run.open())[0]!.requestId !== first!.requestId);
  const events = await all(world.client.events(run.workflowId, { follow: false }));
  const second = events.findLast((event) => event.type === 'ApprovalRequestEvent');
  expect(second).toMatchObject({ arguments: {}, shown: 'part' });
  await world.client.closeRun(run.workflowId);
});
