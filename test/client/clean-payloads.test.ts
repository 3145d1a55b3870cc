import { randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../../src/agents/define-agent.ts';
import { defineTool } from '../../src/agents/define-tool.ts';
import { cleanPayloads } from '../../src/client/doctor/clean-payloads.ts';
import { openPayloadFolder } from '../../src/payload-folder/open-folder.ts';
import { keepFile, fileOf } from '../../src/payload-folder/payload-files.ts';
import { scriptedModel } from '../../src/models/scripted.ts';
import { makeOwnInbox } from '../support/own-inbox.ts';
import { type World, openWorld } from '../support/world.ts';

/** Payload files that no history references are removed; a waiting run keeps its files. */

const args = { body: randomBytes(150_000).toString('hex') };
const publish = defineTool({
  name: 'publish',
  description: 'Publishes a text.',
  input: z.object({ body: z.string() }),
  execute: ({ body }) => `published ${body.length}`,
});
const model = scriptedModel([{ calls: [{ tool: 'publish', args }] }, { text: '{{lastResult}}' }]);
const agents = [defineAgent({ name: 'publisher', instructions: '', model, tools: [publish] })];

const folder = mkdtempSync(join(tmpdir(), 'countersign-clean-'));
let namespace: string;
let files: string;
let world: World;
beforeAll(async () => {
  // Cleaning reads all histories of a namespace.
  namespace = await makeOwnInbox();
  files = join(folder, namespace);
  world = await openWorld({ namespace, agents, largePayloads: { folder } });
});
afterAll(async () => {
  await world.close();
  rmSync(folder, { recursive: true, force: true });
});

const hourMs = 3_600_000;
const all = (): string[] =>
  readdirSync(files, { recursive: true, withFileTypes: true }).flatMap((each) =>
    each.isFile() && each.name !== 'key' ? [join(each.parentPath, each.name)] : [],
  );
const age = (place: string, hours: number): void => {
  const then = new Date(Date.now() - hours * hourMs);
  utimesSync(place, then, then);
};

test('old unreferenced files are removed; referenced, recent and foreign files stay; a waiting run continues', async () => {
  const run = await world.start([], { agent: 'publisher', input: 'go' });
  const [request] = await run.open();
  const named = all();
  expect(named.length).toBeGreaterThan(0);
  const { path } = openPayloadFolder(folder, namespace);
  const [old, young] = await Promise.all(['old', 'young'].map((text) => keepFile(path, Buffer.from(text))));
  const unfinished = `${fileOf(path, old!)}.abc.unfinished`;
  writeFileSync(unfinished, 'half');
  writeFileSync(join(path, 'notes.txt'), 'not ours');
  for (const place of [...named, fileOf(path, old!), unfinished, join(path, 'notes.txt')]) age(place, 30);

  const session = world.client.session;
  await expect(cleanPayloads(session, { folder, dryRun: true })).resolves.toMatchObject({
    removed: 2,
    removedBytes: 7,
  });
  expect(all()).toContain(fileOf(path, old!));
  const cleaned = await cleanPayloads(session, { folder });
  expect(cleaned).toMatchObject({ removed: 2, removedBytes: 7, kept: named.length + 1 });
  expect(cleaned.runs).toBeGreaterThan(0);
  expect(all().sort()).toEqual([...named, fileOf(path, young!), join(path, 'notes.txt')].sort());

  await world.stopWorker();
  await world.startWorker();
  await run.handle.signal('decide', { requestId: request!.requestId, approved: true });
  expect((await run.result()).output).toBe('published 300000');
});

test('files of another namespace stay', async () => {
  const { path } = openPayloadFolder(folder, 'other');
  const name = await keepFile(path, Buffer.from(randomUUID()));
  age(fileOf(path, name), 30);
  await cleanPayloads(world.client.session, { folder });
  expect(readdirSync(join(path, name.slice(0, 2)))).toEqual([name]);
});

test.each([
  [{ folder, olderThanMs: 1_000 }, 'Payload files must be at least an hour old to be removed.'],
  [{}, 'No payload folder is named: give it with --folder or as COUNTERSIGN_PAYLOAD_FOLDER.'],
])('%j: %s', async (options, message) => {
  await expect(cleanPayloads(world.client.session, options)).rejects.toMatchObject({ code: 'internal', message });
});
