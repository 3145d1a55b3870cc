import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { slackApp, slackChannel } from '../../../src/adapters/slack/slack-channel.ts';
import type { ApprovalDetails } from '../../../src/contract.ts';
import { eventually } from '../../support/eventually.ts';
import type { SlackMessageInTest } from './slack-server.ts';
import { openSlackWorld, publicUrl, type SlackWorld } from './slack-world.ts';
import { once, pay, rule } from '../../support/team.ts';
import type { Calls } from '../../support/world.ts';

let world: SlackWorld;
beforeAll(async () => {
  const ask = { ask: { reviewers: ['ann'], always: 'tool' } };
  const rules = [
    ...(rule('pay', 'ask', ask)['rules'] as object[]),
    ...(rule('wipe', 'ask', ask)['rules'] as object[]),
    ...(rule('look', 'ask', ask)['rules'] as object[]),
  ];
  world = await openSlackWorld({ ann: ['reviewer'] }, { policy: { version: 1, rules }, highestSeverity: 'low' });
});
afterAll(() => world.close());
beforeEach(() => {
  for (const list of [world.slack.ephemerals, world.slack.views, world.slack.messages]) list.splice(0);
});

async function ask(call: Calls[number], channel = world.channel) {
  const run = await world.start(once(call));
  const [{ requestId }] = (await run.open()) as [ApprovalDetails];
  const request = await world.details(run, requestId);
  const context = { step: { kind: 'asked' }, key: requestId, attempt: 1, requests: [request] } as const;
  await channel.notify!(request, { ...context, signal: AbortSignal.timeout(60_000) });
  return { run, request, message: world.slack.posts.at(-1)! };
}
/** The first window. Slack is answered without it if it takes long. */
const openedWindow = () => eventually('the window', () => world.slack.views[0]);
const actionsOf = ({ blocks }: SlackMessageInTest) =>
  blocks.filter(({ type }) => type === 'actions').flatMap(({ elements = [] }) => elements);

test('above it the message has a link to the inbox and Deny, and no button that approves', async () => {
  const ann = await world.linked('ann');
  const { run, request, message } = await ask(pay('bob'));
  expect(request.assessment.severity).toBe('medium');
  expect(actionsOf(message).map(({ action_id: id }) => id)).toEqual(['deny', 'open']);
  expect(actionsOf(message)[1]!.url).toBe(`${publicUrl}/inbox/requests/${run.workflowId}/${request.requestId}`);
  await world.deliver(world.slack.click(ann, message, 'deny'));
  await world.deliver(world.slack.submit(ann, await openedWindow(), null));
  expect(await world.toldTo(ann)).toEqual(['Your answer counts: denied. You answered as ann.']);
});

test('up to it people approve, but edit nothing, and "always" covers the same call only', async () => {
  const ann = await world.linked('ann');
  const { run, message } = await ask({ tool: 'look', args: { what: 'it' } });
  expect(actionsOf(message).map(({ action_id: id }) => id)).toEqual(['approve', 'comment', 'deny', 'always', 'open']);
  await world.deliver(world.slack.click(ann, message, 'always'));
  expect(await world.toldTo(ann)).toEqual(['Your answer counts: approved. You answered as ann.']);
  const { entries } = await world.client.journal(run.workflowId);
  expect(JSON.stringify(entries)).toContain('"kind":"call"');
  expect(JSON.stringify(entries)).not.toContain('"kind":"tool"');
});

test('it is enforced at the click: buttons from before the cap approve and edit nothing', async () => {
  const ann = await world.linked('ann');
  const { highestSeverity: _, ...uncapped } = world.settings;
  const { run, request, message } = await ask(pay('bob'), slackChannel(uncapped));
  expect(actionsOf(message).map(({ action_id: id }) => id)).toEqual([
    'approve',
    'comment',
    'deny',
    'edit',
    'always',
    'open',
  ]);
  for (const action of ['approve', 'comment', 'always', 'edit'])
    await world.deliver(world.slack.click(ann, message, action));
  const told = await world.toldTo(ann, 4);
  expect(told.toSorted()).toEqual([
    'Nothing was changed: the severity of this call is medium, and this channel approves up to low.',
    'Nothing was changed: the severity of this call is medium, and this channel approves up to low.',
    'Nothing was changed: the severity of this call is medium, and this channel approves up to low.',
    'Nothing was changed: this channel takes no edits.',
  ]);
  expect(world.slack.views).toEqual([]);

  // A window that was opened before the cap.
  const app = slackApp([{ ...uncapped, signingSecret: world.slack.signingSecret, appToken: undefined }]);
  const gateway = {
    personOf: async () => ({ id: 'ann', decide: () => Promise.reject(new Error('not now')) }),
    linkUrl: async () => publicUrl,
    request: async () => request,
    log: () => undefined,
  };
  const click = world.slack.click(ann, message, 'edit');
  await app.receive!({ headers: new Headers(click.headers), body: Buffer.from(click.body) }, gateway);
  await world.deliver(world.slack.submit(ann, await openedWindow(), '{"to": "bob", "amount": 2}'));
  await eventually('the refusal', () => world.slack.ephemerals.length === 4);
  expect(world.slack.ephemerals.at(-1)!.text).toBe('Nothing was changed: this channel takes no edits.');
  expect((await world.details(run, request.requestId)).settled).toBeUndefined();
  await run.handle.terminate();
});

test('while the request cannot be read again, nothing is approved', async () => {
  const ann = await world.linked('ann');
  const { run, message } = await ask({ tool: 'look', args: { what: 'it' } });
  await world.stopWorker();
  await world.deliver(world.slack.click(ann, message, 'approve'));
  expect((await world.toldTo(ann))[0]).toMatch(/^Nothing was changed: /);
  await world.startWorker();
  expect((await run.open()).length).toBe(1);
  await run.handle.terminate();
});
