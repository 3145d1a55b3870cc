import type { Command } from 'commander';
import { attributeTypes } from 'countersign/base';
import {
  type CommonOptions,
  wholeNumber,
  withServerOptions,
  type ClientFlags,
  withClient,
  withClientFlags,
} from '../base/command-line.ts';
import { processOutput } from '../base/output.ts';
import { UsageError, untilInterrupted } from '../base/report-error.ts';
import { requireFreePort } from '../base/require-free-port.ts';

interface ServerOptions extends CommonOptions {
  port: number;
  uiPort: number;
  db?: string;
}

/** `countersign server`: a Temporal dev server on 127.0.0.1, which ends with this process. */
export function addServer(program: Command): void {
  const port = wholeNumber(0, 65_535);
  withServerOptions(program.command('server'))
    .description('run a Temporal server on this machine, with its UI')
    .option('--port <n>', 'port for clients and workers; 0 takes a free one', port, 7233)
    .option('--ui-port <n>', "port of Temporal's UI; 0 takes a free one", port, 8233)
    .option('--db <file>', 'keep everything in this file across restarts (default: in memory)')
    .action(async (options: ServerOptions) => {
      if (options.address !== undefined) {
        throw new UsageError('`server` always listens on 127.0.0.1: choose its port with --port.');
      }
      const output = processOutput(options);
      const { attributeNamesOf } = await import('countersign/adapter');
      await requireFreePort(options.port, '--port');
      await requireFreePort(options.uiPort, '--ui-port');
      const { startDevServer } = await import('../dev-server/start-dev-server.ts');
      const server = await startDevServer({
        port: options.port,
        uiPort: options.uiPort,
        attributes: attributeTypes(attributeNamesOf(undefined)),
        log: (line) => output.note(line),
        dbFile: options.db,
        namespace: options.namespace,
      });
      const { address, namespace, uiUrl } = server;
      if (output.forPeople) {
        output.line(`Temporal server  ${output.style('bold', address)}`);
        output.line(`Temporal's UI    ${uiUrl}`);
        output.line(output.style('dim', 'Ctrl-C stops it.'));
      } else output.json({ address, namespace, uiUrl });
      const interrupted = await Promise.race([untilInterrupted(), server.ended.then(() => undefined)]);
      if (interrupted === undefined) throw new Error('The Temporal server ended by itself.');
      await server.stop();
    });
}

/** `countersign setup`: registers the inbox's search attributes on an existing Temporal cluster. */
export function addSetup(program: Command): void {
  withClientFlags(program.command('setup'))
    .description('register the search attributes of the inbox on a cluster of your own')
    .action((options: ClientFlags) =>
      withClient(options, async (client, output) => {
        const { address, namespace } = client.session;
        const { added, freeSlots, retentionDays } = await client.setUp();
        if (!output.forPeople) {
          output.json({ address, namespace, added, freeSlots, retentionDays });
          return;
        }
        output.line(
          added.length === 0 ? 'All search attributes were there already.' : `Registered ${added.join(', ')}.`,
        );
        for (const [type, free] of Object.entries(freeSlots)) {
          output.line(`Free slots for ${type}: ${free ?? 'no limit that can be read'}.`);
        }
        output.line(`Closed runs are kept for ${retentionDays} days.`);
      }),
    );
}
