import { styleText } from 'node:util';
import { escapeJson, escapeText } from '../../core/base/escape-text.ts';
import type { Json } from '../../core/base/tool-call.ts';

/** Where a command writes: for a person at a terminal, or JSON for a program. Text of a run is escaped on its way. */
export interface Output {
  /** True: tables and sentences; false: JSON, one value a line. */
  readonly forPeople: boolean;
  /** A line to standard output, already escaped where it holds text of a run. */
  line(text: string): void;
  /** One JSON value on one line to standard output. */
  json(value: object): void;
  /** A line to standard error: progress and warnings, which are no result. */
  note(text: string): void;
  /** Colours text if the terminal shows colours (`NO_COLOR`, `FORCE_COLOR`). */
  style(format: Style, text: string): string;
}

export type Style = 'bold' | 'dim' | 'green' | 'red' | 'yellow';

export function processOutput(options: { json?: boolean | undefined }): Output {
  const { stdout, stderr } = process;
  return {
    forPeople: stdout.isTTY && options.json !== true,
    line: (text) => stdout.write(`${text}\n`),
    json: (value) => stdout.write(`${escapeJson(value as Json)}\n`),
    note: (text) => stderr.write(`${text}\n`),
    style: (format, text) => styleText(format, text, { stream: stdout }),
  };
}

/** Text of several lines: each line escaped, the line breaks kept. */
export function escapeLines(text: string): string {
  return text.split('\n').map(escapeText).join('\n');
}
