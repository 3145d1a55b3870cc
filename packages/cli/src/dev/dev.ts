import { mkdtempSync, rmSync, existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import type { Command } from 'commander';
import { attributeTypes, escapeText } from 'countersign/base';
import type { CommonOptions } from '../base/command-line.ts';
import { nextCommand, requireFreePort, wholeNumber, withServerOptions } from '../base/command-line.ts';
import { configFile } from '../base/load-config.ts';
import { processOutput, UsageError, untilInterrupted, type Output } from '../base/output.ts';
import type { GatewayOptions } from '@countersign/gateway';
import type { WorkerEvent } from './reloading-worker.ts';

interface DevOptions extends CommonOptions {
  port: number;
  uiPort: number;
  gatewayPort: number;
  db?: string;
  taskQueue?: string;
}

const defaultAddress = '127.0.0.1:7233';

type ReadyEvent = { event: 'ready'; url: string; address: string; namespace: string; uiUrl: string | null };
export type DevEvent = WorkerEvent | ReadyEvent;

/** Adds the command that runs server, worker and inbox in one, until Ctrl-C or until one of them fails for good. */
export function addDev(command: Command): void {
  const port = wholeNumber(0, 65_535);
  withServerOptions(command)
    .description('run a Temporal server, a worker that restarts when its module changes, and the inbox, all in one')
    .option('--gateway-port <n>', 'port of the gateway and its inbox; 0 takes a free one', port, 7280)
    .option('--port <n>', 'port of the Temporal server; 0 takes a free one', port, 7233)
    .option('--ui-port <n>', "port of Temporal's UI; 0 takes a free one", port, 8233)
    .option('--db <file>', 'keep everything in this file across restarts (default: in memory)')
    .option('--task-queue <name>', 'where the worker listens for runs (default: that of the module, else countersign)')
    .action(async (module: string | undefined, options: DevOptions) => {
      if (options.address !== undefined) {
        throw new UsageError('`dev` starts a Temporal server of its own on 127.0.0.1: choose its port with --port.');
      }
      const file = configFile(module);
      if (file === undefined) throw new UsageError('There is no countersign.config.ts or .js here: name the module.');
      const interrupted = untilInterrupted();
      const { CleanUp } = await import('../dev-server/clean-up.ts');
      const cleanUp = new CleanUp();
      try {
        const ended = develop(file, options, cleanUp);
        ended.catch(() => undefined); // after an interruption, its rejection does not matter
        await Promise.race([ended, interrupted]);
      } finally {
        await cleanUp.run();
      }
    });
}

/** Starts server, worker and gateway. Rejects if one of them fails for good; never resolves. */
async function develop(
  module: string,
  options: DevOptions,
  cleanUp: { add(step: () => Promise<unknown>): void },
): Promise<never> {
  const output = processOutput(options);
  const tempFolder = mkdtempSync(join(tmpdir(), 'countersign-dev-'));
  cleanUp.add(() => rm(tempFolder, { recursive: true, force: true }));
  // If this process ends without the clean-up, the folder is removed as well.
  process.once('exit', () => rmSync(tempFolder, { recursive: true, force: true }));
  const server = await startServer(tempFolder, options, output, cleanUp);
  const { address, namespace, uiUrl } = server;

  const { ReloadingWorker } = await import('./reloading-worker.ts');
  const firstWorker = Promise.withResolvers<void>();
  const { taskQueue } = options;
  const worker = new ReloadingWorker(
    { module, address, namespace, taskQueue, bundle: server.bundle, forPeople: output.forPeople },
    {
      tell: (event) => {
        tellWorkerEvent(event, output);
        if (event.event === 'worker') firstWorker.resolve();
      },
      log: (text) => process.stderr.write(text),
    },
  );
  cleanUp.add(() => worker.stop());
  const working = worker.run();
  // The gateway needs the codecs of the module, so it starts only after a worker has loaded the module.
  await Promise.race([firstWorker.promise, working, server.ended]);
  const gateway = await startInbox(module, { ...options, address, namespace }, cleanUp, {
    temporalUi: uiUrl ?? undefined,
    worker: () => worker.declared,
  });
  const ready: ReadyEvent = { event: 'ready', url: `${gateway.url}/inbox/`, address, namespace, uiUrl };
  if (output.forPeople) printReady(output, ready, worker.declared?.agents[0] ?? 'AGENT');
  else output.json(ready);
  await Promise.race([working, server.ended]);
  // `working` resolves only after `stop`, at the end of the command. Then this rejection is ignored.
  throw new Error('The worker is not followed any more.');
}

function printReady(output: Output, { url, address, namespace, uiUrl }: ReadyEvent, agent: string): void {
  // The printed command needs no flag for a default.
  const connection = {
    ...(address !== defaultAddress && { address }),
    ...(namespace !== 'default' && { namespace }),
  };
  output.line(`\nInbox          ${output.style('bold', url)}`);
  if (uiUrl !== null) output.line(`Temporal's UI  ${uiUrl}`);
  output.line(`Start a run    ${nextCommand(connection, 'run', escapeText(agent), '--input', 'Hello')}`);
  output.line(`               or in the inbox: ${url}start`);
  output.line(output.style('dim', `Temporal listens on ${address}. Ctrl-C stops everything.\n`));
}

/** Starts the server, and bundles the workflow code if the package did not. `ended` rejects when the server ends. */
async function startServer(
  tempFolder: string,
  options: DevOptions,
  output: Output,
  cleanUp: { add(step: () => Promise<unknown>): void },
) {
  const { attributeNamesOf } = await import('countersign/adapter');
  const { hideOtherServers } = await import('../dev-server/free-port.ts');
  const { startDevServer } = await import('../dev-server/start-dev-server.ts');
  const { packageBundle } = await import('countersign/dev');
  const { port, uiPort, gatewayPort, db: dbFile, namespace } = options;
  await requireFreePort(gatewayPort, '--gateway-port');
  await requireFreePort(port, '--port');
  await requireFreePort(uiPort, '--ui-port');
  const attributes = attributeTypes(attributeNamesOf(undefined));
  hideOtherServers(tempFolder);
  if (output.forPeople) output.note('Starting the Temporal server and a worker …');
  const starting = startDevServer({ port, uiPort, dbFile, namespace, attributes, log: (line) => output.note(line) });
  cleanUp.add(async () => (await starting).stop());
  const isBundled = packageBundle('plain', (sentence) => output.note(sentence)) !== undefined;
  const [server, bundle] = await Promise.all([starting, isBundled ? undefined : writeBundle(tempFolder)]);
  const ended = server.ended.then((): never => {
    throw new Error('The Temporal server ended by itself.');
  });
  ended.catch(() => undefined); // the server also ends at shutdown
  return { ...server, bundle, ended };
}

/** Bundles the workflow code to a file, so that a restarted worker does not wait for that. Returns the path. */
async function writeBundle(folder: string): Promise<string> {
  const { bundleWorkflows } = await import('countersign/worker');
  const { code } = await bundleWorkflows();
  const path = join(folder, 'workflows.js');
  await writeFile(path, code);
  return path;
}

/** Starts the gateway, with a client that has the codecs of the module. Its pages show what `alsoShown` gives, too. */
async function startInbox(
  module: string,
  options: DevOptions & { address: string },
  cleanUp: { add(step: () => Promise<unknown>): void },
  alsoShown: Pick<GatewayOptions, 'temporalUi' | 'worker'>,
) {
  const { createClient } = await import('countersign/client');
  const { clientOptions } = await import('../base/client-options.ts');
  const { startGateway } = await import('@countersign/gateway');
  const client = await createClient(await clientOptions({ ...options, config: module }));
  cleanUp.add(() => client.close());
  const gateway = await startGateway({ client, port: options.gatewayPort, ...alsoShown });
  cleanUp.add(() => gateway.stop());
  return gateway;
}

/** Prints an event: as JSON for programs; for people as a sentence, on standard error unless a worker has started. */
function tellWorkerEvent(event: WorkerEvent, output: Output): void {
  if (!output.forPeople) return output.json(event);
  switch (event.event) {
    case 'worker':
      return output.line(
        `Worker for ${event.agents.length === 1 ? 'agent' : 'agents'} ${event.agents.map(escapeText).join(', ')}; restarts when its files change.`,
      );
    case 'changed':
      return output.note(output.style('dim', `${event.files.map(shortPath).join(', ')} changed.`));
    case 'broken': {
      const consequence = event.kept ? 'The worker before goes on.' : 'Nothing runs until this is mended.';
      const fullStop = event.message.endsWith('.') ? '' : '.';
      return output.note(`${output.style('red', `${escapeText(event.message)}${fullStop}`)} ${consequence}`);
    }
    case 'ended':
      return output.note(output.style('red', escapeText(event.message)));
  }
}

function shortPath(path: string): string {
  const short = relative('', path);
  return escapeText(existsSync(path) ? short : `${short} (gone)`);
}
