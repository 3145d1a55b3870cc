/** `preview` of a tool on real runs: what a waiting call would change, in an activity of its own. */
import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { z } from 'zod';
import { defineAgent } from '../../../src/agents/define-agent.ts';
import { defineTool } from '../../../src/agents/define-tool.ts';
import type { PreviewContext } from '../../../src/agents/definitions.ts';
import type { ApprovalDetails, CallPreview, Receipt } from '../../../src/contract.ts';
import { forAllTests } from '../../support/for-all-tests.ts';
import { eventually, holds } from '../../support/eventually.ts';
import type { HistoryEvent } from '../replay/history-tasks.ts';
import { placementsOf, replayPlacements } from '../replay/placements.ts';
import { promptScripted } from '../../support/prompt-scripted.ts';
import { openWorld, testBundle, type Calls, type RunInTest } from '../../support/world.ts';

const world = forAllTests(() => openWorld({ continueAsNewAfter: { historyEvents: 60 }, agentsIn }));

const change = (path: string, content: string) => ({ kind: 'text' as const, name: path, before: null, after: content });
const kept: PreviewContext[] = [];

function agentsIn(folder: string) {
  const note = (line: string): void => appendFileSync(join(folder, 'ran.log'), `${line}\n`);
  const write = defineTool({
    name: 'write_file',
    description: 'Writes a file.',
    input: z.object({ path: z.string(), content: z.string() }),
    preview: async ({ path, content }, context) => {
      note(`preview ${path} ${content}`);
      kept.push(context);
      if (path.startsWith('held')) await holds(() => existsSync(join(folder, `release-${path}`)), context.signal);
      return [change(path, content)];
    },
    execute: ({ path, content }) => {
      note(`write ${path} ${content}`);
      return `wrote ${path}`;
    },
  });
  const odd = (name: string, previewTimeoutMs: number) =>
    defineTool({
      name,
      description: 'Has a preview that does not work.',
      input: z.object({ how: z.enum(['throws', 'lies', 'hangs', 'blows up']) }),
      preview: ({ how }) => {
        if (how === 'throws') throw new Error('the disk is on fire');
        if (how === 'hangs') return new Promise(() => {});
        if (how === 'blows up') return [change('a', '\n'.repeat(200_000)), change('b', 'small')];
        return { change: [] } as never;
      },
      previewTimeoutMs,
      execute: ({ how }) => `did ${how}`,
    });
  const plain = defineTool({
    name: 'plain',
    description: 'Has no preview.',
    input: z.object({}),
    execute: () => 'done',
  });
  const tools = [write, odd('odd', 10_000), odd('hasty', 300), plain];
  return [defineAgent({ name: 'tester', instructions: 'Play.', model: promptScripted(), tools })];
}

const start = (calls: Calls, policy?: object): Promise<RunInTest> =>
  world.start([{ calls }, { text: '{{lastResult}}' }], { policy: policy as never });
const write = (path: string, content = 'new'): Calls[number] => ({ tool: 'write_file', args: { path, content } });
const details = (run: RunInTest, requestId: string): Promise<ApprovalDetails> =>
  run.handle.query('approvals', { requestId });
const finished = (run: RunInTest, requestId: string): Promise<CallPreview> =>
  eventually('the preview is finished', async () => {
    const { preview } = await details(run, requestId);
    return preview?.state !== 'pending' && preview;
  });
const decide = (run: RunInTest, decision: object): Promise<Receipt> =>
  run.handle.executeUpdate<Receipt, [unknown]>('decide', { args: [decision] });
const release = (path: string): void => writeFileSync(join(world.folder, `release-${path}`), '');
const lines = (start: string): string[] => world.ran().filter((line) => line.startsWith(start));
async function activities(run: RunInTest): Promise<string[]> {
  const { executions } = await world.client.historyChain(run.workflowId);
  return executions.flatMap(({ events }) =>
    events.flatMap(({ activityTaskScheduledEventAttributes: each }) => each?.activityType?.name ?? []),
  );
}
const previews = async (run: RunInTest): Promise<number> =>
  (await activities(run)).filter((name) => name === 'countersign.preview').length;

test('the request opens at once, the preview follows, and one activity makes it', async () => {
  const run = await start([write('held-1')]);
  const [request] = await run.open();
  const { requestId } = request!;
  expect(request).not.toHaveProperty('preview');
  expect(await details(run, requestId)).toMatchObject({
    preview: { state: 'pending' },
    schema: { properties: { path: { type: 'string' } }, required: ['path', 'content'] },
  });
  release('held-1');
  expect(await finished(run, requestId)).toEqual({ state: 'ready', changes: [change('held-1', 'new')] });
  expect(kept.at(-1)).toMatchObject({ agent: 'tester', workflowId: run.workflowId });
  expect(lines('write held-1')).toEqual([]);
  await decide(run, { requestId, approved: true });
  expect((await run.result()).output).toBe('wrote held-1');
  expect(await details(run, requestId)).not.toHaveProperty('preview');
  expect(await activities(run)).toEqual([
    'countersign.loadAgent',
    'countersign.callModel',
    'countersign.preview',
    'write_file',
    'countersign.callModel',
  ]);
  expect(lines('preview held-1')).toHaveLength(1);
});

test('a decision does not wait for a preview, which then changes nothing', async () => {
  const run = await start([write('held-2')]);
  const [request] = await run.open();
  await eventually('the preview runs', () => lines('preview held-2').length === 1);
  await decide(run, { requestId: request!.requestId, approved: true });
  expect((await run.result()).output).toBe('wrote held-2');
  release('held-2');
});

test('no preview for a call that nobody is asked about, nor for a tool without one', async () => {
  const allowed = await start([write('allowed')], { rules: [{ pattern: 'write_file', action: 'allow' }] });
  await allowed.result();
  const plain = await start([{ tool: 'plain', args: {} }]);
  const [request] = await plain.open();
  expect(await details(plain, request!.requestId)).not.toHaveProperty('preview');
  await decide(plain, { requestId: request!.requestId, approved: false });
  await plain.result();
  expect([await previews(allowed), await previews(plain)]).toEqual([0, 0]);
  expect(lines('preview allowed')).toEqual([]);
});

test('no preview where the policy hides arguments', async () => {
  const run = await start([write('hidden')], { rules: [], approval: { include_arguments: false } });
  const [request] = await run.open();
  await decide(run, { requestId: request!.requestId, approved: false });
  await run.result();
  expect(await previews(run)).toBe(0);
});

test('a policy that hides arguments later hides the preview', async () => {
  const run = await start([write('later')]);
  const [request] = await run.open();
  const { requestId } = request!;
  await finished(run, requestId);
  const policy = { rules: [], approval: { include_arguments: false } };
  await run.handle.executeUpdate('setPolicy', { args: [{ policy }] });
  expect(await details(run, requestId)).toMatchObject({ shown: 'part' });
  expect(await details(run, requestId)).not.toHaveProperty('preview');
  await run.handle.terminate();
});

test.each<[string, object]>([
  ['throws', { state: 'failed', message: 'the disk is on fire' }],
  ['lies', { state: 'failed', message: 'expected a list of changes, not an object' }],
  ['hangs', { state: 'failed', message: 'it took longer than 300 ms' }],
  [
    'blows up',
    {
      state: 'ready',
      changes: [change('b', 'small')],
      cut: "Not shown, because a preview has at most 64000 bytes: 'a', 400051 bytes.",
    },
  ],
])('a preview that %s is shown as such, and denies nothing', async (how, preview) => {
  const run = await start([{ tool: how === 'hangs' ? 'hasty' : 'odd', args: { how } }]);
  const [request] = await run.open();
  const { requestId } = request!;
  expect(await finished(run, requestId)).toEqual(preview);
  await decide(run, { requestId, approved: true });
  expect((await run.result()).output).toBe(`did ${how}`);
  expect(await previews(run)).toBe(1);
});

test('an edit that asks again has a preview of its own', async () => {
  const policy = {
    rules: [
      { pattern: 'write_file', action: 'ask', ask: { reviewers: ['ann', 'cfo'] } },
      { pattern: 'write_file', when: "args.path == 'secret'", action: 'ask', ask: { reviewers: ['cfo'] } },
    ],
  };
  const run = await start([write('edited')], policy);
  const [request] = await run.open();
  const { requestId } = request!;
  await finished(run, requestId);
  const modifiedArguments = { path: 'secret', content: 'other' };
  const { successor } = await decide(run, { requestId, approved: true, reviewerId: 'ann', modifiedArguments });
  expect(await finished(run, successor!)).toEqual({ state: 'ready', changes: [change('secret', 'other')] });
  await decide(run, { requestId: successor, approved: true, reviewerId: 'cfo' });
  expect((await run.result()).output).toContain('wrote secret');
  expect(await previews(run)).toBe(2);
});

test('a worker that stops leaves the preview to the next one', async () => {
  const run = await start([write('held-6')]);
  const [request] = await run.open();
  await eventually('the preview runs', () => lines('preview held-6').length === 1);
  await world.stopWorker();
  await world.startWorker();
  await eventually('it runs again', () => lines('preview held-6').length === 2);
  release('held-6');
  expect(await finished(run, request!.requestId)).toEqual({ state: 'ready', changes: [change('held-6', 'new')] });
  expect(await previews(run)).toBe(1);
  await run.handle.terminate();
});

test.each<[string, unknown, string]>([
  ['nothing', null, 'its activity gave no preview'],
  ['a text', 'fine', 'its activity gave no preview'],
  ['a preview without changes', { state: 'ready' }, 'its activity gave no preview'],
  ['a change without a kind', { state: 'ready', changes: [{ name: 'x' }] }, 'its activity gave no preview'],
  ['a failure without a message', { state: 'failed' }, 'its activity gave no preview'],
  ['a pending preview', { state: 'pending' }, 'its activity gave no preview'],
])('an operator who completes the activity with %s stops nothing', async (_, forged, message) => {
  const path = `held-forged-${randomUUID()}`;
  const run = await start([write(path)]);
  const [request] = await run.open();
  const { requestId } = request!;
  await eventually('the preview runs', () => lines(`preview ${path}`).length === 1);
  const { raw } = await run.handle.describe();
  const { activityId } = raw.pendingActivities!.find(
    ({ activityType }) => activityType!.name === 'countersign.preview',
  )!;
  const { client } = world.client.session;
  await client.activity.complete({ workflowId: run.workflowId, activityId: activityId! }, forged);
  expect(await finished(run, requestId)).toEqual({ state: 'failed', message });
  release(path);
  await decide(run, { requestId, approved: true });
  expect((await run.result()).output).toBe(`wrote ${path}`);
});

test('the end of a preview affects no command: the history replays with other empty tasks', async () => {
  const run = await start([write('held-4'), write('held-5'), write('soon')]);
  const requests = await run.open(3);
  const [first, second, third] = requests.map(({ requestId }) => requestId) as [string, string, string];
  await finished(run, third);
  await run.handle.signal('noise');
  await decide(run, { requestId: first, approved: true });
  release('held-4');
  release('held-5');
  await finished(run, second);
  const policy = { rules: [{ pattern: 'write_file', action: 'allow' }] };
  await run.handle.executeUpdate('setPolicy', { args: [{ policy }] });
  await run.result();
  const { events } = JSON.parse(historyToJSON(await run.handle.fetchHistory())) as { events: HistoryEvent[] };
  const placements = placementsOf(events, [1, 2, 3]);
  expect(placements.length).toBeGreaterThan(4);
  expect(await replayPlacements({ codePath: testBundle() }, placements)).toEqual(new Map());
});

describe('continue-as-new', () => {
  const continued = (run: RunInTest): Promise<unknown> =>
    eventually('the run continues as new', async () => {
      await run.handle.signal('noise');
      return (await run.status()).executions >= 2;
    });

  test('carries a finished preview, and asks again for a pending one', async () => {
    const run = await start([write('carried'), write('held-3')]);
    const requests = await run.open(2);
    const [done, pending] = requests.map(({ requestId }) => requestId) as [string, string];
    const preview = { state: 'ready', changes: [change('carried', 'new')] };
    expect(await finished(run, done)).toEqual(preview);
    await eventually('the other preview runs', () => lines('preview held-3').length === 1);
    await continued(run);
    expect(await details(run, done)).toMatchObject({ preview, schema: { type: 'object' } });
    expect(await details(run, pending)).toMatchObject({ preview: { state: 'pending' } });
    await eventually('it runs again', () => lines('preview held-3').length >= 2);
    release('held-3');
    expect(await finished(run, pending)).toMatchObject({ state: 'ready' });
    expect(lines('preview carried')).toHaveLength(1);
    for (const { requestId } of requests) await decide(run, { requestId, approved: true });
    expect((await run.result()).outcomes.map(({ outcome, ran }) => `${outcome} ${ran}`)).toEqual([
      'approved yes',
      'approved yes',
    ]);
  });
});
