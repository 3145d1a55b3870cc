#!/usr/bin/env node
// A reader that closes the pipe early, such as `head`, is not an error.
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
  const { reportError } = await import('./base/report-error.ts');
  process.exitCode = reportError(error, { json: words.includes('--json'), debug: words.includes('--debug') });
}
// An ended worker needs nothing more; timers or sockets of its module must not keep the process.
if (words[0] === 'worker') process.exit();
