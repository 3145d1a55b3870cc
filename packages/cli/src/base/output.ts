import { styleText } from 'node:util';
import { escapeJson, escapeText, type Json } from 'countersign/base';
import { type JsonOption, selectedFields } from './json-option.ts';

/** The output of a command: text for a person at a terminal, or JSON for a program. Text from a run is escaped. */
export interface Output {
  /** True: tables and sentences. False: JSON, one value per line. */
  readonly forPeople: boolean;
  /** Columns and rows of the terminal; infinite elsewhere. */
  readonly width: number;
  readonly height: number;
  /** Writes a line to standard output. The caller escapes text from a run. */
  line(text: string): void;
  /** Writes text without a line break to standard output. The caller escapes text from a run. */
  write(text: string): void;
  /** Writes one JSON value, or the fields of it that `--json` selects, on one line to standard output. */
  json(value: object): void;
  /** Writes a line to standard error: progress and warnings, which are not part of the result. */
  note(text: string): void;
  /** Colours text if the terminal supports colours (`NO_COLOR`, `FORCE_COLOR`). */
  style(format: Style, text: string): string;
}

export type Style = 'bold' | 'dim' | 'green' | 'inverse' | 'red' | 'yellow';

/** The output of this process: results on the standard output, notes on the error output. */
export function processOutput(options: JsonOption): Output {
  const { stdout, stderr } = process;
  const selected = selectedFields(options);
  return {
    forPeople: stdout.isTTY && options.json === undefined,
    get width() {
      return stdout.columns || Infinity;
    },
    get height() {
      return stdout.rows || Infinity;
    },
    line: (text) => stdout.write(`${text}\n`),
    write: (text) => stdout.write(text),
    json: (value) => stdout.write(`${escapeJson((selected === undefined ? value : pick(value, selected)) as Json)}\n`),
    note: (text) => stderr.write(`${text}\n`),
    style: (format, text) => styleText(format, text, { stream: stdout }),
  };
}

function pick(value: object, names: readonly string[]): object {
  return Object.fromEntries(names.map((name) => [name, (value as Record<string, unknown>)[name]]));
}

/** Escapes each line of a text and keeps the line breaks. */
export function escapeLines(text: string): string {
  return text.split('\n').map(escapeText).join('\n');
}
