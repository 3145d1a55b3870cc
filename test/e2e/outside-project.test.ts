import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient } from '../../src/client/client.ts';
import { makeNamespace } from '../support/make-namespace.ts';
import { type Tarball, makeOutsideProject, pack } from '../support/outside-project.ts';
import { killAll, spawnReady } from '../support/ready-process.ts';
import { sharedAddress } from '../support/shared-server.ts';

/**
 * A project outside the repository that installed the packed package: `test/fixtures/outside-project`. With
 * COUNTERSIGN_TEST_SDK it runs on that version of Temporal's packages: `npm run test:lowest-sdk`.
 */

const typescript = join(import.meta.dirname, '..', '..', 'node_modules', 'typescript', 'bin', 'tsc');
const folder = mkdtempSync(join(tmpdir(), 'countersign-packed-'));
let tarball: Tarball;
let project: string;
let env: NodeJS.ProcessEnv;

const cli = (): string => join(project, 'node_modules', 'countersign', 'dist', 'adapters', 'cli', 'main.js');

beforeAll(async () => {
  tarball = pack(folder);
  project = makeOutsideProject(tarball.path, process.env.COUNTERSIGN_TEST_SDK);
  const id = `outside-${randomUUID()}`;
  // A namespace of its own: clients without its codecs cannot read its requests, and other tests list all requests.
  await makeNamespace(id);
  const client = await createClient({ address: sharedAddress(), namespace: id, connectTimeoutMs: 30_000 });
  await client.setUp();
  await client.close();
  env = { ...process.env, TEMPORAL_ADDRESS: sharedAddress(), TEMPORAL_NAMESPACE: id, TASK_QUEUE: id, WORKFLOW_ID: id };
});
afterAll(async () => {
  await killAll();
  for (const each of [folder, project]) rmSync(each, { recursive: true, force: true });
});

test('the tarball has the compiled code, the pages and the examples, without sources and source maps', () => {
  const { files, size } = tarball;
  expect(files.filter((file) => /^(src|test|docs\/images|dist\/demo)\/|\.map$/.test(file))).toEqual([]);
  expect(files.length).toBeLessThan(1_900);
  expect(size).toBeLessThan(1_400_000);
});

test('every link of its README leads to a file in it; pictures are in the repository only', () => {
  const readme = readFileSync(join(project, 'node_modules', 'countersign', 'README.md'), 'utf8');
  const links = [...readme.matchAll(/(?<!!\[[^\]]*)\]\((?!https?:)([^)#]+)/g)].map(([, path]) => path!);
  expect(links.length).toBeGreaterThan(8);
  expect(links.filter((path) => !tarball.files.includes(path))).toEqual([]);
});

test.each(['20.20.2', '22.20.0'])(
  'under Node %s the command line and an import say which Node they need',
  (version) => {
    const pretend = `data:text/javascript,Object.defineProperty(process,'versions',{value:{...process.versions,node:'${version}'}})`;
    const node = (...args: string[]): string =>
      spawnSync(process.execPath, ['--import', pretend, ...args], { cwd: project, encoding: 'utf8' }).stderr;
    const sentence = `Countersign needs Node 22.21 or newer; this is Node ${version} (${process.execPath}).`;
    expect(node(cli(), 'approvals')).toBe(`error: ${sentence}\n`);
    for (const entry of ['client', 'worker']) {
      expect(node('--input-type=module', '--eval', `import 'countersign/${entry}'`)).toContain(`Error: ${sentence}\n`);
    }
  },
);

test('channels and gateway load without the packages of Slack, mail and web push, which are optional', () => {
  for (const name of ['@slack', 'nodemailer', 'web-push']) {
    expect(existsSync(join(project, 'node_modules', name))).toBe(false);
  }
  const code = `import 'countersign/channels'; import 'countersign/gateway'; console.log('loaded');`;
  const run = spawnSync(process.execPath, ['--input-type=module', '--eval', code], { cwd: project, encoding: 'utf8' });
  expect([run.stderr, run.stdout]).toEqual(['', 'loaded\n']);
});

test('without its package, Socket Mode says what to install', () => {
  const code = `
    import { slackAppOf, slackChannel } from 'countersign/channels';
    const common = { name: 'team', token: 'xoxb-1', channel: 'C0001', gatewayUrl: 'https://approvals.example.com' };
    const app = slackAppOf({ team: slackChannel({ ...common, appToken: 'xapp-1' }) });
    const connection = app.connect({ log: (line) => { console.log(line); void connection.close(); } });
  `;
  const run = spawnSync(process.execPath, ['--input-type=module', '--eval', code], { cwd: project, encoding: 'utf8' });
  expect([run.stderr, run.stdout]).toEqual([
    '',
    "Slack's Socket Mode is not connected, for team: Slack's Socket Mode needs the package @slack/socket-mode: install it with npm install @slack/socket-mode.\n",
  ]);
});

test('its TypeScript compiles with `module: nodenext`, ESM and CommonJS', () => {
  execFileSync(process.execPath, [typescript, '-p', project], { stdio: 'inherit' });
});

test('a call of a workflow and one of an agent wait, a reviewer approves them on the command line, and they run', async () => {
  await spawnReady('the worker', join(project, 'worker.ts'), { env: env as Record<string, string> });
  // CommonJS
  const client = spawn(process.execPath, ['refund.cts'], { cwd: project, env, stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface({ input: client.stdout })[Symbol.asyncIterator]();
  for (const result of ['refunded o-17', 'The tool says: paid back o-18']) {
    const { value: requestId } = (await lines.next()) as { value: string };
    await promisify(execFile)(process.execPath, [cli(), 'approve', requestId], { cwd: project, env });
    expect((await lines.next()).value).toBe(result);
  }
});
