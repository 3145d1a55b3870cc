import { fileURLToPath } from 'node:url';
import { type ReadyProcess, spawnReady } from '../../support/ready-process.ts';

/** Runs the worker of an example, `examples/EXAMPLE/worker.ts`, in its own process, as a reader would. */
export function startExampleWorker(example: string, env: Record<string, string>): Promise<ReadyProcess> {
  const script = fileURLToPath(new URL(`../../../examples/${example}/worker.ts`, import.meta.url));
  return spawnReady(`the worker of ${example}`, script, { env });
}
