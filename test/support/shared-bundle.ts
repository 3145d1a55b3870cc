import { randomUUID } from 'node:crypto';
import { existsSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleWorkflows } from '../../src/worker.ts';
import { testBundle } from './world.ts';

/** The bundle of a workflow module of this folder. The first test that needs it makes it, for all of them. */
export async function sharedBundle(module: string): Promise<{ codePath: string }> {
  const codePath = join(dirname(testBundle()), `${basename(module, '.ts')}.js`);
  if (!existsSync(codePath)) {
    const { code } = await bundleWorkflows(fileURLToPath(new URL(`./${module}`, import.meta.url)));
    // Renamed when it is whole, because another test may look for it at the same time.
    const written = `${codePath}.${randomUUID()}`;
    writeFileSync(written, code);
    renameSync(written, codePath);
  }
  return { codePath };
}
