import { execFile } from 'node:child_process';
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

/** The ids of the running processes that `processId` has started, directly or not. */
export async function descendantsOf(processId: number): Promise<number[]> {
  const children = await childrenOf(processId);
  return [...children, ...(await Promise.all(children.map(descendantsOf))).flat()];
}
