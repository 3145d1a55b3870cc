/**
 * One run whose workflow tasks and activities have workers of their own, so that a test decides which worker takes a
 * certain activity: a bad one, until the activity has failed there, and then a good one.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataConverter } from '@temporalio/common';
import { type ActivityInboundCallsInterceptor, NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import { createClient } from '../../src/client/client.ts';
import type { CountersignClient } from '../../src/client/countersign-client.ts';
import { activityNames, channelsWorkflowId } from '../../src/contract.ts';
import { CountersignPlugin } from '../../src/worker/plugin.ts';
import { createWorker } from '../../src/worker.ts';
import { payOnce } from './channel-stage.ts';
import { eventually } from './eventually.ts';
import { recordedChannel } from './recorded-channel.ts';
import { sharedAddress } from './shared-server.ts';
import { testAgent } from './test-agent.ts';
import type { WorkerProcessOptions } from './worker-process.ts';
import { testBundle } from './world.ts';

/** The activities of a channel, each with the one after which the workflow of channels calls it. */
const before = {
  [activityNames.lookAtRequests]: activityNames.announce,
  [activityNames.channelNotify]: activityNames.lookAtRequests,
  [activityNames.channelResolve]: activityNames.channelNotify,
  [activityNames.channelDecide]: activityNames.channelResolve,
} as const;

export type Parked = keyof typeof before;
export type Stop = () => Promise<void>;

export interface SplitStage {
  client: CountersignClient;
  taskQueue: string;
  workflowId: string;
  /** The only channel of the run at first; it answers `true`. */
  desk: ReturnType<typeof recordedChannel>;
  /** As `spawnWorker` takes them, for a process that has only the workflows. */
  ofProcess: WorkerProcessOptions;
  startWorkflows(): Promise<Stop>;
  startActivities(options?: Partial<WorkerOptions>): Promise<Stop>;
  /** Any worker on the task queue. */
  startOther(options: Partial<WorkerOptions>): Promise<Stop>;
  /** Resolves once the server holds the activity for a worker. */
  isScheduled(): Promise<unknown>;
  /** Resolves once an attempt of the activity has failed. */
  hasFailed(): Promise<unknown>;
  close(): Promise<void>;
}

/** Plays a run until `activity` is the next one that a worker is to take, and there is no worker at all. */
export async function parkAt(
  activity: Parked,
  { dataConverter }: { dataConverter?: DataConverter } = {},
): Promise<SplitStage> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-split-'));
  const taskQueue = `split-${randomUUID()}`;
  const stops = new Set<Stop>();
  const given = dataConverter === undefined ? {} : { dataConverter };
  const address = sharedAddress();
  const [client, connection] = await Promise.all([
    createClient({ address, taskQueue, ...given }),
    NativeConnection.connect({ address }),
  ]);
  const desk = recordedChannel({ resolve: () => true });
  const channels = { desk, hall: recordedChannel({ resolves: false }) };
  const begin = (worker: { run(): Promise<void>; shutdown(): void }): Stop => {
    const running = worker.run();
    const stop = async (): Promise<void> => {
      if (!stops.delete(stop)) return;
      worker.shutdown();
      await running;
    };
    stops.add(stop);
    return stop;
  };
  const startOther = async (options: Partial<WorkerOptions>): Promise<Stop> =>
    begin(await Worker.create({ connection, taskQueue, shutdownGraceTime: 500, ...given, ...options }));
  const agents = [testAgent(folder)];
  const startActivities = (options: Partial<WorkerOptions> = {}): Promise<Stop> =>
    startOther({ plugins: [new CountersignPlugin({ agents, channels, routes: { default: ['desk'] } })], ...options });
  const startWorkflows = async (): Promise<Stop> =>
    begin(
      await createWorker({
        address,
        taskQueue,
        agents,
        ...given,
        workflowBundle: { codePath: testBundle() },
        enableNonLocalActivities: false,
        // No task waits for a worker that is gone.
        maxCachedWorkflows: 0,
        shutdownGraceTime: 500,
        logLevel: 'ERROR',
      }),
    );

  const parked = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const parks: ActivityInboundCallsInterceptor = {
    execute: async (input, next) => {
      // An announcement starts the workflow of channels; what follows asks the run, which needs its workflow worker.
      const result = activity === activityNames.lookAtRequests ? undefined : await next(input);
      parked.resolve();
      await released.promise;
      return activity === activityNames.lookAtRequests ? next(input) : result;
    },
  };
  const stopWorkflows = await startWorkflows();
  const stopActivities = await startActivities({
    interceptors: { activity: [({ info }) => ({ inbound: info.activityType === before[activity] ? parks : {} })] },
  });
  const workflowId = `run-${randomUUID()}`;
  const { workflow } = client.session.client;
  const args = [{ agent: 'tester', input: JSON.stringify(payOnce) }];
  await workflow.start('agentRun', { taskQueue, workflowId, args });
  await parked.promise;
  await stopWorkflows();
  released.resolve();
  await stopActivities();

  const carrier = workflow.getHandle(channelsWorkflowId(workflowId));
  const isOf = (type: string | null | undefined): boolean => type === activity;
  return {
    client,
    taskQueue,
    desk,
    workflowId,
    ofProcess: { address, taskQueue, folder, onlyWorkflows: true },
    startWorkflows,
    startActivities,
    startOther,
    close: async () => {
      for (const stop of stops) await stop();
      await Promise.all([client.close(), connection.close()]);
      rmSync(folder, { recursive: true, force: true });
    },
    isScheduled: () =>
      eventually(`${activity} is scheduled`, async () => {
        const { raw } = await carrier.describe();
        return raw.pendingActivities?.some((each) => isOf(each.activityType?.name));
      }),
    hasFailed: () =>
      eventually(`${activity} has failed`, async () => {
        const { raw } = await carrier.describe();
        if (raw.pendingActivities?.some((each) => isOf(each.activityType?.name) && each.lastFailure != null))
          return true;
        const { events } = await carrier.fetchHistory();
        const ids = (events ?? [])
          .filter((each) => isOf(each.activityTaskScheduledEventAttributes?.activityType?.name))
          .map(({ eventId }) => String(eventId));
        return events?.some(({ activityTaskFailedEventAttributes: failed }) =>
          ids.includes(String(failed?.scheduledEventId)),
        );
      }),
  };
}
