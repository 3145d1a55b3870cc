import { styleText } from 'node:util';
import { escapeJson, escapeText, isProblemError, type Json, type ProblemCode } from 'countersign/base';
import { CommanderError, type Command } from 'commander';
import type { Receipt } from 'countersign/client';
import { wrap } from './fit-text.ts';

/** The output of a command: text for a person at a terminal, or JSON for a program. */
export interface Output {
  /** True for tables and sentences; false for JSON, one value per line. */
  readonly forPeople: boolean;
  /** The columns of the terminal (`height`: its rows); infinite elsewhere. */
  readonly width: number;
  readonly height: number;
  /** Writes a line to standard output. The caller escapes text from a run. */
  line(text: string): void;
  /** Writes a line that is for people only: to standard output at a terminal, else to standard error. */
  tell(text: string): void;
  /** Writes text without a line break to standard output. The caller escapes text from a run. */
  write(text: string): void;
  /** Writes one JSON value, or the fields of it that `--json` selects, on one line to standard output. */
  json(value: object): void;
  /** Writes one result: the text for people, else the value. The caller escapes text from a run. */
  result(text: string, value: object): void;
  /** Writes a line to standard error: progress and warnings, which are not part of the result. */
  note(text: string): void;
  /** Colours text if the terminal supports colours (`NO_COLOR`, `FORCE_COLOR`). */
  style(format: Style, text: string): string;
}

export type Style = 'bold' | 'dim' | 'green' | 'inverse' | 'red' | 'yellow';

/** Returns the output of this process: results on standard output, notes on standard error. */
export function processOutput(options: JsonOption): Output {
  const { stdout, stderr } = process;
  const selected = selectedFields(options);
  const forPeople = stdout.isTTY && options.json === undefined;
  const output: Output = {
    forPeople,
    get width() {
      return stdout.columns || Infinity;
    },
    get height() {
      return stdout.rows || Infinity;
    },
    line: (text) => stdout.write(`${text}\n`),
    tell: (text) => (forPeople ? stdout : stderr).write(`${text}\n`),
    write: (text) => stdout.write(text),
    json: (value) => stdout.write(`${escapeJson((selected === undefined ? value : pick(value, selected)) as Json)}\n`),
    result: (text, value) => (forPeople ? output.line(text) : output.json(value)),
    note: (text) => stderr.write(`${text}\n`),
    style: (format, text) => styleText(format, text, { stream: stdout }),
  };
  return output;
}

function pick(value: object, names: readonly string[]): object {
  return Object.fromEntries(names.map((name) => [name, (value as Record<string, unknown>)[name]]));
}

export function escapeLines(text: string): string {
  return text.split('\n').map(escapeText).join('\n');
}

export interface JsonOption {
  /** True for all fields; a text for the fields with these names, separated by commas. */
  json?: boolean | string;
}

/** Adds `--json`. With `fields`, the flag may take some of these names as its value, and any other name is refused. */
export function withJson(command: Command, fields?: readonly string[]): Command {
  const text = 'print JSON, one value per line, also on a terminal';
  if (fields === undefined) return command.option('--json', text);
  const list = wrap(fields.join(', '), 76).map((line) => `  ${line}`);
  return command
    .option('--json [fields]', `${text}; with names and commas, only these fields`)
    .addHelpText('after', ['', 'JSON fields:', ...list].join('\n'))
    .hook('preAction', (called) => {
      const unknown = selectedFields(called.opts<JsonOption>())?.find((name) => !fields.includes(name));
      if (unknown === undefined) return;
      // --json may have taken the missing argument for its fields. `parse` in `run-command-line.ts` then tries again.
      const isWithoutArgument = called.args.length === 0 && called.registeredArguments.length > 0;
      const Mistake = isWithoutArgument ? MissingArgumentError : UsageError;
      throw new Mistake(`--json has no field '${unknown}' here: choose from ${fields.join(', ')}.`);
    });
}

function selectedFields({ json }: JsonOption): string[] | undefined {
  return typeof json === 'string' ? json.split(',') : undefined;
}

/** Prints one result, for people as a text after ✓ or ✗. Sets exit code 1 if it is not ok. */
export function printMarked(output: Output, isOk: boolean, text: string, value: object): void {
  if (!isOk) process.exitCode = 1;
  const mark = isOk ? output.style('green', '✓') : output.style('red', '✗');
  output.result(`${mark} ${escapeText(text)}`, value);
}

/** Prints the receipt of a message. Its sentence is yellow if no worker has applied the message yet. */
export function printReceipt(output: Output, receipt: Receipt): void {
  const text = escapeText(receipt.message);
  output.result(receipt.recorded ? output.style('yellow', text) : text, receipt);
}

/** A mistake in a command that commander cannot detect, as one sentence. The exit code is 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** An argument is missing. A command throws this before it does anything, so that `parse` may try again. */
export class MissingArgumentError extends UsageError {}

/** Writes an error to standard error, as a sentence or `{ code, message }`. Returns the exit code. */
export function reportError(error: unknown, options: { json: boolean; debug: boolean }): ExitCode {
  // Commander has printed the version or the help; with `commander.help`, because the command is missing.
  if (error instanceof CommanderError && error.exitCode === 0) return 0;
  if (error instanceof CommanderError && error.code === 'commander.help') return usageExitCode;
  const message = errorMessage(error);
  const isUsage = error instanceof UsageError || error instanceof CommanderError;
  const code = isProblemError(error) ? error.code : isUsage ? 'usage' : 'internal';
  process.stderr.write(options.json ? `${escapeJson({ code, message })}\n` : `error: ${escapeMessage(message)}\n`);
  if (options.debug && error instanceof Error) process.stderr.write(`${stackOf(error)}\n`);
  return code === 'usage' ? usageExitCode : exitCodeOf(code);
}

/** Returns the message on one line, without the `error: ` and the line breaks of commander's messages. */
function errorMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error instanceof CommanderError ? error.message.replace(/^error: /, '').replaceAll('\n', ' ') : error.message;
}

/** Escapes a message and its line breaks. Only a list of problems, `FILE:LINE:COL message`, keeps its line breaks. */
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

/** Signals within this time are one Ctrl-C, because npm forwards a Ctrl-C that this process has received already. */
const samePressMs = 1_000;

/** Resolves with the first signal that asks this process to end. After a second, another signal ends the process. */
export function untilInterrupted(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    const stop = (signal: NodeJS.Signals): void => {
      resolve(signal);
      // Without listeners, the next signal ends the process.
      const stopListening = (): void => {
        for (const name of signals) process.removeListener(name, stop);
      };
      setTimeout(stopListening, samePressMs).unref();
    };
    for (const name of signals) process.on(name, stop);
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

export function exitCodeHelp(): string {
  const rows = Object.entries(exitCodeMeanings).map(([code, meaning]) => `  ${code.padEnd(3)}  ${meaning}`);
  return ['', 'Exit codes:', ...rows].join('\n');
}
