/**
 * An agent that nobody starts: a schedule of Temporal's starts a run each night at 3:00. What it asks goes out by a webhook, and the run
 * waits, for ten minutes, across crashes and deploys. Nobody answers: it is denied, and the run goes on.
 *
 *   WEBHOOK_SECRET=… countersign worker examples/channels/night-shift.ts
 *   node examples/channels/night-shift.ts
 *
 */
import { join } from 'node:path';
import { type CountersignClient, createClient, type RunInput } from 'countersign/client';
import { policy, shop } from './shop.ts';

/** The workflow id that the runs' ids begin with; Temporal adds the time to it. */
export const nightShift = 'night-shift';

/** Makes the schedule. It is Temporal's own: pause it, or start a run at once, as with any other. */
export async function scheduleNights({ session }: CountersignClient, taskQueue = 'countersign') {
  const input: RunInput = { agent: 'shop', input: 'Go through the complaints of the day.' };
  return session.client.schedule.create({
    scheduleId: nightShift,
    spec: { calendars: [{ hour: 3, minute: 0 }] },
    policies: { overlap: 'SKIP' },
    action: { type: 'startWorkflow', workflowType: 'agentRun', workflowId: nightShift, taskQueue, args: [input] },
  });
}

if (process.argv[1] === import.meta.filename) {
  const client = await createClient();
  await scheduleNights(client);
  await client.close();
}

export default {
  agents: [shop],
  policy: { ...policy, approval: { timeout: '10m', on_timeout: 'deny' } },
  channels: join(import.meta.dirname, 'night-shift.yaml'),
};
