/** A worker is lost between sending a message and recording that, for every kind of channel that sends. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { type ChannelSubject, channelSubjects } from '../support/channel-subjects.ts';
import { eventually } from '../support/eventually.ts';
import { killAll } from '../support/ready-process.ts';
import { sharedAddress } from '../support/shared-server.ts';
import { spawnWorker } from '../support/worker-process.ts';

let subject: ChannelSubject | undefined;
afterEach(async () => {
  await killAll();
  await subject?.close();
  subject = undefined;
});

/** The queue and the console send nothing. */
const sending = Object.entries(channelSubjects).filter(([name]) => !['the queue', 'the console'].includes(name));

test.each(sending)(
  '%s: the next worker sends it again, marked as the same message, and the answer counts',
  async (_name, { open }) => {
    const on = (subject = await open({}));
    const { world, spec } = on;
    const { taskQueue, folder } = world;
    await world.stopWorker();
    const lost = join(folder, 'sent');
    const worker = await spawnWorker({
      address: sharedAddress(),
      taskQueue,
      folder,
      channel: spec!,
      lostAfterSending: lost,
    });
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
    const handle = world.client.session.client.workflow.getHandle(`countersign-channels:${run.workflowId}`);
    await eventually('it is sent again and recorded', async () => {
      const { events = [] } = await handle.fetchHistory();
      const [first] = events!.flatMap(({ activityTaskScheduledEventAttributes: each, eventId }) =>
        each?.activityType?.name === 'countersign.channelNotify' ? [eventId!] : [],
      );
      return events!.some(({ activityTaskCompletedEventAttributes: each }) => each?.scheduledEventId?.equals(first!));
    });
    const marks = on.marks!();
    expect(marks.length).toBeLessThanOrEqual(2);
    expect(new Set(marks).size).toBe(1);
    await on.answer(request!, { approved: true });
    expect((await run.result()).output).toBe('paid 5 to ann');
  },
);
