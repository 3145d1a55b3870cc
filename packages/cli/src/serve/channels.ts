import type { Command } from 'commander';
import { escapeText } from 'countersign/base';
import type { Channel } from 'countersign/channels';
import { type ClientFlags, withClientFlags } from '../base/command-line.ts';
import { jsonFields } from '../base/json-fields.ts';
import { loadChannels } from '../base/load-config.ts';
import { printMarked, processOutput, UsageError, type Output } from '../base/output.ts';

/** Adds the command that sends a test message by one channel of a module. */
export function addChannels(channels: Command): void {
  withClientFlags(channels.command('test <name>'), jsonFields.testedChannel)
    .description('send a test message; exit code 1, with the reason, if it fails')
    .action(async (name: string, options: ClientFlags) => {
      const { channelSetOf } = await import('countersign/adapter');
      const set = channelSetOf((await loadChannels(options.config)) ?? {});
      const channel = set?.channels.get(name);
      if (channel === undefined) {
        const names = [...(set?.channels.keys() ?? [])].join(', ') || 'none';
        throw new UsageError(`The module has no channel '${escapeText(name)}'. It has: ${names}.`);
      }
      await testChannels([[name, channel]], options, processOutput(options));
    });
}

/** Tests channels one by one, and prints a line for each. Sets exit code 1 if one fails. */
export async function testChannels(
  channels: Iterable<[string, Channel]>,
  options: ClientFlags,
  output: Output,
): Promise<void> {
  const { testChannel, recordsOf } = await import('countersign/adapter');
  const { createClient } = await import('countersign/client');
  const { clientOptions } = await import('../base/client-options.ts');
  // The connection is opened late, because only channels that store records need the server.
  let connecting: ReturnType<typeof createClient> | undefined;
  const records = async () => recordsOf((await (connecting ??= createClient(await clientOptions(options)))).session);
  try {
    for (const each of channels) {
      const tested = await testChannel(each, records);
      printMarked(output, tested.ok, `channel ${tested.channel}: ${tested.message}`, tested);
    }
  } finally {
    await (await connecting?.catch(() => undefined))?.close();
  }
}
