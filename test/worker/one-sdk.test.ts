import { spawnSync } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { copySdk } from './second-sdk-copy.ts';

/** A project with a copy of Temporal's client, worker and workflow packages of its own. */

const root = join(import.meta.dirname, '..', '..');
const ours = join(root, 'node_modules');
const project = realpathSync(mkdtempSync(join(tmpdir(), 'countersign-two-copies-')));
const theirs = join(project, 'node_modules');

beforeAll(() => copySdk(project, ['client', 'workflow']));
afterAll(() => rmSync(project, { recursive: true, force: true }));

function run(script: string): string {
  const file = join(project, 'script.mjs');
  writeFileSync(file, script.replaceAll('countersign/', `${join(root, 'src')}/`));
  return spawnSync(process.execPath, [file], { encoding: 'utf8' }).stderr;
}

const sentence = (name: string): string => {
  const [first, second] = [ours, theirs].map((folder) => `${join(folder, '@temporalio', name)} (1.24.0)`);
  return `There are two copies of @temporalio/${name}, ${first} and ${second}: install all @temporalio packages once and in one version; \`npm ls @temporalio/${name}\` shows which package brings which copy.`;
};

test('a client of another copy is refused', () => {
  expect(
    run(`
      import { CountersignClientPlugin } from 'countersign/client.ts';
      import { Client, Connection } from '@temporalio/client';
      new Client({ connection: Connection.lazy(), plugins: [new CountersignClientPlugin()] });`),
  ).toContain(sentence('client'));
});

test('workflows that import another copy are not bundled', () => {
  writeFileSync(join(project, 'workflows.js'), "export * from '@temporalio/workflow';");
  expect(
    run(`
      import { CountersignPlugin } from 'countersign/worker.ts';
      new CountersignPlugin().configureBundler({ workflowsPath: ${JSON.stringify(join(project, 'workflows.js'))} });`),
  ).toContain(sentence('workflow'));
});
