/**
 * `npm run histories:record`: plays all recorded runs on a real server and writes their histories to
 * `test/histories/VERSION-NAME.json`, one file for each execution of a run, those of its channels' workflow to
 * `test/histories/channels`, and two of a standing delegation to `test/histories/standing`. Histories of older versions are never
 * rewritten, because runs of those versions may still be open. With a name, records only the runs whose names contain
 * it; with `--new`, only those that have no stored history.
 */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import packageJson from '../../../../package.json' with { type: 'json' };
import { channelsWorkflowId } from '../../../../src/contract.ts';
import { eventually } from '../../../support/eventually.ts';
import globalSetup from '../../../support/global-setup.ts';
import { isHistoryOf, type RecordedRun } from './play-runs.ts';
import { letGo, recordedRuns } from './runs.ts';
import { scrubbedHistory } from './scrub-history.ts';
import { killAll } from '../../../support/ready-process.ts';
import { openWorld, type World } from '../../../support/world.ts';

const folder = fileURLToPath(new URL('../../../histories/', import.meta.url));
const only = process.argv[2];

function isRequested(run: RecordedRun): boolean {
  const stored = (): boolean => readdirSync(folder).some((file) => isHistoryOf(file, run));
  return only === '--new' ? !stored() : only === undefined || run.name.includes(only);
}

/** Writes one file for each execution of a workflow. */
async function record(world: World, workflowId: string, path: string): Promise<void> {
  const { executions } = await world.client.historyChain(workflowId);
  for (const [index, { events }] of executions.entries()) {
    const part = executions.length === 1 ? '' : `-execution-${index + 1}`;
    writeFileSync(`${folder}${path}${part}.json`, scrubbedHistory({ events }));
    process.stdout.write(`${path}${part}.json: ${events.length} events\n`);
  }
}

/** One that has ended at its date, and one that waits for its next look. */
async function recordStanding(): Promise<void> {
  const world = await openWorld();
  for (const [by, name, waitsMs] of [
    ['bob', 'standing-delegation', 2_000],
    ['ann', 'waiting-standing-delegation', 3_600_000],
  ] as const) {
    const { standing } = await world.client.delegateAll({
      by,
      to: 'eve',
      until: new Date(Date.now() + waitsMs).toISOString(),
    });
    const handle = world.client.session.client.workflow.getHandle(standing!.workflowId);
    if (name.startsWith('waiting')) {
      const hasLooked = async (): Promise<boolean> => {
        const { pendingActivities = [] } = (await handle.describe()).raw;
        return pendingActivities!.some(({ attempt }) => (attempt ?? 0) > 1);
      };
      await eventually('the first look', hasLooked);
    } else await handle.result();
    await record(world, standing!.workflowId, `standing/${packageJson.version}-${name}`);
    await handle.terminate().catch(() => undefined);
  }
  await world.close();
}

mkdirSync(`${folder}channels`, { recursive: true });
mkdirSync(`${folder}standing`, { recursive: true });
const tearDown = await globalSetup();
try {
  const hasStanding = readdirSync(`${folder}standing`).length > 0;
  if (only === undefined || 'standing-delegation'.includes(only) || (only === '--new' && !hasStanding)) {
    await recordStanding();
  }
  for (const { name, play, waiting, world: options } of recordedRuns.filter(isRequested)) {
    const worldOptions = typeof options === 'function' ? await options() : options;
    const world = await openWorld(worldOptions);
    const run = await play(world);
    const isOpen = (await run.handle.describe()).status.name === 'RUNNING';
    if (isOpen !== (waiting === true)) throw new Error(`${name}: the run is ${isOpen ? 'open' : 'closed'}`);
    const file = `${packageJson.version}-${waiting ? 'waiting-' : ''}${name}`;
    await record(world, run.workflowId, file);
    if (worldOptions?.channels !== undefined) {
      await record(world, channelsWorkflowId(run.workflowId), `channels/${file}`);
    }
    await letGo(world, run);
    await world.close();
  }
} finally {
  await killAll();
  await tearDown();
}
