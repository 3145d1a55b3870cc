/** Runs the agent with its scripted model: docs/testing.md. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createClient, type CountersignClient } from 'countersign/client';
import { createWorker, type CountersignWorker } from 'countersign/worker';
import { layOutSampleFiles } from './sample-files.ts';

const taskQueue = 'tidy-tests';
const folder = join(mkdtempSync(join(tmpdir(), 'tidy-')), 'files');
let client: CountersignClient;
let worker: CountersignWorker;
let running: Promise<void>;

beforeAll(async () => {
  // The module reads it when it is loaded.
  process.env.TIDY_FOLDER = folder;
  const { default: options } = await import('./agent.ts');
  client = await createClient({ taskQueue });
  await client.setUp();
  worker = await createWorker({ ...options, taskQueue });
  running = worker.run();
});
beforeEach(async () => {
  rmSync(folder, { recursive: true, force: true });
  await layOutSampleFiles(folder);
});
afterAll(async () => {
  worker.shutdown();
  await running;
  await client.close();
  rmSync(join(folder, '..'), { recursive: true });
});

/** The request that a run waits for. */
async function openRequest(workflowId: string): Promise<string> {
  for await (const event of client.events(workflowId)) {
    if (event.type === 'ApprovalRequestEvent') return event.requestId;
  }
  throw new Error('The run ended without a request.');
}

test('it deletes the copy once a person has approved it', async () => {
  const run = await client.start('tidy', 'Tidy the folder.');
  const requestId = await openRequest(run.workflowId);
  expect(await client.approvals.get(requestId)).toMatchObject({
    toolName: 'delete_file',
    arguments: { path: 'report (copy).txt' },
  });
  expect(readdirSync(folder)).toContain('report (copy).txt');
  await client.decide({ requestId, approved: true, reviewerId: 'ann' });
  await run.result();
  expect(readdirSync(folder)).not.toContain('report (copy).txt');
});

test('it keeps what a person denies, and what the policy denies runs without being asked about', async () => {
  const run = await client.start('tidy', 'Tidy the folder.');
  const requestId = await openRequest(run.workflowId);
  await client.decide({ requestId, approved: false, reason: 'I need both.', reviewerId: 'ann' });
  expect((await run.result()).output).toContain('I need both.');
  expect(readdirSync(folder, { recursive: true })).toEqual(
    expect.arrayContaining(['report (copy).txt', 'photos/IMG_0412.jpg', 'cache/thumbnails.db']),
  );
});
