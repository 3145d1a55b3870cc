/** A recorded session with files in its input and its messages, over two executions. */
import { defineAgent } from '../../src/agents/define-agent.ts';
import type { Message } from '../../src/contract.ts';
import { eventually } from './eventually.ts';
import { finished, type RecordedRun } from './play-runs.ts';
import { testAgent } from './test-agent.ts';

const picture = { mediaType: 'image/png', url: 'data:image/png;base64,iVBORw0K', filename: 'cat.png' };
const address = { mediaType: 'image/png', url: 'https://files.example.com/cat.png' };

export const recordedFiles: RecordedRun[] = [
  {
    name: 'files-of-a-session',
    world: {
      continueAsNewAfter: { historyEvents: 40 },
      agentsIn: (folder) => {
        const { instructions, model, tools } = testAgent(folder);
        const files = { types: ['image/png'], hosts: ['files.example.com'] };
        return [defineAgent({ name: 'tester', instructions, model, tools, files })];
      },
    },
    play: async (world) => {
      const looks = { calls: ['1', '2', '3', '4'].map((what) => ({ tool: 'look', args: { what } })) };
      const script = [{ text: 'one' }, looks, looks, { text: 'two' }, { text: 'three' }];
      const input: Message[] = [{ role: 'user', content: JSON.stringify(script), files: [picture, address] }];
      const run = await world.start([], { input, session: true });
      const awaits = (turn: number): Promise<unknown> =>
        eventually(`turn ${turn}`, async () => {
          const status = await run.status();
          return status.awaitsMessage === true && status.turn === turn;
        });
      await awaits(1);
      await run.handle.signal('message', {
        content: 'This? And that?',
        files: [{ ...picture, at: 6 }],
        messageId: 'm-1',
      });
      await awaits(4);
      await run.handle.signal('message', { content: 'No', files: [{ ...picture, url: 'javascript:alert(1)' }] });
      await eventually('the refusal', async () => (await run.status()).counts.refused === 1);
      await run.handle.signal('message', { content: '', files: [picture] });
      await awaits(5);
      await run.handle.signal('close');
      return finished(run);
    },
  },
];
