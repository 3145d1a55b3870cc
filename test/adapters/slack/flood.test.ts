import { expect, test } from 'vitest';
import { forAllTests } from '../../support/for-all-tests.ts';
import { signed } from './slack-server.ts';
import { openSlackWorld } from './slack-world.ts';

const world = forAllTests(() =>
  openSlackWorld({ ann: ['reviewer'] }, { worker: false }, { limits: { writesPerMinute: 3 } }),
);

test('forged posts of anybody do not use up what Slack may send', async () => {
  const forged = () => world.deliver(signed('payload=x', 'not the secret'));
  const statuses: number[] = [];
  for (let count = 0; count < 5; count += 1) statuses.push((await forged()).status);
  expect(statuses).toEqual([403, 403, 403, 429, 429]);
  for (let count = 0; count < 5; count += 1) {
    expect((await world.deliver(world.slack.sign({ type: 'view_closed' }))).status).toBe(200);
  }
});
