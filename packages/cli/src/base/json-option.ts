import type { Command } from 'commander';
import { wrap } from './fit-text.ts';
import { MissingArgumentError, UsageError } from './report-error.ts';

export interface JsonOption {
  /** True: all fields. A text: the names of the fields to print, separated by commas. */
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

/** Undefined: all fields. */
export function selectedFields({ json }: JsonOption): string[] | undefined {
  return typeof json === 'string' ? json.split(',') : undefined;
}
