/** The person for whom a run works hears that it waits, and how that ended: on a real server, by a real mail server. */
import { randomUUID } from 'node:crypto';
import { activityInfo } from '@temporalio/activity';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { emailChannel, type EmailOptions } from '../../../src/adapters/email/email-channel.ts';
import type { Channel } from '../../../src/channels/channel.ts';
import { activityNames, channelsWorkflowId, type Delivered, deliveriesName } from '../../../src/contract.ts';
import { eventually } from '../../support/eventually.ts';
import { type MailServerInTest, openMailServer, type ReceivedMail } from '../../adapters/email/mail-server.ts';
import { openWorld, type RunInTest, type Turns, type World } from '../../support/world.ts';

let server: MailServerInTest;
let world: World;
/** The channels of each run, by its id. */
const routed = new Map<string, string[]>();

beforeAll(async () => {
  server = await openMailServer();
  const broken: Channel = { notify: () => Promise.reject(new Error('the hall is closed')) };
  world = await openWorld({
    policy: policy as never,
    channels: { off: mail(), also: mail({ callers: 'also' }), only: mail({ callers: 'only' }), broken },
    routes: () => ({ default: routed.get(activityInfo().workflowExecution!.workflowId) ?? [] }),
  });
});
afterEach(() => void server.mails.splice(0));
afterAll(async () => {
  await world.close();
  await server.stop();
});

function mail(more: Partial<EmailOptions> = {}): Channel {
  return emailChannel({
    transport: { host: '127.0.0.1', port: server.port, tls: 'none' },
    from: 'approvals@example.com',
    gatewayUrl: 'https://approvals.example.com',
    namespace: 'default',
    linkKey: 'a link key of this test, long enough',
    people: { eve: { address: 'eve@example.com', timeZone: 'Europe/Berlin' }, ann: 'ann@example.com' },
    ...more,
  });
}

const policy = {
  version: 1,
  rules: [
    { pattern: 'pay', action: 'ask', when: 'args.amount == 7', ask: { timeout: '2s', warn_before: '1s' } },
    { pattern: 'pay', action: 'ask', when: 'args.amount == 8', ask: { reviewers: ['eve', 'ann'], allow_self: true } },
    { pattern: 'pay', action: 'ask', when: 'args.amount < 7', ask: { reviewers: ['ann', 'bob'] } },
  ],
  approval: { show: { pay: ['amount'] } },
  directory: { people: { ann: { name: 'Ann Lee' }, bob: {}, eve: { also: ['8f3c'] } } },
};

async function start(channels: string[], { amount = 5, caller = 'eve' } = {}): Promise<RunInTest> {
  const workflowId = `run-${randomUUID()}`;
  routed.set(workflowId, channels);
  const turns: Turns = [{ calls: [{ tool: 'pay', args: { to: 'shop', amount } }] }, { text: 'done' }];
  const args = [{ agent: 'tester', input: JSON.stringify(turns), caller: { userId: caller } }];
  await world.client.session.client.workflow.start('agentRun', { workflowId, taskQueue: world.taskQueue, args });
  return world.run(workflowId);
}

async function decide(run: RunInTest, decision: { approved: boolean; reviewerId: string; reason?: string }) {
  const [request] = await run.open();
  await world.client.decide({ requestId: request!.requestId, ...decision }, { workflowId: run.workflowId });
}

const channelsOf = ({ workflowId }: RunInTest) =>
  world.client.session.client.workflow.getHandle(channelsWorkflowId(workflowId));

/** Waits until the run and the workflow of its channels have ended. */
async function ended(run: RunInTest): Promise<void> {
  await run.result();
  await channelsOf(run).result();
}

async function delivered(run: RunInTest): Promise<Delivered | undefined> {
  const all = await channelsOf(run)
    .query<Delivered[]>(deliveriesName)
    .catch(() => []);
  return all[0];
}

/** The addressees of the calls of channels that tell of a request. */
async function calls(run: RunInTest): Promise<string[]> {
  const { events = [] } = await channelsOf(run).fetchHistory();
  return events!
    .flatMap((each) => each.activityTaskScheduledEventAttributes ?? [])
    .filter(({ activityType }) => activityType?.name === activityNames.channelNotify)
    .map(
      ({ input }) => (JSON.parse(Buffer.from(input!.payloads![0]!.data!).toString()) as { channel: string }).channel,
    );
}

const mailsTo = (name: string): ReceivedMail[] => server.mails.filter(({ to }) => to[0] === `${name}@example.com`);
const textOf = (one: ReceivedMail | undefined): string => one?.parts.get('text/plain') ?? '';
const subjectsTo = (name: string): (string | undefined)[] => mailsTo(name).map(({ headers }) => headers.get('subject'));
const waitingSubject = 'Waiting for a decision: pay';
const hostile = 'No receipt <b>\u202E';

test.each([
  [
    'denied',
    5,
    { approved: false, reviewerId: 'bob', reason: hostile },
    'Denied: pay',
    'denied by bob, so it does not run, on ',
  ],
  ['approved', 5, { approved: true, reviewerId: 'ann' }, 'Approved: pay', 'approved by Ann Lee (ann), on '],
  ['expired', 7, undefined, 'Expired: pay', 'No decision came in time, so it does not run, on '],
] as const)('%s: for whom it waits and until when, then the outcome, once each', async (...row) => {
  const [outcome, amount, decision, subject, sentence] = row;
  const run = await start(['only'], { amount });
  await eventually('the notice', () => mailsTo('eve').length > 0);
  // Nothing else carries it, so nobody is missing.
  expect((await delivered(run))?.undelivered).toBeUndefined();
  const waiting = textOf(mailsTo('eve')[0]);
  expect(waiting).toContain(
    `tester works for you, and waits for a decision before it calls pay(amount: ${amount}, to).`,
  );
  expect(waiting).toContain(`It waits for ${amount === 7 ? 'any reviewer' : 'Ann Lee (ann) or bob'}, until `);
  expect(waiting).toMatch(/until \d+ \w{3} \d{4}, \d\d:\d\d CES?T \(.+\)\./);
  if (decision !== undefined) await decide(run, decision);
  await ended(run);
  expect(subjectsTo('eve')).toEqual([waitingSubject, subject]);
  const [, last] = mailsTo('eve');
  expect(textOf(last)).toContain(sentence);
  if (outcome === 'denied') {
    expect(textOf(last)).toContain('Reason: No receipt <b>\\u{202E}');
    expect(last!.parts.get('text/html')).toContain('No receipt &lt;b&gt;\\u{202E}');
  }
  for (const each of server.mails) {
    const shown = [...each.parts.values()].join('\n');
    // Its value is not one that `show` names.
    expect(shown).not.toContain('shop');
    expect(shown).not.toMatch(/https?:|<a |href|<form/);
  }
  expect(server.mails).toHaveLength(2);
});

test('beside reviewers: they have the links, and the caller has none', async () => {
  const run = await start(['also']);
  await eventually('both', () => server.mails.length === 2);
  expect(textOf(mailsTo('ann')[0])).toContain('/links/');
  expect(textOf(mailsTo('eve')[0])).not.toContain('http');
  await decide(run, { approved: true, reviewerId: 'bob' });
  await ended(run);
  expect(subjectsTo('eve')).toEqual([waitingSubject, 'Approved: pay']);
  expect(mailsTo('ann')).toHaveLength(2);
});

test.each([
  ['the channel does not say so', ['off'], {}, 0],
  ['the caller is asked as a reviewer', ['also'], { amount: 8 }, 0],
  ['no address of the caller is known', ['only'], { caller: 'zoe' }, 0],
  ['the caller has another id of theirs', ['only'], { caller: '8f3c' }, 2],
])('%s', async (_name, channels, options, count) => {
  const run = await start(channels, options);
  await eventually('the channels look', async () => (await delivered(run)) !== undefined);
  if (count > 0) await eventually('the notice', () => mailsTo('eve').length > 0);
  await decide(run, { approved: true, reviewerId: 'ann' });
  await ended(run);
  expect(subjectsTo('eve').filter((subject) => !/^(?:Re: )?Approval: /.test(subject!))).toHaveLength(count);
  expect((await calls(run)).filter((name) => name.endsWith(':caller'))).toHaveLength(count === 0 ? 0 : 1);
});

test('an outage is outlasted, and nothing comes twice', async () => {
  await server.stop();
  const run = await start(['only']);
  await eventually('it fails', async () => ((await delivered(run))?.failures ?? []).length > 0);
  await server.start();
  await eventually('the notice', () => mailsTo('eve').length > 0);
  await decide(run, { approved: true, reviewerId: 'ann' });
  await ended(run);
  expect(subjectsTo('eve')).toEqual([waitingSubject, 'Approved: pay']);
});

test('what is settled in an outage is told by its outcome alone', async () => {
  await server.stop();
  const run = await start(['only']);
  await eventually('it fails', async () => ((await delivered(run))?.failures ?? []).length > 0);
  await decide(run, { approved: false, reviewerId: 'ann' });
  await run.result();
  await server.start();
  await ended(run);
  expect(subjectsTo('eve')).toEqual(['Denied: pay']);
});

test('a notice to the caller is no delivery of the request', async () => {
  const run = await start(['broken', 'only']);
  await eventually('the notice', () => mailsTo('eve').length > 0);
  await eventually('nobody has it', async () => (await delivered(run))?.undelivered === true);
  expect((await delivered(run))!.channels.toSorted()).toEqual(['broken', 'only:caller']);
  await decide(run, { approved: true, reviewerId: 'ann' });
  await ended(run);
});
