import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { DefaultLogger, bundleWorkflowCode } from '@temporalio/worker';
import { parseWorkflowCode } from '@temporalio/worker/lib/worker.js';
import workerPackage from '@temporalio/worker/package.json' with { type: 'json' };
import { bundleWorkflows } from '../../src/worker.ts';
import type { ReplayBundle } from './replay-server.ts';

export interface BuiltBundle {
  workflowBundle: { code: string } | { codePath: string };
  /** What a worker with this bundle writes into each workflow task that it completes. */
  buildId: string;
}

/** Bundles the module, unless it is a bundle. */
export async function buildOf(bundle: ReplayBundle): Promise<BuiltBundle> {
  if ('codePath' in bundle) {
    const { codePath } = bundle;
    return { workflowBundle: bundle, buildId: buildIdOf(readFileSync(codePath, 'utf8'), codePath) };
  }
  const { workflowsPath, isBare } = bundle;
  const { code } = isBare
    ? await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') })
    : await bundleWorkflows(workflowsPath);
  return { workflowBundle: { code }, buildId: buildIdOf(code) };
}

/** As the SDK makes it for a worker without a build id of its own: the digest of the code, as it is run. */
function buildIdOf(code: string, codePath?: string): string {
  const digest = createHash('sha256').update(parseWorkflowCode(code, codePath).code).digest('hex');
  return `${workerPackage.name}@${workerPackage.version}+${digest}`;
}
