/** A recorded session whose calls are answered by earlier results, over several executions. */
import { z } from 'zod';
import { defineAgent } from '../../src/agents/define-agent.ts';
import { defineTool } from '../../src/agents/define-tool.ts';
import { eventually } from './eventually.ts';
import { finished, pay, yes, type RecordedRun } from './play-runs.ts';
import { testAgent } from './test-agent.ts';

export const recordedResults: RecordedRun[] = [
  {
    name: 'results-that-answer-equal-calls',
    world: {
      continueAsNewAfter: { historyEvents: 40 },
      agentsIn: (folder) => {
        const { name, instructions, model, tools } = testAgent(folder);
        const reads = (['run', 'session'] as const).map((cache) =>
          defineTool({
            name: `read_${cache}`,
            description: 'Reads.',
            input: z.object({ path: z.string() }),
            risk: 'read_only',
            cache,
            execute: ({ path }) => path,
          }),
        );
        return [defineAgent({ name, instructions, model, tools: [...tools, ...reads] })];
      },
    },
    play: async (world) => {
      const read = (cache: string, path: string) => ({ tool: `read_${cache}`, args: { path } });
      const some = { calls: [read('run', 'a'), read('session', 'a'), read('session', 'b'), read('run', 'b')] };
      const turns = [some, some, { text: 'one' }, some, { calls: [pay()] }, some, { text: 'two' }];
      const rules = [{ pattern: 'read_session', action: 'ask' }];
      const run = await world.start(turns, { session: true, policy: { version: 1, rules } });
      const approve = async (count: number): Promise<void> => {
        for (const each of await run.open(count)) await run.handle.signal('decide', yes(each));
      };
      const awaits = (turn: number): Promise<unknown> =>
        eventually(`turn ${turn}`, async () => {
          const status = await run.status();
          return status.awaitsMessage === true && status.turn === turn;
        });
      await approve(2);
      await awaits(3);
      await run.handle.signal('message', { content: 'And now?' });
      // The payment, and after it what it may have changed.
      await approve(1);
      await approve(2);
      await awaits(7);
      await run.handle.signal('close');
      return finished(run);
    },
  },
];
