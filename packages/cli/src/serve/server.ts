import type { Command } from 'commander';
import { attributeTypes } from 'countersign/base';
import type { CommonOptions, ClientFlags } from '../base/command-line.ts';
import { wholeNumber, withServerOptions, requireFreePort, withClient, withClientFlags } from '../base/command-line.ts';
import { processOutput, UsageError, untilInterrupted } from '../base/output.ts';

interface ServerOptions extends CommonOptions {
  port: number;
  uiPort: number;
  db?: string;
}

/** Adds `countersign server`: a Temporal dev server on 127.0.0.1, which ends with this process. */
export function addServer(command: Command): void {
  const port = wholeNumber(0, 65_535);
  withServerOptions(command)
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

/** Adds the command that registers Countersign's search attributes on a server. It can be repeated. */
export function addSetup(command: Command): void {
  withClientFlags(command).action((options: ClientFlags) =>
    withClient(options, async (client, output) => {
      const { address, namespace } = client.session;
      const { added, freeSlots, retentionDays } = await client.setUp();
      if (!output.forPeople) return output.json({ address, namespace, added, freeSlots, retentionDays });
      output.line(added.length === 0 ? 'All search attributes were there already.' : `Registered ${added.join(', ')}.`);
      for (const [type, free] of Object.entries(freeSlots)) {
        output.line(`Free slots for ${type}: ${free ?? 'no limit that can be read'}.`);
      }
      output.line(`Closed runs are kept for ${retentionDays} days.`);
    }),
  );
}
