import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import {
  appendFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import workerPackage from '@temporalio/worker/package.json' with { type: 'json' };
import { createClient } from '../../../src/client/client.ts';
import { encrypted } from '../../../src/codec.ts';
import { makeNamespace } from '../../support/make-namespace.ts';
import { type Tarballs, makeOutsideProject, pack } from './outside-project.ts';
import { eventually } from '../../support/eventually.ts';
import { killAll, spawnReady } from '../../support/ready-process.ts';
import { sharedAddress } from '../../support/shared-server.ts';

/**
 * A project outside the repository that installed the packed packages: `test/fixtures/outside-project`. With
 * COUNTERSIGN_TEST_SDK it runs on that version of Temporal's packages: `npm run test:lowest-sdk`.
 */

const root = join(import.meta.dirname, '..', '..', '..');
const typescript = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
/** The version of the SDK in the bundles of the package, and the one in the project. */
const bundledSdk = workerPackage.version;
const projectSdk = process.env.COUNTERSIGN_TEST_SDK ?? bundledSdk;
let tarballs: Tarballs;
let project: string;
let env: NodeJS.ProcessEnv;

const inDist = (...path: string[]): string => join(project, 'node_modules', 'countersign', 'dist', ...path);
const cli = (): string => join(project, 'node_modules', '@countersign', 'cli', 'dist', 'main.js');

beforeAll(async () => {
  tarballs = await pack();
  project = makeOutsideProject(tarballs, process.env.COUNTERSIGN_TEST_SDK);
  const id = `outside-${randomUUID()}`;
  // A namespace of its own: clients without its codecs cannot read its requests, and other tests list all requests.
  await makeNamespace(id);
  const client = await createClient({ address: sharedAddress(), namespace: id });
  await client.setUp();
  await client.close();
  env = { ...process.env, TEMPORAL_ADDRESS: sharedAddress(), TEMPORAL_NAMESPACE: id, TASK_QUEUE: id, WORKFLOW_ID: id };
});
afterAll(async () => {
  await killAll();
  rmSync(project, { recursive: true, force: true });
});

test('the tarballs have compiled code, pages, the API and examples, without sources, source maps and decisions', () => {
  const files = Object.values(tarballs).flatMap((tarball) => tarball.files);
  const left = /^(src|test|docs\/(images|decisions)|dist\/demo)\/|\.map$/;
  expect(files.filter((file) => left.test(file))).toEqual([]);
  const { countersign, '@countersign/gateway': gateway, '@countersign/cli': command } = tarballs;
  expect(countersign.files).toContain('docs/api.md');
  expect(countersign.files.length).toBeLessThan(1_600);
  // 700,000 of them are the two workflow bundles.
  expect(countersign.size).toBeLessThan(1_850_000);
  // A clone builds Temporal's server, if it must; no package does.
  expect(files.filter((file) => /(^|\/)go\.(mod|sum)$/.test(file))).toEqual([]);
  // The inbox is in the gateway.
  expect(gateway.files).toContain('dist/inbox/index.html');
  expect(gateway.size).toBeLessThan(250_000);
  expect(command.size).toBeLessThan(200_000);
});

test('every link of its README leads to a file in it; pictures are in the repository only', () => {
  const readme = readFileSync(join(project, 'node_modules', 'countersign', 'README.md'), 'utf8');
  const links = [...readme.matchAll(/(?<!!\[[^\]]*)\]\((?!https?:)([^)#]+)/g)].map(([, path]) => path!);
  expect(links.length).toBeGreaterThan(8);
  expect(links.filter((path) => !tarballs.countersign.files.includes(path))).toEqual([]);
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
  const code = `import 'countersign/channels'; import '@countersign/gateway'; console.log('loaded');`;
  const run = spawnSync(process.execPath, ['--input-type=module', '--eval', code], { cwd: project, encoding: 'utf8' });
  expect([run.stderr, run.stdout]).toEqual(['', 'loaded\n']);
});

test('without its packages, a gateway with Slack says what to install', () => {
  const code = `
    import { slackAppOf, slackChannel } from 'countersign/channels';
    const common = { name: 'team', token: 'xoxb-1', channel: 'C0001', gatewayUrl: 'https://approvals.example.com' };
    try {
      slackAppOf({ team: slackChannel({ ...common, appToken: 'xapp-1' }) });
    } catch (error) {
      console.log(error.message);
    }
  `;
  const run = spawnSync(process.execPath, ['--input-type=module', '--eval', code], { cwd: project, encoding: 'utf8' });
  expect([run.stderr, run.stdout]).toEqual([
    '',
    "Slack needs the package '@slack/web-api': install it beside countersign with `npm install @slack/web-api`.\n",
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

test.runIf(projectSdk === bundledSdk)(
  'the bundles of the package have the code of those that the project makes',
  () => {
    const code = `
    import { encrypted } from 'countersign/codec';
    import { bundleWorkflows } from 'countersign/worker';
    const plain = await bundleWorkflows();
    const other = await bundleWorkflows(undefined, [], encrypted());
    process.stdout.write(JSON.stringify([plain.code, other.code]));
  `;
    const options = { cwd: project, env, encoding: 'utf8', maxBuffer: 20_000_000 } as const;
    const made = JSON.parse(
      execFileSync(process.execPath, ['--input-type=module', '--eval', code], options),
    ) as string[];
    const packaged = ['workflow-bundle.js', 'workflow-bundle-encrypted.js'].map((file) =>
      readFileSync(inDist(file), 'utf8'),
    );
    expect(packaged.map(modulesOf)).toEqual(made.map(modulesOf));
  },
);

test.runIf(projectSdk === bundledSdk)(
  'a build in another folder gives the bundles of the package, byte for byte',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'countersign another folder '));
    try {
      const made = layOutBuild(folder);
      rmSync(join(made, 'workflow-bundle.js'));
      rmSync(join(made, 'workflow-bundle-encrypted.js'));
      execFileSync(process.execPath, [join(made, 'worker', 'write-package-bundles.js')], { cwd: folder });
      for (const file of ['workflow-bundle.js', 'workflow-bundle-encrypted.js']) {
        const [here, there] = [made, inDist()].map((dist) => readFileSync(join(dist, file), 'utf8'));
        // A difference of megabytes takes minutes to print.
        expect([file, here === there]).toEqual([file, true]);
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

/**
 * The folders in which `npm run build` bundles. What a bundle may name is copied, other packages are links: Node and the
 * bundler see a link as the folder that it leads to.
 */
function layOutBuild(folder: string): string {
  const [modules, here] = [join(root, 'node_modules'), join(folder, 'node_modules')];
  const bundled = readFileSync(inDist('workflow-bundle.js'), 'utf8').matchAll(
    /^\/\*{3}\/ "((?:@[^/"]+\/)?[^./"][^/"]*)\//gm,
  );
  const named = new Set([...bundled].map(([, name]) => name!));
  // The order of modules depends on where their loaders are.
  for (const loader of ['source-map-loader', 'swc-loader']) named.add(loader);
  const isCopied = (name: string): boolean =>
    named.has(name) || (name.startsWith('@temporalio/') && name !== '@temporalio/core-bridge');
  const tops = readdirSync(modules).filter((name) => !/^[.]|^countersign$|^@countersign$/.test(name));
  for (const name of tops.flatMap((top) => (top[0] === '@' ? scoped(modules, top) : [top]))) {
    mkdirSync(dirname(join(here, name)), { recursive: true });
    if (isCopied(name)) cpSync(join(modules, name), join(here, name), { recursive: true });
    else symlinkSync(join(modules, name), join(here, name));
  }
  cpSync(join(project, 'node_modules', 'countersign'), join(folder, 'dist', 'countersign'), { recursive: true });
  return join(folder, 'dist', 'countersign', 'dist');
}

function scoped(modules: string, scope: string): string[] {
  return readdirSync(join(modules, scope)).map((name) => `${scope}/${name}`);
}

test('nothing that is packed names the folder in which it was built', () => {
  const packages = Object.keys(tarballs).map((name) => join(project, 'node_modules', name));
  const paths = packages.flatMap((path) => globSync('**/*', { cwd: path, withFileTypes: true }));
  const files = paths.filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name));
  // A source map is in base64.
  const decoded = (text: string): string =>
    text.replaceAll(/(?<=;base64,)[A-Za-z0-9+/=]+/g, (data) => Buffer.from(data, 'base64').toString());
  const naming = files.filter((file) => decoded(readFileSync(file, 'latin1')).includes(root));
  expect(naming).toEqual([]);
  expect(files.length).toBeGreaterThan(500);
});

// B5
test.each(['workflow-bundle.js', 'workflow-bundle-encrypted.js'])(
  '%s is at most 2.5 MB, including its source map',
  (file) => {
    const { size } = statSync(inDist(file));
    process.stderr.write(`${file}: ${size} bytes\n`);
    expect(size).toBeGreaterThan(1_000_000);
    expect(size).toBeLessThanOrEqual(2_500_000);
  },
);

/** The text of each module of a bundle, and of what starts them. In another folder, ours have other paths, and all another order. */
function modulesOf(code: string): string[] {
  const [withoutMap] = code.replace(/^\/\* .*? \*\/ /, '').split('//# sourceMappingURL=');
  const atHome = withoutMap!.replaceAll(/"[^"\s]*\/(dist\/[^"]+)"/g, '"$1"');
  const modules = atHome.split(/^(?=\/\*\*\*\/ ")/m);
  expect(modules.length).toBeGreaterThan(300);
  return modules.toSorted();
}

test('a worker without workflows of its own runs the bundle of the package, if it is for the SDK of the project', async () => {
  const taskQueue = `bundled-${randomUUID()}`;
  const worker = spawn(process.execPath, [cli(), 'worker', '--task-queue', taskQueue], { cwd: project, env });
  let log = '';
  worker.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()));
  const client = await createClient({
    address: sharedAddress(),
    namespace: env.TEMPORAL_NAMESPACE,
    taskQueue,
    dataConverter: encrypted(),
  });
  try {
    const { workflowId } = await client.start('clerk', 'Pay o-18 back.');
    await eventually('the run asks', async () => (await client.approvals.list({ workflowId })).approvals.length === 1);
    const { events } = await client.session.client.workflow.getHandle(workflowId).fetchHistory();
    const [buildId] = events!.flatMap(
      (each) => each.workflowTaskCompletedEventAttributes?.workerVersion?.buildId ?? [],
    );
    const digest = createHash('sha256')
      .update(readFileSync(inDist('workflow-bundle-encrypted.js')))
      .digest('hex');
    const packaged = `@temporalio/worker@${projectSdk}+${digest}`;
    const refusal = `The workflow bundle of this package is not used: it is for Temporal's SDK ${bundledSdk}, and ${projectSdk} is installed. The worker bundles its own.`;
    expect(buildId === packaged).toBe(projectSdk === bundledSdk);
    expect(log.includes(refusal)).toBe(projectSdk !== bundledSdk);
  } finally {
    worker.kill('SIGKILL');
    await client.close();
  }
});

/** What the project's copy of the package answers for a worker without workflows of its own. */
function packageBundle(): string[] {
  const code = `
    import { packageBundle } from ${JSON.stringify(inDist('worker', 'package-bundle.js'))};
    const said = [];
    const path = packageBundle('plain', (sentence) => said.push(sentence));
    console.log(JSON.stringify([...said, ...(path === undefined ? [] : [path])]));
  `;
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', code], { encoding: 'utf8' });
  return JSON.parse(output) as string[];
}

test.runIf(projectSdk === bundledSdk)('a bundle of other modules or of another SDK is refused', () => {
  const bundle = inDist('workflow-bundle.js');
  expect(packageBundle()).toEqual([bundle]);
  appendFileSync(inDist('core', 'policy', 'ruling.js'), '\n');
  expect(packageBundle()).toEqual([
    'The workflow bundle of this package is not used: modules of the package have changed since it was made. The worker bundles its own.',
  ]);
  writeFileSync(bundle, readFileSync(bundle, 'utf8').replace(`"sdk":"${bundledSdk}"`, '"sdk":"1.0.0"'));
  expect(packageBundle()).toEqual([
    `The workflow bundle of this package is not used: it is for Temporal's SDK 1.0.0, and ${bundledSdk} is installed. The worker bundles its own.`,
  ]);
});
