import type { Agent } from '../../../src/agents/definitions.ts';
import { queryRun } from '../../../src/client/server/ask-worker.ts';
import { type Message, queryNames, type RunResult } from '../../../src/contract.ts';
import type { WorkerOptions } from '../../../src/worker.ts';
import { eventually } from '../../support/eventually.ts';
import { openWorld, type RunInTest, type World } from '../../support/world.ts';

/** What an example of `examples/channels` exports. */
export interface ShopExample {
  agents: Agent[];
  policy?: object;
  channels?: WorkerOptions['channels'];
  routes?: WorkerOptions['routes'];
}

/** A worker with an example, and a run of it that its channels answer. */
export interface ShopRun {
  run: RunInTest;
  /** How each call but the look-up was settled, as `NAME: OUTCOME`, in order. */
  outcomes: () => Promise<string[]>;
  result: () => Promise<RunResult>;
  /** What the model was told of its calls. */
  told: () => Promise<string[]>;
  close(): Promise<void>;
}

export function openShop({ agents, ...options }: ShopExample): Promise<World> {
  return openWorld({ agentsIn: () => agents, ...options });
}

/** Starts a worker with the example, and a run that its channels are played for. */
export async function runShop(example: ShopExample): Promise<ShopRun> {
  const world = await openShop(example);
  const { workflowId } = await world.client.start('shop', 'My lamp came broken');
  const run = world.run(workflowId);
  return {
    run,
    outcomes: async () => outcomesOf(await run.result()),
    result: () => run.result(),
    told: async () => {
      const { session } = world.client;
      // A busy machine may be late to answer a query.
      const messages = await eventually('the transcript', () =>
        queryRun<Message[]>(session, workflowId, queryNames.transcript).catch(() => undefined),
      );
      return messages.flatMap((each) => (each.role === 'tool' ? [each.content] : []));
    },
    close: async () => {
      await world.close();
    },
  };
}

export function outcomesOf({ outcomes }: RunResult): string[] {
  const inOrder = outcomes.toSorted((one, other) => (one.callId < other.callId ? -1 : 1));
  return inOrder.filter(({ toolName }) => toolName !== 'look_up').map((each) => `${each.toolName}: ${each.outcome}`);
}
