/** A worker is lost between sending a message and recording that, for every kind of channel that sends. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { activityNames, channelsWorkflowId } from '../../src/contract.ts';
import { type ChannelSubject, channelSubjects, type SubjectKind } from '../support/channel-subjects.ts';
import { eventually } from '../support/eventually.ts';
import { killAll } from '../support/ready-process.ts';
import { sharedAddress } from '../support/shared-server.ts';
import { spawnWorker } from '../support/worker-process.ts';

/** The queue and the console send nothing. */
const sending = Object.entries(channelSubjects).filter(([name]) => !['the queue', 'the console'].includes(name));

/** Side by side, because each waits until the server misses the heartbeats of its worker. */
const losses = new Map<string, Promise<void>>();
beforeAll(() => {
  for (const [name, kind] of sending) {
    const loss = loseWorkerOf(kind);
    // The test of the kind reports it.
    loss.catch(() => undefined);
    losses.set(name, loss);
  }
});
afterAll(killAll);

test.each(sending)('%s: the next worker sends it again, marked as the same message, and the answer counts', (name) =>
  losses.get(name),
);

async function loseWorkerOf({ open }: SubjectKind): Promise<void> {
  const on = await open({});
  try {
    await loseItsWorker(on);
  } finally {
    await on.close();
  }
}

async function loseItsWorker({ world, spec, ...on }: ChannelSubject): Promise<void> {
  const { taskQueue, folder } = world;
  await world.stopWorker();
  const lost = join(folder, 'sent');
  const channel = { channel: spec!, lostAfterSending: lost };
  const worker = await spawnWorker({ address: sharedAddress(), taskQueue, folder, ...channel });
  const run = await world.start([
    { calls: [{ tool: 'pay', args: { to: 'ann', amount: 5 } }] },
    { text: '{{lastResult}}' },
  ]);
  const [request] = await run.open();
  await eventually('it is sent', () => existsSync(lost) && readFileSync(lost, 'utf8') !== '');
  await on.reached(request!);
  await worker.kill();
  await world.startWorker();
  // The server notices after 30 seconds without a heartbeat.
  const handle = world.client.session.client.workflow.getHandle(channelsWorkflowId(run.workflowId));
  await eventually('it is sent again and recorded', async () => {
    const { events = [] } = await handle.fetchHistory();
    const first = events!.find(
      (each) => each.activityTaskScheduledEventAttributes?.activityType?.name === activityNames.channelNotify,
    );
    return events!.some(
      ({ activityTaskCompletedEventAttributes: each }) => each?.scheduledEventId?.equals(first?.eventId ?? 0) === true,
    );
  });
  const marks = on.marks!();
  expect(marks.length).toBeLessThanOrEqual(2);
  expect(new Set(marks).size).toBe(1);
  await on.answer(request!, { approved: true });
  expect((await run.result()).output).toBe('paid 5 to ann');
}
