/** A recorded session whose inputs are refused and whose results are withheld, over two executions. */
import { defineAgent } from '../../src/agents/define-agent.ts';
import { defineTool } from '../../src/agents/define-tool.ts';
import { z } from 'zod';
import { eventually } from './eventually.ts';
import { finished, type RecordedRun } from './play-runs.ts';
import { testAgent } from './test-agent.ts';

export const recordedChecks: RecordedRun[] = [
  {
    name: 'checks-of-a-session',
    world: {
      continueAsNewAfter: { historyEvents: 40 },
      agentsIn: (folder) => {
        const { instructions, model, tools } = testAgent(folder);
        const read = defineTool({
          name: 'read',
          description: 'Reads.',
          input: z.object({ path: z.string() }),
          risk: 'read_only',
          execute: ({ path }) => path,
          checkResult: (result) => (result === 'secret' ? 'it is secret' : undefined),
        });
        return [
          defineAgent({
            name: 'tester',
            instructions,
            model,
            tools: [...tools, read],
            checkInput: (messages) => (messages.some(({ content }) => content === 'bad') ? 'it is bad' : undefined),
          }),
        ];
      },
    },
    play: async (world) => {
      const reads = { calls: ['secret', 'open', 'secret', 'open'].map((path) => ({ tool: 'read', args: { path } })) };
      const run = await world.start([{ text: 'one' }, reads, reads, { text: 'two' }], { session: true });
      const awaits = (turn: number, code?: string): Promise<unknown> =>
        eventually(`turn ${turn}, ${code}`, async () => {
          const status = await run.status();
          return status.awaitsMessage === true && status.turn === turn && status.failedTurn?.code === code;
        });
      await awaits(1);
      await run.handle.signal('message', { content: 'bad' });
      await awaits(1, 'input_refused');
      await run.handle.signal('message', { retry: true });
      await eventually('the second refusal', async () => (await run.status()).counts.refused === 2);
      await awaits(1, 'input_refused');
      await run.handle.signal('message', { content: 'good' });
      await awaits(4);
      await run.handle.signal('close');
      return finished(run);
    },
  },
];
