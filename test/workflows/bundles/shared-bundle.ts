import { randomUUID } from 'node:crypto';
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DefaultLogger, bundleWorkflowCode } from '@temporalio/worker';
import { bundleWorkflows } from '../../../src/worker.ts';
import { withFileLock } from '../../../src/connection/file-lock.ts';
import { testBundle } from '../../support/world.ts';

/**
 * The bundle of a workflow module of this folder. The first test that needs it makes it, for all of them, and for the
 * replay of all histories at the end (`testedBundles`). `plain`: without Countersign's plugin.
 */
export async function sharedBundle(module: string, { plain = false } = {}): Promise<{ codePath: string }> {
  const codePath = join(dirname(testBundle()), `${basename(module, '.ts')}.js`);
  if (existsSync(codePath)) return { codePath };
  // It takes seconds of processor time, and several processes need the same ones at once.
  await withFileLock(`${codePath}.lock`, { onWait: () => undefined }, async () => {
    if (existsSync(codePath)) return;
    const workflowsPath = fileURLToPath(new URL(`./${module}`, import.meta.url));
    const { code } = plain
      ? await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') })
      : await bundleWorkflows(workflowsPath);
    // Renamed when it is whole, because a test that comes later does not take the lock.
    const written = `${codePath}.${randomUUID()}`;
    writeFileSync(written, code);
    renameSync(written, codePath);
  });
  return { codePath };
}
