import { randomUUID } from 'node:crypto';
import { activityInfo } from '@temporalio/activity';
import type { WorkflowHandle } from '@temporalio/client';
import type { Channel, ChannelRequest, ResolveContext } from '../../../src/channels/channel.ts';
import type { WorkerRoutes } from '../../../src/channels/channel-set.ts';
import { conditional } from '../../../src/channels/simple-channels.ts';
import { channelsWorkflowId, type RunInput, type RunResult } from '../../../src/contract.ts';
import { openWorld, type RunInTest, type Turns, type World, type WorldOptions } from '../../support/world.ts';

interface Ability {
  /** False: it only tells. Default true. */
  resolves?: boolean;
  batch?: true;
  retries?: true;
  timeoutMs?: number;
  /** It approves by itself, unless that settles nothing. */
  isAutomatic?: true;
}

/** The channels of the worker. What they can do is the same for all runs. */
const abilities = {
  desk: {},
  other: {},
  brief: { timeoutMs: 1_000 },
  keen: { retries: true },
  hall: { resolves: false },
  ann: { resolves: false },
  bob: { resolves: false },
  boss: { resolves: false },
  team: { resolves: false, batch: true },
  careful: { isAutomatic: true },
} as const satisfies Record<string, Ability>;

export type StageChannels = Partial<Record<keyof typeof abilities, Channel>>;

export interface StageRun {
  workflowId?: string;
  /** Default: one call of `pay`, and the text of its result. */
  turns?: Turns;
  /** The policy of the run. */
  policy?: object;
  session?: boolean;
  /** Default: each request goes to all channels of the run. */
  routes?: Partial<WorkerRoutes>;
}

/** One worker for many runs, each with channels of its own under the names of `abilities`. */
export interface ChannelStage {
  world: World;
  start(channels: StageChannels, run?: StageRun): Promise<RunInTest>;
  /** The workflow that carries the requests of a run. */
  channelsOf(run: RunInTest): WorkflowHandle;
  /** Waits until the channels of a run have ended, too. */
  ended(run: RunInTest): Promise<RunResult>;
  close(): Promise<void>;
}

export async function openChannelStage(worldOptions: WorldOptions = {}): Promise<ChannelStage> {
  const runs = new Map<string, { channels: StageChannels; routes: Partial<WorkerRoutes> }>();
  const entries = Object.entries(abilities) as [keyof typeof abilities, Ability][];
  const channelFor =
    (name: keyof typeof abilities) =>
    ({ workflowId }: ChannelRequest): Channel =>
      runs.get(workflowId)!.channels[name]!;
  const world = await openWorld({
    channels: Object.fromEntries(entries.map(([name, ability]) => [name, perRun(ability, channelFor(name))])),
    routes: () => runs.get(activityInfo().workflowExecution!.workflowId)!.routes,
    ...worldOptions,
  });
  const stage: ChannelStage = {
    world,
    start: async (channels, options = {}) => {
      const { workflowId = `run-${randomUUID()}`, turns = payOnce, policy, session } = options;
      const { routes = { default: Object.keys(channels) } } = options;
      runs.set(workflowId, { channels, routes });
      const input: RunInput = { agent: 'tester', input: JSON.stringify(turns), ...(session === true && { session }) };
      const args = [{ ...input, ...(policy !== undefined && { policy: { version: 1, ...policy } }) }];
      await world.client.session.client.workflow.start('agentRun', { workflowId, taskQueue: world.taskQueue, args });
      return world.run(workflowId);
    },
    channelsOf: ({ workflowId }) => world.client.session.client.workflow.getHandle(channelsWorkflowId(workflowId)),
    ended: async (run) => {
      const result = await run.result();
      await stage.channelsOf(run).result();
      return result;
    },
    close: () => world.close(),
  };
  return stage;
}

export const payOnce: Turns = [
  { calls: [{ tool: 'pay', args: { to: 'ann', amount: 5 } }] },
  { text: '{{lastResult}}' },
];

/** A channel whose calls go to the channel of the run that each request is of. */
function perRun(
  { resolves = true, isAutomatic, ...abilities }: Ability,
  channelFor: (request: ChannelRequest) => Channel,
): Channel {
  const channel: Channel = {
    ...abilities,
    notify: (request, context) => channelFor(request).notify?.(request, context),
    settled: (request, settlement, context) => channelFor(request).settled?.(request, settlement, context),
    ...(resolves && {
      resolve: (request: ChannelRequest, ...more: [AbortSignal, ResolveContext]) =>
        channelFor(request).resolve!(request, ...more),
    }),
  };
  return isAutomatic === true ? conditional({ below: 'critical', otherwise: channel }) : channel;
}
