import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { exampleBundle } from '../api/example-bundle.ts';
import type { ReplayBundle } from './replay-server.ts';

const path = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

/**
 * The workflow code of the executions that tests start on the shared server. `codePath` is the bundle of most of them.
 */
export function testedBundles(codePath: string): ReplayBundle[] {
  const ofExamples = exampleBundle(codePath);
  return [
    { codePath },
    ...(existsSync(ofExamples) ? [{ codePath: ofExamples }] : []),
    ...sharedBundles(codePath),
    { workflowsPath: path('../../examples/order/workflows.ts') },
    { workflowsPath: path('../../examples/upgrade/before/workflows.ts'), plugins: 'none' },
    { workflowsPath: path('../../examples/upgrade/after/workflows.ts') },
    { workflowsPath: path('../../examples/ai-sdk/workflows.ts'), plugins: 'with ai-sdk' },
    { workflowsPath: path('../../examples/openai-agents/workflows.ts'), plugins: 'with openai-agents' },
  ];
}

/** Those that `sharedBundle` has made; without one, no test has run the workflows of the module. */
function sharedBundles(codePath: string): ReplayBundle[] {
  const names = {
    'gated-workflows': {},
    'recorded-workflows': {},
    'late-telling-workflows': {},
    'ending-workflows': {},
  };
  const plain = { 'foreign-workflows': { plugins: 'none' }, 'boundary-workflows': { plugins: 'none' } } as const;
  return Object.entries({ ...names, ...plain })
    .map(([name, of]) => ({ ...of, codePath: join(dirname(codePath), `${name}.js`) }))
    .filter((bundle) => existsSync(bundle.codePath));
}
