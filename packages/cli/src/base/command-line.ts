import { type Command, InvalidArgumentError } from 'commander';
import { quoteWord } from 'countersign/base';
import type { CountersignClient } from 'countersign/client';
import type { ClientSettings } from './client-options.ts';
import { type ConnectionOptions, connectionOption, connectionWords, withConnection } from './connection-options.ts';
import { withJson, processOutput, UsageError, type JsonOption, type Output } from './output.ts';

export interface CommonOptions extends JsonOption, ConnectionOptions {
  debug?: boolean;
}

export interface ClientFlags extends CommonOptions, ClientSettings {}

/** Adds the options that most commands have. `fields`: the fields of the output that `--json FIELDS` can select. */
export function withCommonOptions(command: Command, fields?: readonly string[]): Command {
  return withConnection(withJson(command, fields)).option('--debug', 'show the stack of an error');
}

/** Adds the options of a command that starts its own server. Its help hides the flags that name another server. */
export function withServerOptions(command: Command): Command {
  const { options } = withCommonOptions(command);
  // Only `connectionOption` sets a heading. The flag --namespace names the namespace that the new server gets.
  const connectionOptions = options.filter((option) => option.helpGroupHeading !== undefined);
  for (const option of connectionOptions) option.hideHelp(option.long !== '--namespace');
  return command;
}

/** Adds the options of a command that uses a client: the common ones, the codec server's, and the worker module. */
export function withClientFlags(command: Command, fields?: readonly string[]): Command {
  return withCommonOptions(command, fields)
    .addOption(
      connectionOption(
        '--codec-endpoint <url>',
        'a codec server (default: TEMPORAL_CODEC_ENDPOINT, else the codecs of the module)',
      ),
    )
    .addOption(connectionOption('--codec-auth <text>', 'its Authorization header (default: TEMPORAL_CODEC_AUTH)'))
    .option('--config <module>', 'the module with the options of the workers (default: countersign.config.ts or .js)');
}

export function wholeNumber(from: number, to: number): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (value >= from && value <= to) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${from} to ${to}.`);
  };
}

/** Throws a usage error if `port` is in use. 0 stands for any free port. */
export async function requireFreePort(port: number, flag: string, host?: string): Promise<void> {
  const { isPortTaken } = await import('../dev-server/free-port.ts');
  if (port === 0 || !(await isPortTaken(port, host))) return;
  throw new UsageError(`Port ${port} is taken: stop what listens there or choose another with ${flag}.`);
}

/** Opens a client, calls `use`, and always closes the client. */
export async function withClient(
  options: ClientFlags & { taskQueue?: string },
  use: (client: CountersignClient, output: Output) => Promise<void>,
): Promise<void> {
  // These modules are loaded late, because they take 0.2 s, for which --help must not wait.
  const [{ createClient }, { clientOptions }] = await Promise.all([
    import('countersign/client'),
    import('./client-options.ts'),
  ]);
  const client = await createClient(await clientOptions(options));
  try {
    await use(client, processOutput(options));
  } finally {
    await client.close();
  }
}

/** Returns a command for the user to type next, with the flags that lead to the same server. */
export function nextCommand(options: ClientFlags, ...words: string[]): string {
  const { config, codecEndpoint } = options;
  // The flag --codec-auth is left out, because its value is a secret.
  const given = Object.entries({ '--config': config, '--codec-endpoint': codecEndpoint });
  const clientWords = given.flatMap(([flag, value]) => (value === undefined ? [] : [flag, value]));
  return ['countersign', ...words, ...connectionWords(options), ...clientWords].map(quoteWord).join(' ');
}
