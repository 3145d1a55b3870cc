/** Recorded runs of an agent with an `output`, whose model is asked again. */
import { z } from 'zod';
import { defineAgent } from '../../src/agents/define-agent.ts';
import { eventually } from './eventually.ts';
import { finished, pay, yes, type RecordedRun } from './play-runs.ts';
import { testAgent } from './test-agent.ts';
import type { WorldOptions } from './world.ts';

const worldOf = (historyEvents: number): WorldOptions => ({
  continueAsNewAfter: { historyEvents },
  agentsIn: (folder) => {
    const { instructions, model, tools } = testAgent(folder);
    return [defineAgent({ name: 'tester', instructions, model, tools, output: z.object({ total: z.number() }) })];
  },
});

export const recordedOutputs: RecordedRun[] = [
  {
    name: 'output-asked-again',
    world: worldOf(8_000),
    play: async (world) => {
      const run = await world.start([
        { text: 'Seven.' },
        { calls: [pay()] },
        { text: '{"total":"7"}' },
        { text: '{"total":7}' },
      ]);
      await run.handle.signal('decide', yes((await run.open())[0]!));
      return finished(run);
    },
  },
  {
    name: 'output-in-second-execution',
    world: worldOf(20),
    play: async (world) => {
      const run = await world.start([{ text: 'no' }, { calls: [pay()] }, { text: 'no' }, { text: 'no' }]);
      await run.handle.signal('decide', yes((await run.open())[0]!));
      return finished(run);
    },
  },
  {
    name: 'session-with-an-output',
    world: worldOf(8_000),
    play: async (world) => {
      const turns = ['no', '{"total":1}', 'no', 'no', 'no', '{"total":2}'].map((text) => ({ text }));
      const run = await world.start(turns, { session: true });
      const answered = (turn: number): Promise<unknown> =>
        eventually(`turn ${turn}`, async () => {
          const status = await run.status();
          return (status.failedTurn?.turn ?? status.turn) === turn && status.awaitsMessage === true;
        });
      await answered(2);
      await run.handle.signal('message', { content: 'And now?' });
      await answered(5);
      await run.handle.signal('message', { content: 'As JSON.' });
      await answered(6);
      await run.handle.signal('close');
      return finished(run);
    },
  },
];
