import { connectionSettings } from 'countersign/adapter';
import type { ClientOptions } from 'countersign/client';
import { type ConnectionOptions, requireAddress } from './connection-options.ts';
import { loadClientConfig } from './load-config.ts';
import { InvalidArgumentError, Command } from 'commander';
import { formatDuration, parseDuration } from 'countersign/base';

export interface ClientSettings extends ConnectionOptions {
  config?: string;
  codecEndpoint?: string;
  codecAuth?: string;
}

/** Returns the options of a client. Flags override `countersign.config`, which overrides the environment. */
export async function clientOptions(options: ClientSettings & { taskQueue?: string }): Promise<ClientOptions> {
  requireAddress(options);
  const config = await loadClientConfig(options.config);
  const { address = config.address, namespace = config.namespace, taskQueue = config.taskQueue } = options;
  const { TEMPORAL_CODEC_ENDPOINT, TEMPORAL_CODEC_AUTH } = process.env;
  const { codecEndpoint: endpoint = TEMPORAL_CODEC_ENDPOINT, codecAuth: authorization = TEMPORAL_CODEC_AUTH } = options;
  if (endpoint === undefined) return { ...config, address, namespace, taskQueue };
  const { RemoteCodec } = await import('countersign/codec');
  const { namespace: usedNamespace } = connectionSettings({ address, namespace });
  // With a codec server, the codecs of the module are not used.
  const payloadCodecs = [new RemoteCodec({ endpoint, namespace: usedNamespace, authorization })];
  return { ...config, address, namespace, taskQueue, dataConverter: { ...config.dataConverter, payloadCodecs } };
}

/** Returns a parser for commander: it converts a duration such as 30s to milliseconds. Refuses less than `leastMs`. */
export function durationOption(leastMs = 1): (text: string) => number {
  return (text) => {
    const parsed = parseDuration(text);
    if ('problem' in parsed || parsed.durationMs === null) {
      throw new InvalidArgumentError('It must be a whole number and a unit, such as 30s, 5m, 1h or 1d.');
    }
    if (parsed.durationMs < leastMs) throw new InvalidArgumentError(`It must be at least ${formatDuration(leastMs)}.`);
    return parsed.durationMs;
  };
}

/** Refuses a mistyped subcommand, which commander would pass to the default command. Adds help on the default, too. */
export function refuseMistyped(group: Command, defaultCommand: string): void {
  const name = group.name();
  group.addHelpText('after', `\n\`${name}\` alone is \`${name} ${defaultCommand}\`, with its arguments and flags.`);
  group.hook('preSubcommand', ({ args }, chosen) => {
    const firstFlag = args.findIndex((word) => word.startsWith('-'));
    const words = firstFlag === -1 ? args : args.slice(0, firstFlag);
    // More words than the chosen default command takes mean that the first word is a mistyped subcommand.
    if (words[0] !== chosen.name() && words.length > chosen.registeredArguments.length) refuse(group, words);
  });
}

/** Throws commander's error that suggests a subcommand. Commander makes it only in a group without a default. */
function refuse(group: Command, words: readonly string[]): void {
  const withoutDefault = new Command().exitOverride().configureOutput({ outputError: () => undefined });
  for (const command of group.createHelp().visibleCommands(group)) withoutDefault.command(command.name());
  withoutDefault.parse(words, { from: 'user' });
}
