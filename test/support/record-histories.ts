/**
 * `npm run histories:record`: plays all recorded runs on a real server and writes their histories to
 * `test/histories/VERSION-NAME.json`, one file for each execution of a run. Histories of older versions are never
 * rewritten, because runs of those versions may still be open. With a name, records only the runs whose names contain
 * it; with `--new`, only those that have no stored history.
 */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import packageJson from '../../package.json' with { type: 'json' };
import globalSetup from './global-setup.ts';
import globalTeardown from './global-teardown.ts';
import { isHistoryOf, type RecordedRun } from './play-runs.ts';
import { letGo, recordedRuns } from './recorded-runs.ts';
import { scrubbedHistory } from './scrub-history.ts';
import { killAll } from './ready-process.ts';
import { openWorld } from './world.ts';

const folder = fileURLToPath(new URL('../histories/', import.meta.url));
const only = process.argv[2];

function isRequested(run: RecordedRun): boolean {
  const stored = (): boolean => readdirSync(folder).some((file) => isHistoryOf(file, run));
  return only === '--new' ? !stored() : only === undefined || run.name.includes(only);
}

mkdirSync(folder, { recursive: true });
await globalSetup();
try {
  for (const { name, play, waiting, world: options } of recordedRuns.filter(isRequested)) {
    const world = await openWorld(typeof options === 'function' ? await options() : options);
    const run = await play(world);
    const { executions } = await world.client.historyChain(run.workflowId);
    const isOpen = (await run.handle.describe()).status.name === 'RUNNING';
    if (isOpen !== (waiting === true)) throw new Error(`${name}: the run is ${isOpen ? 'open' : 'closed'}`);
    for (const [index, { events }] of executions.entries()) {
      const part = executions.length === 1 ? '' : `-execution-${index + 1}`;
      const file = `${packageJson.version}-${waiting ? 'waiting-' : ''}${name}${part}.json`;
      writeFileSync(`${folder}${file}`, scrubbedHistory({ events }));
      process.stdout.write(`${file}: ${events.length} events\n`);
    }
    await letGo(world, run);
    await world.close();
  }
} finally {
  await killAll();
  await globalTeardown();
}
