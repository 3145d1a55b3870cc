/** Workers are lost after they have sent a message, for every kind of channel. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { activityNames, type ApprovalDetails, channelsWorkflowId } from '../../../src/contract.ts';
import { type ChannelSubject, channelSubjects } from './channel-subjects.ts';
import { eventually } from '../../support/eventually.ts';
import { killAll } from '../../support/ready-process.ts';
import { sharedAddress } from '../../support/shared-server.ts';
import { spawnWorker } from '../../support/worker-process.ts';
import type { RunInTest, World } from '../../support/world.ts';

/** The console is a terminal of this process. */
const kinds = Object.entries(channelSubjects).filter(([, { inProcess }]) => inProcess !== true);
/** The queue sends nothing. */
const sending = kinds.filter(([name]) => name !== 'the queue');

interface Asked {
  run: RunInTest;
  request: ApprovalDetails;
}

/** What the workers of one kind have sent before they are killed. */
interface Sent {
  on: ChannelSubject;
  /** The call that sent it has returned, and history says so. */
  recorded: Asked;
  /** The call that sent it has not returned. Absent: the channel sends nothing. */
  unrecorded?: Asked;
}

/** One process has the workers of all kinds, so one is lost for all, and the server misses their heartbeats at once. */
const sentBy = new Map<string, Promise<Sent>>();
const closing: (() => Promise<void>)[] = [];
beforeAll(async () => {
  const subjects = await Promise.all(
    kinds.map(async ([name, { open }]) => {
      const on = await open({ worker: false });
      closing.push(() => on.close());
      return { name, on };
    }),
  );
  const process = await spawnWorker(
    ...subjects.map(({ on: { world, spec } }) => {
      const { taskQueue, folder } = world;
      return { address: sharedAddress(), taskQueue, folder, channel: spec, hangsAfterSending: fileOf(world) };
    }),
  );
  for (const { name, on } of subjects) sentBy.set(name, sendBoth(on));
  // The tests of a kind report it.
  await Promise.allSettled(sentBy.values());
  await process.kill();
  await Promise.all(subjects.map(({ on }) => on.world.startWorker()));
});
afterAll(async () => {
  await killAll();
  await Promise.all(closing.map((close) => close()));
});

const fileOf = ({ folder }: World): string => join(folder, 'hanging');

async function sendBoth(on: ChannelSubject): Promise<Sent> {
  const recorded = await ask(on, 'ann');
  if (on.marks === undefined) return { on, recorded };
  await eventually('it is recorded', () => isRecorded(on.world, recorded.run));
  const unrecorded = await ask(on, 'lost');
  const file = fileOf(on.world);
  await eventually('its call hangs', () => existsSync(file) && readFileSync(file, 'utf8') !== '');
  return { on, recorded, unrecorded };
}

async function ask(on: ChannelSubject, to: string): Promise<Asked> {
  const run = await on.world.start([{ calls: [{ tool: 'pay', args: { to, amount: 5 } }] }, { text: '{{lastResult}}' }]);
  const [request] = await run.open();
  await on.reached(request!);
  return { run, request: request! };
}

/** True once a call of the channel's `notify` has returned. */
async function isRecorded({ client }: World, { workflowId }: RunInTest): Promise<boolean> {
  const handle = client.session.client.workflow.getHandle(channelsWorkflowId(workflowId));
  const { events = [] } = await handle.fetchHistory();
  const calls = events!.filter(
    (each) => each.activityTaskScheduledEventAttributes?.activityType?.name === activityNames.channelNotify,
  );
  return events!.some(({ activityTaskCompletedEventAttributes: ended }) =>
    calls.some(({ eventId }) => ended?.scheduledEventId?.equals(eventId ?? 0) === true),
  );
}

describe('a worker is lost between the message and the answer', () => {
  test.concurrent.each(kinds)('%s: nothing is sent again, and the answer counts', async (name) => {
    const { on, recorded } = (await sentBy.get(name))!;
    await on.answer(recorded.request, { approved: true });
    expect((await recorded.run.result()).output).toBe('paid 5 to ann');
    expect(on.counts(recorded.request).asked).toBe(1);
  });

  test('the console: the terminal is asked again, and the answer counts', async () => {
    const on = await channelSubjects['the console']!.open({});
    closing.push(() => on.close());
    const { run, request } = await ask(on, 'ann');
    await on.world.stopWorker();
    await on.world.startWorker();
    await on.reached(request);
    await on.answer(request, { approved: true });
    expect((await run.result()).output).toBe('paid 5 to ann');
  });
});

describe('a worker is lost between sending a message and recording that', () => {
  test.concurrent.each(sending)(
    '%s: the next worker sends it again, marked as the same message, and the answer counts',
    async (name) => {
      const { on, unrecorded } = (await sentBy.get(name))!;
      const { run, request } = unrecorded!;
      // The server notices after 30 seconds without a heartbeat.
      await eventually('it is sent again and recorded', () => isRecorded(on.world, run));
      const marks = on.marks!(request);
      expect(marks.length).toBeGreaterThan(0);
      expect(marks.length).toBeLessThanOrEqual(2);
      expect(new Set(marks).size).toBe(1);
      await on.answer(request, { approved: true });
      expect((await run.result()).output).toBe('paid 5 to lost');
    },
  );
});
