/** A recorded run that reaches a limit of its cost, is let go on, and continues as new. */
import { costlyModel, costlyPrices } from './costly-model.ts';
import { finished, type RecordedRun, yes } from './play-runs.ts';
import { testAgent } from './test-agent.ts';

const look = { calls: [{ tool: 'look', args: { what: 'sea' } }] };

export const recordedCosts: RecordedRun[] = [
  {
    name: 'cost',
    world: {
      continueAsNewAfter: { historyEvents: 30 },
      policy: { version: 1, prices: costlyPrices, limits: { cost: { ask: 0.02, end: 1 } } },
      agentsIn: (folder) => [{ ...testAgent(folder), model: costlyModel('costly-1') }],
    },
    play: async (world) => {
      const run = await world.start([look, look, look, { text: 'done' }]);
      const [asked] = await run.open();
      await run.handle.signal('decide', yes(asked!));
      return finished(run);
    },
  },
];
