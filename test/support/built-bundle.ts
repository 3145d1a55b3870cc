import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { OpenAIProvider } from '@openai/agents-openai';
import { AiSdkPlugin } from '@temporalio/ai-sdk';
import { OpenAIAgentsPlugin } from '@temporalio/openai-agents';
import { DefaultLogger, bundleWorkflowCode, type WorkerPlugin } from '@temporalio/worker';
import { parseWorkflowCode } from '@temporalio/worker/lib/worker.js';
import workerPackage from '@temporalio/worker/package.json' with { type: 'json' };
import { countersignPlugin } from '../../src/worker.ts';
import type { ReplayBundle } from './replay-server.ts';

export interface BuiltBundle {
  workflowBundle: { code: string } | { codePath: string };
  /** Of the worker that replays. */
  plugins: WorkerPlugin[];
  /** What a worker with this bundle writes into each workflow task that it completes. */
  buildId: string;
}

/** Bundles the module, unless it is a bundle. */
export async function buildOf(bundle: ReplayBundle): Promise<BuiltBundle> {
  const countersign = countersignPlugin({ largePayloads: false });
  if ('codePath' in bundle) {
    const { codePath } = bundle;
    const buildId = buildIdOf(readFileSync(codePath, 'utf8'), codePath);
    return { workflowBundle: bundle, buildId, plugins: [countersign] };
  }
  const plugins = pluginsOf(bundle.plugins);
  const { workflowsPath } = bundle;
  const { code } = await bundleWorkflowCode({ workflowsPath, plugins, logger: new DefaultLogger('ERROR') });
  return { workflowBundle: { code }, buildId: buildIdOf(code), plugins };
}

/** Whether the source of a module names one of these workflow types; nobody knows what is in a bundle. */
export function mayHold(bundle: ReplayBundle, types: readonly string[]): boolean {
  if ('codePath' in bundle) return types.length > 0;
  const source = readFileSync(bundle.workflowsPath, 'utf8');
  return types.some((type) => source.includes(type));
}

function pluginsOf(kind: Exclude<ReplayBundle, { codePath: string }>['plugins']): WorkerPlugin[] {
  if (kind === 'none') return [];
  const countersign = countersignPlugin({ largePayloads: false });
  // Of these, a replay takes what they do to a bundle: no model is called.
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

/** As the SDK makes it for a worker without a build id of its own: the digest of the code, as it is run. */
function buildIdOf(code: string, codePath?: string): string {
  const digest = createHash('sha256').update(parseWorkflowCode(code, codePath).code).digest('hex');
  return `${workerPackage.name}@${workerPackage.version}+${digest}`;
}
