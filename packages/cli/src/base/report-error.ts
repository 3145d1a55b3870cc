import { CommanderError } from 'commander';
import { escapeJson, escapeText, isProblemError, type ProblemCode } from 'countersign/base';

/** A mistake in a command that commander cannot detect, as one sentence. The exit code is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Thrown if an argument is missing that some flags can replace, before the command does anything. */
export class MissingArgumentError extends UsageError {}

/** Writes an error to standard error, as a sentence or `{ code, message }`. Returns the exit code. */
export function reportError(error: unknown, options: { json: boolean; debug: boolean }): ExitCode {
  // In this case, commander has printed the help or the version.
  if (error instanceof CommanderError && error.exitCode === 0) return 0;
  if (error instanceof CommanderError && error.code === 'commander.help') return usageExitCode;
  const message = errorMessage(error);
  const isUsage = error instanceof UsageError || error instanceof CommanderError;
  const code = isProblemError(error) ? error.code : isUsage ? 'usage' : 'internal';
  process.stderr.write(options.json ? `${escapeJson({ code, message })}\n` : `error: ${escapeMessage(message)}\n`);
  if (options.debug && error instanceof Error) process.stderr.write(`${stackOf(error)}\n`);
  return code === 'usage' ? usageExitCode : exitCodeOf(code);
}

/** Returns one line. Commander's messages begin with `error: ` and have a suggestion on a separate line. */
function errorMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error instanceof CommanderError ? error.message.replace(/^error: /, '').replaceAll('\n', ' ') : error.message;
}

/** Escapes a message. Only the problems of a file, `FILE:LINE:COL message`, stay on several lines. */
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

/** The time within which two signals are one press: npm forwards a Ctrl-C that its child has received already. */
const samePressMs = 1_000;

/** Resolves with the first signal that asks this process to end. A later one ends it at once. */
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

/** Every exit code of the command line. docs/cli.md has the same table. */
export const exitCodeMeanings = {
  0: 'done',
  1: 'refused for its content, or failed; a run that did not complete',
  2: 'a mistake in the command',
  3: 'there is no such request, run, agent or grant',
  4: 'the request is settled or expired, or the run has ended',
  5: 'you may not do this',
  6: 'the server does not answer, or no worker lives',
  130: 'Ctrl-C in `countersign run`, `watch`, `review` or `policy apply`',
} as const;

export type ExitCode = keyof typeof exitCodeMeanings;

const usageExitCode = 2;

const exitCodes = {
  unknown_request: 3,
  already_settled: 4,
  expired: 4,
  run_closed: 4,
  invalid_decision: 1,
  invalid_message: 1,
  undecodable: 1,
  digest_mismatch: 1,
  request_changed: 1,
  arguments_invalid: 1,
  denied_by_policy: 1,
  not_entitled: 5,
  self_approval: 5,
  unverified_reviewer: 5,
  run_not_found: 3,
  agent_unknown: 3,
  policy_invalid: 1,
  not_permitted_by_ceiling: 5,
  grant_unknown: 3,
  already_started: 1,
  unauthenticated: 5,
  forbidden: 5,
  too_large: 1,
  rate_limited: 1,
  server_unreachable: 6,
  no_worker: 6,
  model_refused: 1,
  model_rate_limited: 1,
  model_unavailable: 1,
  model_output_invalid: 1,
  input_refused: 1,
  check_failed: 1,
  internal: 1,
} as const satisfies Record<ProblemCode, ExitCode>;

export function exitCodeOf(code: ProblemCode): ExitCode {
  return exitCodes[code];
}

/** Returns the table of all exit codes, for `countersign --help`. */
export function exitCodeHelp(): string {
  const rows = Object.entries(exitCodeMeanings).map(([code, meaning]) => `  ${code.padEnd(3)}  ${meaning}`);
  return ['', 'Exit codes:', ...rows].join('\n');
}
