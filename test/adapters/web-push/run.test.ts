/** Web push of real runs: down, settled elsewhere, and a worker that is lost. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { eventually } from '../../support/eventually.ts';
import { openPushWorld, type PushWorld } from './push-world.ts';
import { once, pay, rule } from '../../support/team.ts';

let world: PushWorld;
beforeAll(async () => {
  const policy = rule('pay', 'ask', { ask: { reviewers: ['ann'] } });
  world = await openPushWorld({ worker: false, policy });
  await world.startWorker({ channels: { push: world.channelWith() } });
  await world.subscribed('ann');
});
afterAll(() => world.close());
beforeEach(() => {
  world.service.pushed.length = 0;
  world.service.answers.clear();
});

const titles = (): string[] => world.service.pushed.map(({ message }) => message.title);
const asked = 'A call waits for a decision';

test('a request is pushed, leads to its run, and its settlement elsewhere takes its place', async () => {
  const run = await world.start(once(pay('carl')));
  await eventually('it is pushed', () => world.service.pushed.length > 0);
  const { requestId } = (await run.open())[0]!;
  const { message, text } = world.service.pushed[0]!;
  expect(new URL(message.url).pathname).toBe(`/inbox/requests/${run.workflowId}/${requestId}`);
  expect(text).not.toContain('carl');
  await world.client.decide({ requestId, approved: true, reviewerId: 'ann' }, { workflowId: run.workflowId });
  await eventually('its settlement is pushed', () => world.service.pushed.length > 1);
  expect(titles()).toEqual([asked, 'Settled: approved by ann']);
  expect(world.service.pushed[1]!.message.tag).toBe(message.tag);
  await run.result();
});

test('a push service that is down denies nothing, and the message comes when it is back', async () => {
  world.service.answers.set('ann', 500);
  const run = await world.start(once(pay('dora')));
  await eventually('it was tried', () => world.service.pushed.length > 0);
  const { requestId } = (await run.open())[0]!;
  world.service.answers.clear();
  await eventually('it is tried again', () => world.service.pushed.length > 1);
  expect(new Set(titles())).toEqual(new Set([asked]));
  expect((await run.open())[0]!.requestId).toBe(requestId);
  await run.handle.terminate();
});

test('a browser that nobody has any more stops nothing', async () => {
  await world.subscribed("ann's old phone");
  world.service.answers.set("ann's old phone", 410);
  const run = await world.start(once(pay('emil')));
  await eventually('both got it', () => world.service.pushed.length > 1);
  await eventually('it is removed', async () => (await world.subscriptions.of('ann')).length === 1);
  await run.handle.terminate();
});

test('a request whose worker is lost before it is settled is settled on the browser by the next one', async () => {
  const run = await world.start(once(pay('fritz')));
  await eventually('it is pushed', () => world.service.pushed.length > 0);
  const { requestId } = (await run.open())[0]!;
  await world.stopWorker();
  await world.client.decide({ requestId, approved: false, reviewerId: 'ann' }, { workflowId: run.workflowId });
  expect(titles()).toEqual([asked]);
  await world.startWorker({ channels: { push: world.channelWith() } });
  await eventually('its settlement is pushed', () => world.service.pushed.length > 1);
  expect(titles()).toEqual([asked, 'Settled: denied by ann']);
  await run.result();
});
