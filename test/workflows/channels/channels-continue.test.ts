/** The workflow of channels continues as new: with everything that waits, and without an end to what it can take. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { WorkflowHandle } from '@temporalio/client';
import { Worker } from '@temporalio/worker';
import type { Channel, ChannelAnswer } from '../../../src/channels/channel.ts';
import { changedName, channelsWorkflowId } from '../../../src/contract.ts';
import { type DevServer, startDevServer } from '../../../packages/cli/src/dev-server/start-dev-server.ts';
import { eventually } from '../../support/eventually.ts';
import { inTime } from '../../support/in-time.ts';
import { recordedChannel, withOwnFields } from './recorded-channel.ts';
import { openWorld, testBundle, type World } from '../../support/world.ts';

/** The events from which on this file's server suggests to continue as new; the shared one does from 4,096 on. */
const suggestedFrom = 200;

let folder: string;
let server: DevServer | undefined;
let world: World | undefined;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'countersign-eager-'));
  const binary = join(folder, 'temporal');
  const eager = `--dynamic-config-value limit.historyCount.suggestContinueAsNew=${suggestedFrom}`;
  const script = `#!/bin/sh\nexec '${process.env.COUNTERSIGN_TEMPORAL_BINARY}' "$@" ${eager}\n`;
  writeFileSync(binary, script, { mode: 0o755 });
  server = await startDevServer({ uiPort: null, binary });
});
afterAll(async () => {
  await world?.close();
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const idOf = (count: number): string => count.toString(16).padStart(32, '0');

/** A channel without messages. Each call of `resolve` waits; the last one for a request can be answered. */
function thinker(): Channel & {
  asked: string[];
  aborted: string[];
  answer(requestId: string, answer: ChannelAnswer): void;
} {
  const waiting = new Map<string, (answer: ChannelAnswer) => void>();
  const asked: string[] = [];
  const aborted: string[] = [];
  return withOwnFields({
    asked,
    aborted,
    answer: (requestId, answer) => waiting.get(requestId)!(answer),
    resolve: ({ requestId }, signal) => {
      asked.push(requestId);
      signal.addEventListener('abort', () => aborted.push(requestId));
      const { promise, resolve } = Promise.withResolvers<ChannelAnswer>();
      waiting.set(requestId, resolve);
      return promise;
    },
  });
}

/**
 * Signals until the server suggests to continue as new, and waits until the workflow has: it does while nothing is to be
 * looked at. Returns the id of its first execution.
 */
async function floodUntilContinued(handle: WorkflowHandle): Promise<string> {
  const { runId: first } = await handle.describe();
  for (let sent = 0; ; sent += 20) {
    const { runId, historyLength } = await handle.describe();
    if (runId !== first || historyLength > suggestedFrom) break;
    const ids = Array.from({ length: 20 }, (_, index) => idOf(sent + index));
    await Promise.all(ids.map((id) => handle.signal(changedName, { requestIds: [id] })));
  }
  await eventually('it continues as new', async () => (await handle.describe()).runId !== first);
  return first;
}

test('with requests that were sent, a message and reminders that wait, and a channel that thinks', async () => {
  const rule = (pattern: string, reviewer: string, boss: string) => {
    const ask = { reviewers: [reviewer], escalate: [{ after: '1s', to: [boss] }], timeout: '1h' };
    return { pattern, action: 'ask', ask };
  };
  const pay = (to: string) => ({ tool: 'pay', args: { to, amount: 1 } });
  // Messages wait as they do in quiet hours: the workflow has to continue meanwhile.
  const { played } = await inTime(9, async (seconds) => {
    const [hall, team] = [recordedChannel({ resolves: false }), recordedChannel({ resolves: false, batch: true })];
    const asks = thinker();
    await world?.close();
    world = await openWorld({
      address: server!.address,
      channels: { hall, team, asks },
      routes: { reviewers: { chief: ['hall', 'asks'], deputy: ['hall'], ann: ['team', 'asks'], boss: ['team'] } },
      batchMs: seconds * 1_000,
      policy: { version: 1, rules: [rule('wipe', 'chief', 'deputy'), rule('pay', 'ann', 'boss')] },
    });
    const run = await world.start([{ calls: [pay('ann'), pay('bob'), { tool: 'wipe', args: {} }] }, { text: 'done' }]);
    const handle = world.client.session.client.workflow.getHandle(channelsWorkflowId(run.workflowId));
    const requests = await run.open(3);
    await eventually('the channel thinks about all', () => asks.asked.length === 3);
    await eventually('the escalation is sent', () => hall.notified.length === 2);
    const first = await floodUntilContinued(handle);
    return { world, hall, team, asks, run, handle, requests, first, sent: team.notified.length };
  });
  const { hall, team, asks, run, handle, requests, first, sent } = played;
  expect(sent).toBe(0);
  const urgent = requests.find(({ toolName }) => toolName === 'wipe')!.requestId;
  const patient = requests.map(({ requestId }) => requestId).filter((id) => id !== urgent);

  await eventually('the channel is asked again', () => asks.asked.length === 6);
  await eventually('the old calls are stopped', () => asks.aborted.length === 3);
  await eventually('the rest is sent', () => team.notified.length === 3);
  const shown = ({ notified }: typeof team) =>
    notified.map(({ context: { step, requests: all } }) => [step.kind, all.length]);
  expect(shown(hall)).toEqual([
    ['asked', 1],
    ['escalated', 1],
  ]);
  expect(shown(team)).toEqual([
    ['asked', 2],
    ['escalated', 1],
    ['escalated', 1],
  ]);
  asks.answer(urgent, { approved: false, reviewerId: 'chief' });
  for (const requestId of patient) {
    await played.world.client.decide({ requestId, approved: true, reviewerId: 'boss' }, { workflowId: run.workflowId });
  }
  await run.result();
  await handle.result();
  const settled = (channel: typeof team) => channel.settlements.map(({ request }) => request.requestId);
  expect(settled(hall)).toEqual([urgent]);
  expect(settled(team).toSorted()).toEqual(patient.toSorted());
  expect(hall.settlements[0]!.context.sent).toEqual({ message: 2 });
  await eventually('the other calls are stopped', () => asks.aborted.length === 5);

  // What the suite does with the histories of its own server.
  const { workflow } = played.world.client.session.client;
  for (const runId of [first, undefined]) {
    const history = await workflow.getHandle(handle.workflowId, runId).fetchHistory();
    await Worker.runReplayHistory({ workflowBundle: { codePath: testBundle() } }, history, handle.workflowId);
  }
});
