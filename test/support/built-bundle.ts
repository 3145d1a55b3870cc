import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { OpenAIProvider } from '@openai/agents-openai';
import { AiSdkPlugin } from '@temporalio/ai-sdk';
import { OpenAIAgentsPlugin } from '@temporalio/openai-agents';
import { DefaultLogger, bundleWorkflowCode, type WorkerPlugin } from '@temporalio/worker';
import { parseWorkflowCode } from '@temporalio/worker/lib/worker.js';
import workerPackage from '@temporalio/worker/package.json' with { type: 'json' };
import { CountersignPlugin } from '../../src/worker.ts';
import type { ReplayBundle } from './replay-server.ts';

export interface BuiltBundle {
  workflowBundle: { code: string } | { codePath: string };
  /** Plugins of the worker that replays. */
  plugins: WorkerPlugin[];
  /** What a worker with this bundle writes into each workflow task that it completes. */
  buildId: string;
}

/** Bundles the module, unless it is a bundle already. */
export async function buildOf(bundle: ReplayBundle): Promise<BuiltBundle> {
  const plugins = pluginsOf(bundle.plugins);
  if ('codePath' in bundle) {
    const { codePath } = bundle;
    const buildId = buildIdOf(readFileSync(codePath, 'utf8'), codePath);
    return { workflowBundle: { codePath }, buildId, plugins };
  }
  const { workflowsPath } = bundle;
  const { code } = await bundleWorkflowCode({ workflowsPath, plugins, logger: new DefaultLogger('ERROR') });
  return { workflowBundle: { code }, buildId: buildIdOf(code), plugins };
}

/** True if the source of the module names one of these workflow types. A bundle may hold any type. */
export function mayHold(bundle: ReplayBundle, types: readonly string[]): boolean {
  if ('codePath' in bundle) return types.length > 0;
  const source = readFileSync(bundle.workflowsPath, 'utf8');
  return types.some((type) => source.includes(type));
}

function pluginsOf(kind: ReplayBundle['plugins']): WorkerPlugin[] {
  if (kind === 'none') return [];
  const countersign = new CountersignPlugin({ largePayloads: false });
  // A replay needs these plugins only for their effect on the bundle: it calls no model.
  if (kind === 'with ai-sdk') {
    return [
      new AiSdkPlugin({ modelProvider: createOpenAICompatible({ name: 'none', baseURL: 'none:' }) }),
      countersign,
    ];
  }
  if (kind === 'with openai-agents')
    return [countersign, new OpenAIAgentsPlugin({ modelProvider: new OpenAIProvider() })];
  return [countersign];
}

/** The build id that the SDK gives a worker without its own: the digest of the code as it runs. */
function buildIdOf(code: string, codePath?: string): string {
  const digest = createHash('sha256').update(parseWorkflowCode(code, codePath).code).digest('hex');
  return `${workerPackage.name}@${workerPackage.version}+${digest}`;
}
