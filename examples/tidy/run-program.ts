import { execFile } from 'node:child_process';

const timeoutMs = 20_000;
const mostOutput = 10_000;

/**
 * Runs one program without a shell; `arguments` reach it unchanged. Its environment contains only PATH, so it gets none
 * of the worker's keys. Its output is cut at 10,000 characters; it is killed after 20 seconds.
 */
export function runProgram(program: string, args: string[], cwd: string, signal: AbortSignal): Promise<string> {
  const env = { PATH: process.env.PATH ?? '' };
  return new Promise((resolve, reject) => {
    const limits = { timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: mostOutput } as const;
    const child = execFile(program, args, { cwd, env, signal, ...limits }, (error, stdout, stderr) => {
      const output = `${stdout}${stderr}`.slice(0, mostOutput);
      if (error === null) return resolve(output);
      if (error.name === 'AbortError') return reject(error);
      const why =
        error.code === 'ENOENT'
          ? `there is no program '${program}' (or no such folder)`
          : error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER'
            ? `it wrote more than ${mostOutput} characters and was stopped`
            : error.killed === true
              ? `it took longer than ${timeoutMs / 1_000} seconds and was stopped`
              : `it ended with ${error.code ?? error.signal ?? error.message}`;
      reject(new Error([why, output].filter((part) => part !== '').join('\n')));
    });
    child.stdin?.end();
  });
}
