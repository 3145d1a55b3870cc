import { styleText } from 'node:util';
import { escapeJson, escapeText, type Json } from 'countersign/base';
import type { Command } from 'commander';
import type { Receipt } from 'countersign/client';
import { wrap } from './fit-text.ts';
import { MissingArgumentError, UsageError } from './report-error.ts';

/** The output of a command: text for a person at a terminal, or JSON for a program. Text from a run is escaped. */
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

/** Escapes each line of a text and keeps the line breaks. */
export function escapeLines(text: string): string {
  return text.split('\n').map(escapeText).join('\n');
}

export interface JsonOption {
  /** True for all fields; a text for the fields with these names, separated by commas. */
  json?: boolean | string;
}

/** Adds `--json`; `fields` also adds `--json FIELDS`, which selects some of them. */
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
      const isWithoutArgument = called.args.length === 0 && called.registeredArguments.length > 0;
      const Mistake = isWithoutArgument ? MissingArgumentError : UsageError;
      throw new Mistake(`--json has no field '${unknown}' here: choose from ${fields.join(', ')}.`);
    });
}

/** Returns the names of the selected fields; undefined for all. */
function selectedFields({ json }: JsonOption): string[] | undefined {
  return typeof json === 'string' ? json.split(',') : undefined;
}

/** Prints one result, for people a marked text. Sets exit code 1 for a failure. */
export function printMarked(output: Output, isOk: boolean, text: string, value: object): void {
  if (!isOk) process.exitCode = 1;
  const mark = isOk ? output.style('green', '✓') : output.style('red', '✗');
  output.result(`${mark} ${escapeText(text)}`, value);
}

/** Prints the receipt of a message: its sentence for people, all fields for programs. */
export function printReceipt(output: Output, receipt: Receipt): void {
  const text = escapeText(receipt.message);
  output.result(receipt.recorded ? output.style('yellow', text) : text, receipt);
}
