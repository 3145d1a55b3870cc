import { type Command, Option } from 'commander';
import type { RequestedScope } from 'countersign/client';
import { grantKinds, type GrantKind } from 'countersign/policy';
import { wholeNumber } from '../base/command-line.ts';
import { UsageError } from '../base/report-error.ts';

export interface AlwaysOptions {
  always?: GrantKind | true;
  match?: string[];
  expires?: string;
  uses?: number;
}

/** Adds `--always` and the flags that limit it. */
export function withAlways(command: Command, what: string): Command {
  return command
    .addOption(
      new Option('--always [what]', `${what}: this call, calls whose arguments match, or the whole tool`).choices(
        grantKinds,
      ),
    )
    .option(
      '--match <field=glob>',
      'with --always arguments: what an argument has to match; may be given several times',
      (value: string, earlier?: string[]) => [...(earlier ?? []), value],
    )
    .option('--expires <duration>', 'with --always: for how long, such as 1h')
    .option('--uses <n>', 'with --always: how often', wholeNumber(1, 1_000_000));
}

/**
 * The `always` of a decision, from the flags; undefined without them. Throws a usage error for an invalid combination.
 */
export function alwaysOf({ always, match, expires, uses }: AlwaysOptions): boolean | RequestedScope | undefined {
  if (always === undefined) {
    if (match === undefined && expires === undefined && uses === undefined) return undefined;
    throw new UsageError('--match, --expires and --uses say how far --always goes: add --always.');
  }
  const kind = always === true ? (match === undefined ? undefined : 'arguments') : always;
  if (kind === undefined) {
    if (expires === undefined && uses === undefined) return true;
    throw new UsageError(
      'Say what --expires and --uses limit: --always call, --always arguments --match FIELD=GLOB, or --always tool.',
    );
  }
  if ((kind === 'arguments') !== (match !== undefined)) {
    throw new UsageError('--always arguments goes with --match FIELD=GLOB, such as --match to=*@acme.com.');
  }
  return {
    kind,
    match: match && Object.fromEntries(match.map(fieldAndGlob)),
    expiresIn: expires,
    uses,
  };
}

function fieldAndGlob(text: string): [field: string, glob: string] {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageError(`--match takes FIELD=GLOB, such as to=*@acme.com, not '${text}'.`);
  return [text.slice(0, at), text.slice(at + 1)];
}
