import { CommanderError } from 'commander';
import { escapeJson, escapeText } from '../../core/base/escape-text.ts';
import { isProblemError } from '../../core/base/problem.ts';
import { exitCodeOf, usageExitCode } from './exit-code.ts';

/** A usage error that commander cannot detect: one sentence, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/**
 * Reports an error in one sentence on standard error, as `{ code, message }` with --json, and returns the exit code.
 * Prints the stack only with --debug.
 */
export function reportError(error: unknown, options: { json: boolean; debug: boolean }): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : usageExitCode; // commander has printed it already
  const message = error instanceof Error ? error.message : String(error);
  const code = isProblemError(error) ? error.code : error instanceof UsageError ? 'usage' : 'internal';
  process.stderr.write(options.json ? `${escapeJson({ code, message })}\n` : `error: ${escapeText(message)}\n`);
  if (options.debug && error instanceof Error) process.stderr.write(`${stackOf(error)}\n`);
  return code === 'usage' ? usageExitCode : exitCodeOf(code);
}

function stackOf(error: Error): string {
  const own = (error.stack ?? '').split('\n').map(escapeText).join('\n');
  return error.cause instanceof Error ? `${own}\ncaused by ${stackOf(error.cause)}` : own;
}
