import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { putRecord } from '../../../src/client/server/records.ts';
import type { ApprovalDetails, RunInput } from '../../../src/contract.ts';
import { isProblemError } from '../../../src/core/base/problem.ts';
import type { Json } from '../../../src/core/base/tool-call.ts';
import { instantText } from '../../../src/text/instant-text.ts';
import { eventually } from '../../support/eventually.ts';
import { type SlackMessageInTest, signed } from './slack-server.ts';
import { openSlackWorld, sealsOf, type SlackWorld, type Transport, transports } from './slack-world.ts';
import { once, pay, rule } from '../../support/team.ts';
import type { RunInTest } from '../../support/world.ts';

let world: SlackWorld;
async function open(transport: Transport): Promise<void> {
  const policy = rule('pay', 'ask', { ask: { reviewers: ['ann', 'bob', 'vic'], always: 'tool' } });
  world = await openSlackWorld(
    { ann: ['reviewer'], bob: ['reviewer'], vic: ['viewer'], zoe: ['reviewer'] },
    { policy, transport },
  );
}
beforeEach(() => {
  for (const list of [world.slack.ephemerals, world.slack.views, world.slack.messages]) list.splice(0);
});

interface Shown {
  run: RunInTest;
  request: ApprovalDetails;
  sent: Json | void;
  message: SlackMessageInTest;
}
/** A request of a new run, shown in Slack. */
async function ask(amount = 1): Promise<Shown> {
  const run = await world.start(once(pay('bob', amount)));
  const [{ requestId }] = (await run.open()) as [ApprovalDetails];
  const request = await world.details(run, requestId);
  const sent = await world.notify([request]);
  return { run, request, sent, message: world.slack.posts.at(-1)! };
}
/** Undefined while the request is open, or while nobody can say: a worker that has just started may take longer than a query waits. */
const settlement = async ({ run, request }: Shown) => {
  const details = await world.details(run, request.requestId).catch(unlessNoWorker);
  return details?.settled;
};
const unlessNoWorker = (error: unknown): undefined => {
  if (!isProblemError(error) || error.code !== 'no_worker') throw error;
};
const textOf = (message: SlackMessageInTest): string => JSON.stringify(message.blocks);
const actionsOf = (message: SlackMessageInTest): (string | undefined)[] =>
  message.blocks
    .filter(({ type }) => type === 'actions')
    .flatMap(({ elements = [] }) => elements.map(({ action_id: id }) => id));

/** The first window. Slack is answered without it if it takes long. */
const openedWindow = () => eventually('the window', () => world.slack.views[0]);

/** A window with such a text shows a problem at its field, and takes another text after that. */
async function editsWrongly(text: string, problem: RegExp): Promise<void> {
  const ann = await world.linked('ann');
  const shown = await ask();
  await world.deliver(world.slack.click(ann, shown.message, 'edit'));
  const view = await openedWindow();
  expect(JSON.parse(view.blocks[0]!.element!.initial_value!)).toEqual({ to: 'bob', amount: 1 });
  const body = await eventually('what is wrong, while Slack waits', async () => {
    const answer = await (await world.deliver(world.slack.submit(ann, view, text))).text();
    return answer !== '' && answer;
  }).then((answer) => JSON.parse(answer) as object);
  world.slack.ephemerals.splice(0);
  expect(body).toEqual({
    response_action: 'errors',
    errors: { answer: expect.stringMatching(problem) },
  });
  expect(await settlement(shown)).toBeUndefined();

  // The same window, with what was meant.
  const again = await world.deliver(world.slack.submit(ann, view, '{"to": "bob", "amount": 2}'));
  expect(await again.text()).toBe('');
  expect((await world.toldTo(ann))[0]).toMatch(/^Your answer counts: approved\.|needs an answer of its own/);
}

describe.each(transports)('over %s', (transport) => {
  beforeAll(() => open(transport));
  afterAll(() => world.close());

  test('a click approves as the person who linked the account, and the message then says who, what and when', async () => {
    const ann = await world.linked('ann');
    const shown = await ask();
    expect(textOf(shown.message)).toContain('bob');
    expect(actionsOf(shown.message)).toEqual(['approve', 'comment', 'deny', 'edit', 'always', 'open']);
    const response = await world.deliver(world.slack.click(ann, shown.message, 'approve'));
    expect([response.status, await response.text()]).toEqual([200, '']);
    expect(await world.toldTo(ann)).toEqual(['Your answer counts: approved. You answered as ann.']);
    expect(await settlement(shown)).toMatchObject({
      outcome: 'approved',
      reviewerId: 'ann',
      identity: 'claimed',
      viewed: { channel: 'slack', card: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
    await expect(shown.run.result()).resolves.toMatchObject({ output: 'paid 1 to bob' });

    const request = await world.details(shown.run, shown.request.requestId);
    await world.settle(request, shown.sent);
    expect(actionsOf(shown.message)).toEqual(['open']);
    expect(textOf(shown.message)).toContain('"text":"approved"');
    const settledAtSeconds = Math.floor(Date.parse(request.settled!.settledAt) / 1_000);
    expect(textOf(shown.message)).toContain(`"type":"date","timestamp":${settledAtSeconds}`);
    expect(textOf(shown.message)).toContain('ann (claimed)');
  });

  test('the modal of a denial takes a reason', async () => {
    const ann = await world.linked('ann');
    const shown = await ask();
    await world.deliver(world.slack.click(ann, shown.message, 'deny'));
    const view = await openedWindow();
    expect(await settlement(shown)).toBeUndefined();
    const response = await world.deliver(world.slack.submit(ann, view, 'not on <@U1> & Fridays'));
    expect(await response.text()).toBe('');
    expect(await world.toldTo(ann)).toEqual(['Your answer counts: denied. You answered as ann.']);
    expect(await settlement(shown)).toMatchObject({
      outcome: 'denied',
      reason: 'not on <@U1> & Fridays',
      reviewerId: 'ann',
    });
  });

  test.each([
    [
      'words',
      'only <@U1> & this once',
      { reason: 'only <@U1> & this once' },
      /wrote: "only <@U1> & this once"\.\npaid/,
    ],
    ['no words', ' ', {}, /^paid 1 to bob$/],
  ])('the modal of a comment approves with %s, which the model reads', async (_, text, words, output) => {
    const ann = await world.linked('ann');
    const shown = await ask();
    await world.deliver(world.slack.click(ann, shown.message, 'comment'));
    const view = await openedWindow();
    expect(await settlement(shown)).toBeUndefined();
    const response = await world.deliver(world.slack.submit(ann, view, text));
    expect(await response.text()).toBe('');
    expect(await world.toldTo(ann)).toEqual(['Your answer counts: approved. You answered as ann.']);
    expect(await settlement(shown)).toMatchObject({ outcome: 'approved', reviewerId: 'ann', ...words });
    await expect(shown.run.result()).resolves.toMatchObject({ output: expect.stringMatching(output) });
  });

  test('Slack is answered before the decision is, also while no worker answers', async () => {
    const ann = await world.linked('ann');
    const shown = await ask();
    await world.stopWorker();
    const decide = world.client.decide.bind(world.client);
    const answered = Promise.withResolvers<void>();
    const held = vi.spyOn(world.client, 'decide').mockImplementation(async (...args) => {
      await answered.promise;
      return decide(...args);
    });
    const response = await world.deliver(world.slack.click(ann, shown.message, 'approve'));
    expect(response.status).toBe(200);
    answered.resolve();
    expect(await world.toldTo(ann)).toEqual([
      'Your answer is recorded. It counts once a worker of the run applies it. You answered as ann.',
    ]);
    expect(held).toHaveBeenCalledOnce();
    await world.startWorker();
    await eventually('the decision', async () => (await settlement(shown))?.outcome === 'approved');
  });

  test('nothing but an answer is acknowledged and ignored', async () => {
    world.slack.calls.splice(0);
    for (const payload of [
      {},
      { type: 'view_closed' },
      { type: 'block_actions', actions: [{ action_id: 'open' }] },
      [],
    ]) {
      expect((await world.deliver(world.slack.sign(payload))).status).toBe(200);
    }
    expect(world.slack.calls.filter((each) => each !== 'apps.connections.open')).toEqual([]);
  });

  test('the modal of an edit shows at the field what is wrong', () => editsWrongly('{"to": "bob",', /^arguments: /));

  // What an interaction does is the same over both.
  if (transport === 'socket') return;

  test.each([
    ['a name twice', '{"to": "bob", "to": "eve", "amount": 1}', /to.*twice|duplicate|once/i],
    ['no object', '[1]', /expected an object/],
    ['what the schema refuses', '{"to": "bob", "amount": "much"}', /amount/],
  ])('the modal of an edit shows %s at the field', (_, text, problem) => editsWrongly(text, problem));

  test('"always" leaves a grant behind, as wide as the rule admits', async () => {
    const ann = await world.linked('ann');
    const shown = await ask();
    await world.deliver(world.slack.click(ann, shown.message, 'always'));
    expect(await world.toldTo(ann)).toEqual(['Your answer counts: approved. You answered as ann.']);
    const journal = await world.client.journal(shown.run.workflowId);
    expect(JSON.stringify(journal.entries)).toContain('"kind":"tool"');
  });

  test('a click after the inbox settled it changes nothing, and says who settled it', async () => {
    const ann = await world.linked('ann');
    const shown = await ask();
    const { requestId } = shown.request;
    await world.client.decide({ requestId, approved: false, reviewerId: 'bob' }, { workflowId: shown.run.workflowId });
    const before = await settlement(shown);
    for (const action of ['approve', 'comment', 'always', 'deny', 'edit']) {
      await world.deliver(world.slack.click(ann, shown.message, action));
    }
    const told = await world.toldTo(ann, 5);
    const sentence = `Nothing was changed: the request was settled already, denied by bob, ${instantText(before!.settledAt)}`;
    expect(told).toEqual([sentence, sentence, sentence, sentence, sentence]);
    expect(world.slack.views).toEqual([]);
    expect(await settlement(shown)).toEqual(before);
  });

  test('of two clicks that race exactly one counts, and both people learn which', async () => {
    const [ann, bob] = [await world.linked('ann'), await world.linked('bob')];
    const shown = await ask();
    const clicks = [ann, bob].map((user) => world.slack.click(user, shown.message, 'approve'));
    await Promise.all(clicks.map((click) => world.deliver(click)));
    const told = [...(await world.toldTo(ann)), ...(await world.toldTo(bob))];
    const { reviewerId, settledAt } = (await settlement(shown))!;
    // The second is refused by the gateway, if the first is there already, or by the run.
    const byGateway = `the request was settled already, approved by ${reviewerId}, ${instantText(settledAt)}`;
    const byRun = `request ${shown.request.requestId} was already settled by ${reviewerId}: approved`;
    expect(told.toSorted()).toEqual([
      expect.toBeOneOf([`Nothing was changed: ${byGateway}`, `Nothing was changed: ${byRun}`]),
      `Your answer counts: approved. You answered as ${reviewerId}.`,
    ]);
  });

  test('a user unlinked between message and click is refused and told how to link again', async () => {
    const ann = await world.linked('ann');
    const shown = await ask();
    await world.deliver(world.slack.click(ann, shown.message, 'deny'));
    const view = await openedWindow();
    const unlinked = await fetch(new URL('/slack/unlink', world.gateway.url), {
      method: 'POST',
      body: new URLSearchParams({ team: 'T0001', user: ann.id }),
      headers: { cookie: await world.cookieOf('ann'), 'sec-fetch-site': 'same-origin' },
    });
    expect(unlinked.status).toBe(200);
    await world.deliver(world.slack.click(ann, shown.message, 'approve'));
    await world.deliver(world.slack.submit(ann, view, 'no'));
    const told = await world.toldTo(ann, 2);
    expect(told.every((each) => each.startsWith('Nothing was changed: your Slack account is not linked.'))).toBe(true);
    expect(await settlement(shown)).toBeUndefined();
  });

  describe('who may not answer', () => {
    test.each([
      ['val', 'Nothing was changed: val does not have the role reviewer.'],
      ['zoe', expect.stringMatching(/^Nothing was changed: .*zoe/)],
    ])('%s', async (person, sentence) => {
      const user = person === 'val' ? await linkedViewer() : await world.linked(person);
      const shown = await ask();
      await world.deliver(world.slack.click(user, shown.message, 'approve'));
      expect(await world.toldTo(user)).toEqual([sentence]);
      expect(await settlement(shown)).toBeUndefined();
    });

    /** Whoever lost the role after they linked their account. */
    async function linkedViewer() {
      const account = { team: 'T0001', user: 'UVAL', name: 'val' };
      const person = { id: 'val', roles: ['viewer'], groups: [] };
      const sealed = await sealsOf().seal('account', { service: 'slack', account, person }, Date.now() + 60_000);
      await putRecord(world.client.session, { kind: 'slack-user', owner: 'T0001:UVAL' }, { sealed });
      return { id: 'UVAL' };
    }
  });

  test('a click about a call that was not shown is refused', async () => {
    const ann = await world.linked('ann');
    const [shown, other] = [await ask(1), await ask(2)];
    const swap = textOf(shown.message).replaceAll(shown.request.requestId, other.request.requestId);
    const blocks = JSON.parse(
      swap.replaceAll(shown.run.workflowId, other.run.workflowId),
    ) as SlackMessageInTest['blocks'];
    await world.deliver(world.slack.click(ann, { ...shown.message, blocks }, 'approve'));
    expect((await world.toldTo(ann))[0]).toMatch(/^Nothing was changed: the digest is not that of request/);
    expect(await settlement(other)).toBeUndefined();
  });

  test('a click that is sent again is no second answer', async () => {
    const ann = await world.linked('ann');
    const shown = await ask();
    const click = world.slack.click(ann, shown.message, 'approve');
    await world.deliver(click);
    await world.toldTo(ann);
    const before = await world.client.journal(shown.run.workflowId);
    await world.deliver(click);
    // The receipt of the first, not that of another decision.
    const sentence = 'Your answer counts: approved. You answered as ann.';
    expect(await world.toldTo(ann, 2)).toEqual([sentence, sentence]);
    expect(await settlement(shown)).toMatchObject({ outcome: 'approved', reviewerId: 'ann' });
    const decisions = (entries: readonly { kind: string }[]) =>
      entries.filter(({ kind }) => /settled|voted/.test(kind));
    const after = await world.client.journal(shown.run.workflowId);
    expect(decisions(after.entries)).toEqual(decisions(before.entries));
  });

  test('a member of an organization is the same person at a click and in a window', async () => {
    const linked = await world.linked('ann', { enterprise: 'E0001' });
    const shown = await ask();
    await world.deliver(world.slack.click(linked, shown.message, 'deny'));
    const view = await openedWindow();
    await world.deliver(world.slack.submit(linked, view, 'no'));
    expect(await world.toldTo(linked)).toEqual(['Your answer counts: denied. You answered as ann.']);
    expect(await settlement(shown)).toMatchObject({ outcome: 'denied', reviewerId: 'ann' });
  });

  test('whoever is not in the channel any more is told what their click and their window did', async () => {
    const ann = await world.linked('ann');
    const shown = await ask();
    world.slack.outsiders.add(ann.id);
    await world.deliver(world.slack.click(ann, shown.message, 'deny'));
    const view = await openedWindow();
    await world.deliver(world.slack.submit(ann, view, null));
    expect(await world.toldTo(ann)).toEqual(['Your answer counts: denied. You answered as ann.']);
    await world.deliver(world.slack.click(ann, shown.message, 'approve'));
    expect((await world.toldTo(ann, 2))[1]).toMatch(
      /^Nothing was changed: the request was settled already, denied by ann/,
    );
  });

  test('a run whose id has characters that Slack escapes is answered', async () => {
    const ann = await world.linked('ann');
    const workflowId = `order & <co> ${randomUUID()}`;
    const { client } = world.client.session;
    const args = [{ agent: 'tester', input: JSON.stringify(once(pay('bob'))) }] as [RunInput];
    await client.workflow.start('agentRun', { workflowId, taskQueue: world.taskQueue, args });
    const run = world.run(workflowId);
    const [{ requestId }] = (await run.open()) as [ApprovalDetails];
    await world.notify([await world.details(run, requestId)]);
    await world.deliver(world.slack.click(ann, world.slack.posts.at(-1)!, 'approve'));
    expect(await world.toldTo(ann)).toEqual(['Your answer counts: approved. You answered as ann.']);
  });

  describe('what Slack did not sign', () => {
    test('changes nothing: forged, of another secret, stale, from the future, changed', async () => {
      const ann = await world.linked('ann');
      const shown = await ask();
      const { body, headers } = world.slack.click(ann, shown.message, 'approve');
      const stale = Date.now() - 301_000;
      const cases = [
        { body, headers: { ...headers, 'x-slack-signature': `v0=${'0'.repeat(64)}` } },
        { body, headers: { ...headers, 'x-slack-signature': '' } },
        { body, headers: { 'content-type': headers['content-type']! } },
        signed(body, 'another secret'),
        signed(body, world.slack.signingSecret, stale),
        // Also if it is delivered late: up to five minutes are taken for clocks that differ.
        signed(body, world.slack.signingSecret, Date.now() + 3_600_000),
        {
          body,
          headers: {
            ...signed(body, world.slack.signingSecret, stale).headers,
            'x-slack-request-timestamp': headers['x-slack-request-timestamp']!,
          },
        },
        { body: body.replace(ann.id, 'U9999'), headers },
        { body: `${body}&x=1`, headers },
      ];
      for (const each of cases) {
        const response = await world.deliver(each);
        expect([response.status, await response.json()]).toMatchObject([403, { code: 'forbidden' }]);
      }
      expect(await settlement(shown)).toBeUndefined();
      expect(world.slack.ephemerals).toEqual([]);
      // The same click, as Slack sends it.
      await world.deliver({ body, headers });
      await world.toldTo(ann);
      expect(await settlement(shown)).toMatchObject({ outcome: 'approved' });
    });

    test('what cannot be read is acknowledged and ignored', async () => {
      const calls = world.slack.calls.length;
      expect((await world.deliver(signed('payload=%ff', world.slack.signingSecret))).status).toBe(200);
      expect(world.slack.calls.length).toBe(calls);
    });
  });
});
