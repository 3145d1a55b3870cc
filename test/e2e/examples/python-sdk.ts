import { execFile, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { sharedAddress } from '../../support/shared-server.ts';

const run = promisify(execFile);
const script = fileURLToPath(new URL('read-attributes.py', import.meta.url));

export interface ReadByPython {
  described: Record<string, unknown>;
  untyped: Record<string, unknown>;
  listed: Record<string, unknown>[];
}

/** A Python with Temporal's SDK: `COUNTERSIGN_TEST_PYTHON`, else `python3`; undefined if the SDK is missing. */
export function findPythonSdk(): string | undefined {
  const python = process.env.COUNTERSIGN_TEST_PYTHON ?? 'python3';
  const { status } = spawnSync(python, ['-c', 'import temporalio.client'], { stdio: 'ignore' });
  return status === 0 ? python : undefined;
}

/** What the SDK reads from a workflow on the shared server of the durable tests. Rejects if it raises. */
export async function readByPython(python: string, workflowId: string): Promise<ReadByPython> {
  const { stdout } = await run(python, [script, sharedAddress(), workflowId]);
  return JSON.parse(stdout) as ReadByPython;
}
