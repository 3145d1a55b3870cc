/**
 * Reads the examples of pages about policies so that tests can run them: a block of YAML, followed by a table of calls.
 */
import { notSplit } from '../../src/core/shell/parts.ts';
import { splitShell } from '../../src/shell/split.ts';
import type { JsonObject, Risk } from '../../src/core/base/tool-call.ts';
import type { RuledCall } from '../../src/core/policy/ruling.ts';

/** Cells by column name, without backticks. */
export type Row = Record<string, string>;

/** A fenced block of YAML and the text after it, up to the next block or heading. */
export interface PageExample {
  /** The word after `yaml`; empty if there is none. */
  kind: string;
  source: string;
  after: string;
}

export function examplesOf(page: string): PageExample[] {
  return [...page.matchAll(/^```yaml *(\w*)\n(.*?)^```\n(.*?)(?=^```yaml|^#|(?![^]))/gms)].map(
    ([, kind = '', source = '', after = '']) => ({ kind, source, after }),
  );
}

/** The rows of the only table in a text. */
export function rowsOf(text: string): Row[] {
  const [head = [], , ...rows] = text
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim().replaceAll('`', '')),
    );
  return rows.map((row) => Object.fromEntries(head.map((name, index) => [name, row[index] ?? ''])));
}

/** The call in a row: `tool`, `arguments`, `risk`, and `subject`, such as `command (shell)`; `beside` and a name may follow. */
export function callOf({ tool = '', arguments: args = '', subject = '', risk }: Row): RuledCall {
  const [, name = '', shell, beside] = /^(\w*)( \(shell(?: beside (\w+))?\))?$/.exec(subject) ?? [];
  const call: RuledCall = { tool, args: JSON.parse(args) as JsonObject, risk: risk as Risk };
  if (name !== '') call.subject = name;
  const command = call.args[name];
  if (shell !== undefined) call.shell = typeof command === 'string' ? splitShell(command) : notSplit;
  if (beside !== undefined) call.beside = [beside];
  return call;
}
