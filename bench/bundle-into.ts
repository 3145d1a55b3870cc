import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DefaultLogger, bundleWorkflowCode } from '@temporalio/worker';
import { bundleWorkflows } from '../src/worker.ts';

/**
 * Bundles workflows into a file and returns its path. Call it once, before a measured worker process starts: the
 * bundler's time and memory must not count.
 */
export async function bundleInto(folder: string, kind: 'ours' | 'bare'): Promise<string> {
  const { code } =
    kind === 'ours'
      ? await bundleWorkflows()
      : await bundleWorkflowCode({
          workflowsPath: fileURLToPath(new URL('./bare-workflows.ts', import.meta.url)),
          logger: new DefaultLogger('ERROR'),
        });
  const path = join(folder, `${kind}.js`);
  writeFileSync(path, code);
  return path;
}
