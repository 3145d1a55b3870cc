import { afterAll, beforeAll, expect, test } from 'vitest';
import { activityNames } from '../../../src/contract.ts';
import { defineAgent } from '../../../src/index.ts';
import { testAgent } from '../../support/test-agent.ts';
import type { World } from '../../support/world.ts';
import { openWorld } from '../../support/world.ts';

/** Time-outs and attempts of a model call are those of its agent, as the run recorded them. */

let world: World;
beforeAll(async () => {
  world = await openWorld({
    agentsIn: (folder) => {
      const { name, instructions, model, tools } = testAgent(folder);
      const modelCall = { timeoutMs: 50_000, heartbeatTimeoutMs: 7_000, maxAttempts: 2 };
      return [
        defineAgent({ name, instructions, model, tools, modelCall }),
        defineAgent({ name: 'usual', instructions, model }),
      ];
    },
  });
});
afterAll(() => world.close());

test.each([
  ['tester', { startToCloseS: 50, heartbeatS: 7, maximumAttempts: 2 }],
  ['usual', { startToCloseS: 600, heartbeatS: 30, maximumAttempts: 10 }],
])('of %s', async (agent, expected) => {
  const run = await world.start([{ text: 'done' }], { agent });
  expect(await run.result()).toMatchObject({ status: 'completed' });
  const { events } = await run.handle.fetchHistory();
  const scheduled = events!
    .map((event) => event.activityTaskScheduledEventAttributes)
    .find((each) => each?.activityType?.name === activityNames.callModel);
  expect({
    startToCloseS: Number(scheduled?.startToCloseTimeout?.seconds),
    heartbeatS: Number(scheduled?.heartbeatTimeout?.seconds),
    maximumAttempts: scheduled?.retryPolicy?.maximumAttempts,
  }).toEqual(expected);
});
