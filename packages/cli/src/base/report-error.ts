import { CommanderError } from 'commander';
import { escapeJson, escapeText, isProblemError } from 'countersign/base';
import { type ExitCode, exitCodeOf, usageExitCode } from './exit-code.ts';

/** A usage error that commander cannot detect: one sentence, exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** A missing argument that some flags can replace. Thrown before the command does anything. */
export class MissingArgumentError extends UsageError {}

/**
 * Reports an error in one sentence on standard error, as `{ code, message }` with --json, and returns the exit code.
 * Prints the stack only with --debug.
 */
export function reportError(error: unknown, options: { json: boolean; debug: boolean }): ExitCode {
  // Commander has printed the help or the version.
  if (error instanceof CommanderError && error.exitCode === 0) return 0;
  if (error instanceof CommanderError && error.code === 'commander.help') return usageExitCode;
  const message = errorMessage(error);
  const code = isProblemError(error) ? error.code : isUsageError(error) ? 'usage' : 'internal';
  process.stderr.write(options.json ? `${escapeJson({ code, message })}\n` : `error: ${escapeMessage(message)}\n`);
  if (options.debug && error instanceof Error) process.stderr.write(`${stackOf(error)}\n`);
  return code === 'usage' ? usageExitCode : exitCodeOf(code);
}

function isUsageError(error: unknown): boolean {
  return error instanceof UsageError || error instanceof CommanderError;
}

/** Commander's messages begin with `error: ` and put a suggestion on a separate line. */
function errorMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error instanceof CommanderError ? error.message.replace(/^error: /, '').replaceAll('\n', ' ') : error.message;
}

/** The problems of a file have a line each, `FILE:LINE:COL message`. Any other text stays on one line. */
function escapeMessage(message: string): string {
  const lines = message.split('\n');
  const isList = lines.every((line) => /^[^:]+:\d+:\d+ ./.test(line));
  return isList ? lines.map(escapeText).join('\n') : escapeText(message);
}

function stackOf(error: Error): string {
  const own = (error.stack ?? '').split('\n').map(escapeText).join('\n');
  return error.cause instanceof Error ? `${own}\ncaused by ${stackOf(error.cause)}` : own;
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** npm forwards a terminal's Ctrl-C to a program that has received it already, so one press arrives twice. */
const samePressMs = 1_000;

/**
 * Resolves with the first signal that asks this process to end. A later one ends the process at once, as by default.
 */
export function untilInterrupted(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const stop = (signal: NodeJS.Signals): void => {
      resolve(signal);
      const letGo = (): void => {
        for (const each of signals) process.removeListener(each, stop);
      };
      setTimeout(letGo, samePressMs).unref();
    };
    for (const each of signals) process.on(each, stop);
  });
}
