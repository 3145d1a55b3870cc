import { afterAll, beforeAll, expect, test } from 'vitest';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { defineAgent } from '../../../src/agents/define-agent.ts';
import { testAgent } from '../../support/test-agent.ts';
import { claudeThinks } from '../../models/wire/anthropic.ts';
import { startWireServer, type WireServer, type WireTurn } from '../../models/wire/wire-server.ts';
import { openWorld, type World } from '../../support/world.ts';

/** What the reasoning of a model takes of a run's history, as docs/models.md says. */

const thoughts = ['First.', 'Second.', 'Third.', 'Fourth.', 'Fifth.'].map(
  (text) => `${text} ${'I reason. '.repeat(50)}`,
);
const thinking = thoughts.map((reasoning, turn): WireTurn => {
  const calls = turn < thoughts.length - 1 ? [{ name: 'look', args: { what: `page ${turn}` } }] : undefined;
  return { reasoning, text: 'Let me see.', ...(calls && { calls }) };
});

let servers: WireServer[];
let world: World;
beforeAll(async () => {
  const plain = thinking.map(({ reasoning: _none, ...turn }) => turn);
  servers = await Promise.all([thinking, plain].map((turns) => startWireServer('anthropic', turns)));
  world = await openWorld({
    agentsIn: (folder) => {
      const { tools } = testAgent(folder);
      return servers.map(({ model }, index) => {
        const modelCall = index === 0 ? { providerOptions: claudeThinks } : {};
        return defineAgent({ name: ['thinks', 'plain'][index]!, instructions: 'Be brief.', model, modelCall, tools });
      });
    },
  });
});
afterAll(async () => {
  await world.close();
  await Promise.all(servers.map((server) => server.close()));
});

async function played(agent: string): Promise<{ events: number; payloads: string }> {
  const { workflowId } = await world.client.start(agent, 'Go');
  const run = world.run(workflowId);
  await run.result();
  const { events } = JSON.parse(historyToJSON(await run.handle.fetchHistory())) as { events: object[] };
  const payloads: string[] = [];
  JSON.stringify(events, (key, value: unknown) => {
    if (key === 'data' && typeof value === 'string') payloads.push(Buffer.from(value, 'base64').toString());
    return value;
  });
  return { events: events.length, payloads: payloads.join('\n') };
}

test('each thought is in the result of its call and in the input of each later one, and in no event more', async () => {
  const [thinks, plain] = await Promise.all([played('thinks'), played('plain')]);
  expect(thoughts.map((thought) => thinks.payloads.split(thought).length - 1)).toEqual([5, 4, 3, 2, 1]);
  expect(thinks.events).toBe(plain.events);
});
