import { afterAll, beforeAll, expect, test } from 'vitest';
import { signed } from '../../support/slack-server.ts';
import { openSlackWorld, type SlackWorld } from '../../support/slack-world.ts';

let world: SlackWorld;
beforeAll(async () => {
  world = await openSlackWorld({ ann: ['reviewer'] }, { worker: false }, { limits: { writesPerMinute: 3 } });
});
afterAll(() => world.close());

test('forged posts of anybody do not use up what Slack may send', async () => {
  const forged = () => world.deliver(signed('payload=x', 'not the secret'));
  const statuses: number[] = [];
  for (let count = 0; count < 5; count += 1) statuses.push((await forged()).status);
  expect(statuses).toEqual([403, 403, 403, 429, 429]);
  for (let count = 0; count < 5; count += 1) {
    expect((await world.deliver(world.slack.sign({ type: 'view_closed' }))).status).toBe(200);
  }
});
