import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** True while the process runs. A zombie process counts as ended. */
export async function isRunning(processId: number): Promise<boolean> {
  const state = await run('ps', ['-o', 'stat=', '-p', String(processId)]).then(
    ({ stdout }) => stdout.trim(),
    () => '',
  );
  return state !== '' && !state.startsWith('Z');
}

/** The ids of the running child processes of `processId`. */
export async function childrenOf(processId: number): Promise<number[]> {
  const listed = await run('ps', ['-o', 'pid=', '--ppid', String(processId)]).then(
    ({ stdout }) => stdout,
    () => '',
  );
  return listed
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map(Number);
}

/** Waits until `condition` holds; throws after 30 s. */
export async function until(condition: () => Promise<boolean> | boolean): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error('the condition did not come true within 30 s');
    await sleep(25);
  }
}
