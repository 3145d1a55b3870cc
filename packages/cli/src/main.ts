#!/usr/bin/env node
// It is no error if the program that reads the pipe, such as `head`, ends early.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1);
});

const words = process.argv.slice(2);
try {
  await import('countersign/require-node');
  const { runCommandLine } = await import('./run-command-line.ts');
  const exitCode = await runCommandLine(words);
  if (exitCode !== undefined) process.exitCode = exitCode;
} catch (error) {
  const { reportError } = await import('./base/output.ts');
  process.exitCode = reportError(error, { json: words.includes('--json'), debug: words.includes('--debug') });
}
// After a worker has ended, timers or sockets of its module would keep the process alive.
if (words[0] === 'worker') process.exit();
