import { exec } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeNamespace } from '../../support/make-namespace.ts';
import { commandsOf } from '../../support/page-commands.ts';
import { makeOutsideProject, pack } from './outside-project.ts';
import { sharedAddress } from '../../support/shared-server.ts';

/**
 * The tests that stand beside the examples, as users write them: Jest runs them in a project that has installed the packed
 * packages. The command is the one of `docs/testing.md`. `npm run test:examples`.
 */

const root = join(import.meta.dirname, '..', '..', '..');
let project: string;

beforeAll(async () => {
  project = makeOutsideProject(await pack(), undefined);
  cpSync(join(root, 'examples'), join(project, 'examples'), { recursive: true });
  // As npm installs it.
  mkdirSync(join(project, 'node_modules', '.bin'));
  symlinkSync(join('..', 'jest', 'bin', 'jest.js'), join(project, 'node_modules', '.bin', 'jest'));
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

interface Report {
  numPassedTests: number;
  testResults: { name: string; status: string; message: string }[];
}

test('the tests of the examples pass under Jest', async () => {
  const { line } = commandsOf('docs/testing.md').find((each) => each.line.includes('npx jest'))!;
  const namespace = `jest-${randomUUID()}`;
  await makeNamespace(namespace);
  const env = { ...process.env, NODE_ENV: 'test', TEMPORAL_ADDRESS: sharedAddress(), TEMPORAL_NAMESPACE: namespace };
  const report = join(project, 'report.json');
  const ended = Promise.withResolvers<string>();
  exec(`${line} --json --outputFile report.json`, { cwd: project, env }, (error, _stdout, stderr) =>
    ended.resolve(error === null ? '' : stderr),
  );
  expect(await ended.promise).toBe('');
  const { numPassedTests, testResults } = JSON.parse(readFileSync(report, 'utf8')) as Report;
  const passed = testResults.map(({ name, status }) => `${status} ${name.split('/examples/')[1]}`);
  expect(passed.toSorted()).toEqual([
    'passed channels/function.test.ts',
    'passed order/order.test.ts',
    'passed tidy/tidy.test.ts',
  ]);
  expect(numPassedTests).toBe(6);
});
