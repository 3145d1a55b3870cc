import { expect, test } from 'vitest';
import { activityNames } from '../../../src/contract.ts';
import { defineAgent } from '../../../src/index.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { testAgent } from '../../support/test-agent.ts';
import { openWorld } from '../../support/world.ts';

/** Time-outs and attempts of a model call are those of its agent, as the run recorded them. */

const world = forAllTests(() =>
  openWorld({
    agentsIn: (folder) => {
      const { name, instructions, model, tools } = testAgent(folder);
      const modelCall = { timeoutMs: 50_000, heartbeatTimeoutMs: 7_000, maxAttempts: 2 };
      return [
        defineAgent({ name, instructions, model, tools, modelCall }),
        defineAgent({ name: 'usual', instructions, model }),
      ];
    },
  }),
);

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
