import { existsSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { UsageError } from './output.ts';

/** The options that lead to a server, with the flags of the `temporal` command line. */
export interface ConnectionOptions {
  address?: string;
  namespace?: string;
  profile?: string;
  configFile?: string;
  apiKey?: string;
  tls?: boolean;
  tlsCertPath?: string;
  tlsKeyPath?: string;
  tlsCaPath?: string;
  tlsServerName?: string;
}

/** Flags that each set a variable of Temporal's environment configuration. */
const variables: [flag: string, variable: string, text: string][] = [
  ['--profile <name>', 'TEMPORAL_PROFILE', "the profile of Temporal's configuration file to use"],
  ['--config-file <path>', 'TEMPORAL_CONFIG_FILE', "Temporal's configuration file"],
  ['--api-key <key>', 'TEMPORAL_API_KEY', 'an API key; others on this machine can see it, but not the variable'],
  ['--tls', 'TEMPORAL_TLS', 'use TLS'],
  ['--tls-cert-path <path>', 'TEMPORAL_TLS_CLIENT_CERT_PATH', "this client's certificate"],
  ['--tls-key-path <path>', 'TEMPORAL_TLS_CLIENT_KEY_PATH', "the certificate's private key"],
  ['--tls-ca-path <path>', 'TEMPORAL_TLS_SERVER_CA_CERT_PATH', "the authority that signed the server's certificate"],
  ['--tls-server-name <name>', 'TEMPORAL_TLS_SERVER_NAME', "the name in the server's certificate"],
];

/** Creates an option that `--help` lists in the group `Connection`, below the other options. */
export function connectionOption(flag: string, text: string): Option {
  return new Option(flag, text).helpGroup('Connection:');
}

/** Adds the flags. All but --address and --namespace set a variable of this process, which the SDK then reads. */
export function withConnection(command: Command): Command {
  const add = (flag: string, text: string): Option => {
    const option = connectionOption(flag, text);
    command.addOption(option);
    return option;
  };
  add('--address <host:port>', 'the Temporal server (default: TEMPORAL_ADDRESS, else 127.0.0.1:7233)');
  add('--namespace <name>', 'its namespace (default: TEMPORAL_NAMESPACE, else default)');
  const added = variables.map(([flag, variable, text]) => ({ variable, option: add(flag, `${text} (${variable})`) }));
  return command.hook('preAction', (called) => {
    for (const { variable, option } of added) {
      const value = called.getOptionValue(option.attributeName()) as string | true | undefined;
      if (value === undefined) continue;
      // The SDK would ignore a configuration file that does not exist, so a mistyped path is refused here.
      if (option.flags.endsWith('<path>') && !existsSync(String(value))) {
        throw new UsageError(`${option.long}: there is no file ${value}.`);
      }
      process.env[variable] = String(value);
    }
  });
}

/** Throws a usage error if the flag or `TEMPORAL_ADDRESS` is not an address. */
export function requireAddress({ address = process.env['TEMPORAL_ADDRESS'] }: ConnectionOptions): void {
  // An address without a port is valid: `connectionSettings` adds the port.
  const [, port = '1'] = /:(\d+)$/.exec(address ?? '') ?? [];
  if (address === undefined || (!/[\s/]/.test(address) && Number(port) >= 1 && Number(port) <= 65_535)) return;
  throw new UsageError(`'${address}' is not an address: write HOST:PORT, such as 127.0.0.1:7233.`);
}

/** Returns the flags that lead another command to the same server, without the API key. */
export function connectionWords(options: ConnectionOptions): string[] {
  const flags = ['--address', '--namespace', ...variables.map(([flag]) => flag)].map((flag) => new Option(flag));
  const values = options as Record<string, string | boolean | undefined>;
  return flags.flatMap((flag) => {
    const value = values[flag.attributeName()];
    if (value === undefined || flag.attributeName() === 'apiKey') return [];
    return value === true ? [flag.long!] : [flag.long!, String(value)];
  });
}
