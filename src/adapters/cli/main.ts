#!/usr/bin/env node
import { createProgram } from './program.ts';
import { reportError } from './report-error.ts';

// A reader that closes the pipe early, such as `head`, is not an error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : 1);
});

try {
  await createProgram().parseAsync();
} catch (error) {
  const words = process.argv.slice(2);
  process.exitCode = reportError(error, { json: words.includes('--json'), debug: words.includes('--debug') });
}
