import { execFile } from 'node:child_process';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createWorker } from '../../../src/worker.ts';
import { eventually } from '../../support/eventually.ts';
import { makeOwnInbox } from '../../support/own-inbox.ts';
import { sharedAddress } from '../../support/shared-server.ts';
import { temporal } from '../../support/temporal-cli.ts';
import { testAgent } from '../../support/test-agent.ts';
import { once, pay } from '../../support/team.ts';
import { openWorld, type RunInTest, testBundle, testCache, type World } from '../../support/world.ts';

/** Runs that are pinned to a Worker Deployment Version, with workers of two versions on a real server. */

const deploymentName = 'agents';
let namespace: string;
let world: World;
beforeAll(async () => {
  namespace = await makeOwnInbox();
  world = await openWorld({ namespace, worker: false });
  Object.assign(world.client.session.limits, { receiptTimeoutMs: 60_000, queryTimeoutMs: 60_000 });
});
afterAll(() => world.close());

const living = new Map<string, () => Promise<void>>();
afterEach(async () => {
  for (const buildId of living.keys()) await stop(buildId);
});

async function start(buildId: string): Promise<void> {
  const worker = await createWorker({
    address: sharedAddress(),
    namespace,
    taskQueue: world.taskQueue,
    agents: [testAgent(world.folder)],
    workflowBundle: { codePath: testBundle() },
    workerDeploymentOptions: {
      useWorkerVersioning: true,
      version: { deploymentName, buildId },
      defaultVersioningBehavior: 'PINNED',
    },
    continueAsNewAfter: { historyEvents: 40 },
    shutdownGraceTime: 500,
    logLevel: 'ERROR',
    ...testCache(),
  });
  const ended = worker.run();
  living.set(buildId, async () => {
    worker.shutdown();
    await ended;
  });
}

async function stop(buildId: string): Promise<void> {
  await living.get(buildId)!();
  living.delete(buildId);
}

/** Starts a worker of a version, and makes the version current. */
async function deploy(buildId: string): Promise<void> {
  await start(buildId);
  const version = ['--deployment-name', deploymentName, '--build-id', buildId];
  await eventually(`${buildId} is current`, async () => {
    const words = ['worker', 'deployment', 'set-current-version', ...version, '--namespace', namespace, '--yes'];
    return (await temporal(words)).exitCode === 0;
  });
}

/** The version that has done the run's last task. */
async function versionOf({ handle }: RunInTest): Promise<string | undefined> {
  const { raw } = await handle.describe();
  return raw.workflowExecutionInfo?.versioningInfo?.deploymentVersion?.buildId ?? undefined;
}

const say = (run: RunInTest, turn: number) =>
  run.handle.signal('message', { content: `question ${turn}`, messageId: `m-${turn}` });
const turns = Array.from({ length: 100 }, (_, index) => ({ text: `answer ${index + 1}` }));

test('a session leaves its version after the next turn, and a run that continues as new leaves it, too', async () => {
  await deploy('a1');
  const session = await world.start(turns, { session: true });
  const grown = await world.start(turns, { session: true });
  for (const run of [session, grown]) await run.awaitsUser(1);
  expect(await versionOf(session)).toBe('a1');
  await deploy('a2');
  // One has turns, the other only grows. A task queue learns a moment later which version is current.
  let turn = 1;
  await eventually('it is on the new version', async () => {
    turn += 1;
    await say(session, turn);
    await session.awaitsUser(turn);
    return (await versionOf(session)) === 'a2';
  });
  await eventually('it continues as new', async () => {
    await grown.handle.signal('noise');
    return (await grown.status()).executions > 1;
  });
  await eventually('it is on the new version', async () => (await versionOf(grown)) === 'a2');
  await stop('a1');
  await say(session, turn + 1);
  await session.awaitsUser(turn + 1);
  await say(grown, 2);
  await grown.awaitsUser(2);
  expect(await session.status()).toMatchObject({ status: 'running', executions: 2 });
  for (const run of [session, grown]) await world.client.closeRun(run.workflowId);
});

test('a session that an override keeps on its version goes on there', async () => {
  await deploy('b1');
  const session = await world.start(turns, { session: true });
  await session.awaitsUser(1);
  await deploy('b2');
  const to = ['--versioning-override-deployment-name', deploymentName, '--versioning-override-build-id', 'b1'];
  const kept = ['--workflow-id', session.workflowId, '--versioning-override-behavior', 'pinned', ...to];
  expect(await temporal(['workflow', 'update-options', ...kept, '--namespace', namespace])).toMatchObject({
    exitCode: 0,
  });
  for (const turn of [2, 3, 4, 5]) {
    await say(session, turn);
    await session.awaitsUser(turn);
  }
  expect(await versionOf(session)).toBe('b1');
  // At most once for each turn.
  expect((await session.status()).executions).toBeLessThanOrEqual(5);
  await world.client.closeRun(session.workflowId);
});

test('a version that is gone is named with the command that moves the run, and the command moves it', async () => {
  await deploy('c1');
  const run = await world.start(once(pay('bob')));
  const [request] = await run.open();
  const { requestId } = request!;
  const { workflowId } = run;
  const { client } = world;
  const found = async () => (await client.check()).find(({ check }) => check === 'version');
  expect(await found()).toMatchObject({ isOk: true });
  await deploy('c2');
  await stop('c1');
  const forget = forgetVersion(world, 'c1');
  const command = `temporal workflow update-options --workflow-id ${workflowId} --versioning-override-behavior auto_upgrade --namespace ${namespace} --address ${sharedAddress()}`;
  const gone = `pinned to version 'c1' of Worker Deployment 'agents', which no worker has. Start one of this version, or move the run to the current version: \`${command}\``;
  expect(await found()).toMatchObject({ isOk: false, command, message: expect.stringContaining(`'${workflowId}'`) });
  await expect(client.approvals.get(requestId, { workflowId })).rejects.toMatchObject({
    code: 'no_worker',
    message: `No worker answers for run '${workflowId}': it is ${gone}.`,
  });
  const receipt = await client.decide({ requestId, approved: true, reviewerId: 'ann' }, { workflowId });
  expect(receipt).toMatchObject({ accepted: true, recorded: true, message: expect.stringContaining(gone) });

  await runInShell(command);
  expect((await run.result()).output).toBe('paid 1 to bob');
  expect(await versionOf(run)).toBe('c2');
  expect(world.ran()).toEqual(['pay bob 1']);
  expect(await found()).toMatchObject({ isOk: true });
  forget();
});

test('many runs of a version that is gone are moved by one command', async () => {
  await deploy('d1');
  const runs = [await world.start(once(pay('bob'))), await world.start(once(pay('cas')))];
  for (const run of runs) await run.open();
  await deploy('d2');
  await stop('d1');
  const forget = forgetVersion(world, 'd1');
  const found = await eventually('both are in visibility', async () => {
    const check = (await world.client.check()).find(({ check: name }) => name === 'version');
    return check?.message.includes('2 runs') === true && check;
  });
  await runInShell(found.command!);
  for (const run of runs) {
    await eventually('it is moved', async () => {
      const { raw } = await run.handle.describe();
      return raw.workflowExecutionInfo?.versioningInfo?.versioningOverride?.autoUpgrade === true;
    });
    const [request] = await run.open();
    await world.client.decide({ requestId: request!.requestId, approved: false }, { workflowId: run.workflowId });
    await run.result();
    expect(await versionOf(run)).toBe('d2');
  }
  forget();
});

/** The server forgets the pollers of a version after five minutes; no test waits for that. */
function forgetVersion({ client }: World, buildId: string): () => void {
  const { workflowService } = client.session.connection;
  const describe = workflowService.describeTaskQueue.bind(workflowService);
  workflowService.describeTaskQueue = (async (request: object) => {
    const { pollers } = await describe(request);
    return { pollers: pollers.filter(({ deploymentOptions }) => deploymentOptions?.buildId !== buildId) };
  }) as never;
  return () => {
    workflowService.describeTaskQueue = describe;
  };
}

/** Runs a command as a person would who has pasted it. */
async function runInShell(command: string): Promise<void> {
  const folder = dirname(process.env.COUNTERSIGN_TEMPORAL_BINARY!);
  await promisify(execFile)('sh', ['-c', command], { env: { ...process.env, PATH: `${folder}:${process.env.PATH}` } });
}
