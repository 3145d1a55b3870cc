#!/usr/bin/env node
import { runCommandLine } from './run-command-line.ts';

// A reader that closes the pipe early, such as `head`, is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1);
});

const exitCode = await runCommandLine(process.argv.slice(2));
if (exitCode !== undefined) process.exitCode = exitCode;
