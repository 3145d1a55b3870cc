/** What is no channel's own failure settles nothing and drops nothing: the call is made again. */
import { randomBytes } from 'node:crypto';
import { kill } from 'node:process';
import { ApplicationFailure } from '@temporalio/common';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { EncryptionCodec } from '../../../src/codec/encryption-codec.ts';
import { activityNames } from '../../../src/contract.ts';
import { installQuietRuntime } from '../../support/quiet-runtime.ts';
import { killAll } from '../../support/ready-process.ts';
import { sharedBundle } from '../../support/shared-bundle.ts';
import { type Parked, parkAt, type SplitStage } from '../../support/split-stage.ts';
import { spawnWorker } from '../../support/worker-process.ts';

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
