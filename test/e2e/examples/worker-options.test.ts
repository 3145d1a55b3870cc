import { expect, test } from 'vitest';
import { forAllTests } from '../../support/for-all-tests.ts';
import { openWorld } from '../../support/world.ts';

/** Options of Temporal's worker reach it under their own names, next to ours. */

const intercepted: string[] = [];
const world = forAllTests(() =>
  openWorld({
    policy: { version: 1, rules: [{ pattern: 'pay', action: 'allow' }] },
    identity: 'night-shift',
    interceptors: {
      activity: [
        ({ info }) => ({
          inbound: {
            execute: (input, next) => {
              intercepted.push(info.activityType);
              return next(input);
            },
          },
        }),
      ],
    },
  }),
);

test('a worker with its own identity and interceptor runs a tool', async () => {
  const run = await world.start([{ calls: [{ tool: 'pay', args: { to: 'a', amount: 1 } }] }, { text: 'done' }]);
  expect(await run.result()).toMatchObject({ status: 'completed' });
  const { events } = await run.handle.fetchHistory();
  const identities = events!.flatMap(({ workflowTaskStartedEventAttributes: started }) => started?.identity ?? []);
  expect(new Set(identities)).toEqual(new Set(['night-shift']));
  expect(intercepted).toContain('pay');
});
