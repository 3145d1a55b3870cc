/** What is no channel's own failure settles nothing and drops nothing: the call is made again. */
import { randomBytes, randomUUID } from 'node:crypto';
import { kill } from 'node:process';
import { ApplicationFailure, type DataConverter } from '@temporalio/common';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { EncryptionCodec } from '../../../src/codec/encryption-codec.ts';
import { activityNames, channelsWorkflowId } from '../../../src/contract.ts';
import { installQuietRuntime } from '../../support/quiet-runtime.ts';
import { killAll } from '../../support/ready-process.ts';
import { sharedBundle } from '../bundles/shared-bundle.ts';
import { spawnWorker, type WorkerProcessOptions } from '../../support/worker-process.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ActivityInboundCallsInterceptor, NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker';
import { createClient } from '../../../src/client/client.ts';
import type { CountersignClient } from '../../../src/client/countersign-client.ts';
import { CountersignPlugin } from '../../../src/worker/plugin.ts';
import { createWorker } from '../../../src/worker.ts';
import { payOnce } from './channel-stage.ts';
import { eventually } from '../../support/eventually.ts';
import { recordedChannel } from './recorded-channel.ts';
import { sharedAddress } from '../../support/shared-server.ts';
import { testAgent } from '../../support/test-agent.ts';
import { testBundle } from '../../support/world.ts';

const { lookAtRequests, channelNotify, channelResolve, channelDecide } = activityNames;
/** With the keys of all tests, so that the histories replay. */
const encrypting = { payloadCodecs: [new EncryptionCodec()] };
const older = new EncryptionCodec({ keys: [{ id: 'older', key: randomBytes(32) }] });

// Workers fail here on purpose.
installQuietRuntime({ errors: false });
afterAll(killAll);

interface Way {
  isEncrypted?: true;
  /** Lets the parked activity fail. Afterwards good workers may start. */
  fails(stage: SplitStage): Promise<void>;
}

/** A worker with its activities takes the parked activity and fails it, while a good one has the workflows. */
async function failsOn(stage: SplitStage, start: () => Promise<() => Promise<void>>): Promise<void> {
  const stops = [await stage.startWorkflows(), await start()];
  await stage.hasFailed();
  for (const stop of stops.toReversed()) await stop();
}

const ways = {
  'a query is answered late, because its worker was paused': {
    fails: async (stage) => {
      const workflows = await spawnWorker(stage.ofProcess);
      await stage.isScheduled();
      kill(workflows.pid, 'SIGSTOP');
      const stop = await stage.startActivities();
      await stage.hasFailed();
      kill(workflows.pid, 'SIGCONT');
      await stop();
      await workflows.kill();
    },
  },
  'the channel was switched off meanwhile, and on again': {
    fails: async (stage) => {
      const stops = [await stage.startWorkflows()];
      await stage.isScheduled();
      const change = (name: string): Promise<unknown> => stage.client.setPolicy(stage.workflowId, { channels: [name] });
      await change('hall');
      stops.push(await stage.startActivities());
      await stage.hasFailed();
      await change('desk');
      for (const stop of stops.toReversed()) await stop();
    },
  },
  'the worker that is asked does not have the workflow of the run': {
    fails: async (stage) => {
      const stopWorkflows = await stage.startWorkflows();
      await stage.isScheduled();
      await stopWorkflows();
      const workflowBundle = await sharedBundle('boundary-workflows.ts', { plain: true });
      const stops = [await stage.startOther({ workflowBundle }), await stage.startActivities()];
      await stage.hasFailed();
      for (const stop of stops.toReversed()) await stop();
    },
  },
  'the worker lacks the newest key': {
    isEncrypted: true,
    fails: (stage) => failsOn(stage, () => stage.startActivities({ dataConverter: { payloadCodecs: [older] } })),
  },
  'the worker has no plugin': {
    fails: (stage) => failsOn(stage, () => stage.startOther({ activities: { other: async () => undefined } })),
  },
  'the second gate refuses the call, because the worker has no codec': {
    isEncrypted: true,
    fails: (stage) => failsOn(stage, () => stage.startActivities({ dataConverter: {} })),
  },
  'an interceptor of the operator refuses the call for good': {
    fails: (stage) =>
      failsOn(stage, () =>
        stage.startActivities({
          interceptors: {
            activity: [
              () => ({
                inbound: { execute: () => Promise.reject(ApplicationFailure.nonRetryable('not now', 'Quota')) },
              }),
            ],
          },
        }),
      ),
  },
} satisfies Record<string, Way>;

const everyWay = Object.keys(ways) as (keyof typeof ways)[];
const noCodec = 'the second gate refuses the call, because the worker has no codec';
const refused = 'an interceptor of the operator refuses the call for good';
const noWorkflow = 'the worker that is asked does not have the workflow of the run';

test.each<[Parked, keyof typeof ways]>([
  ...everyWay.map((way): [Parked, keyof typeof ways] => [channelResolve, way]),
  [lookAtRequests, noCodec],
  [lookAtRequests, noWorkflow],
  [lookAtRequests, refused],
  [channelNotify, refused],
  [channelDecide, refused],
])('%s: %s', async (activity, name) => {
  const way: Way = ways[name];
  const stage = await parkAt(activity, way.isEncrypted === true ? { dataConverter: encrypting } : {});
  onTestFinished(() => stage.close());
  await way.fails(stage);
  await stage.startWorkflows();
  await stage.startActivities();
  const { output } = await stage.client.run(stage.workflowId).result();
  expect(output).toBe('paid 5 to ann');
  expect(stage.desk.notified.map(({ context }) => context.step.kind)).toContain('asked');
});

/** The activities of a channel, each with the one after which the workflow of channels calls it. */
const before = {
  [activityNames.lookAtRequests]: activityNames.announce,
  [activityNames.channelNotify]: activityNames.lookAtRequests,
  [activityNames.channelResolve]: activityNames.channelNotify,
  [activityNames.channelDecide]: activityNames.channelResolve,
} as const;

type Parked = keyof typeof before;
type Stop = () => Promise<void>;

interface SplitStage {
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
async function parkAt(
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
