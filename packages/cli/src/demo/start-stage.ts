import { rmSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGateway } from '@countersign/gateway';
import { createClient, type CountersignClient } from 'countersign/client';
import { bundleWorkflows } from 'countersign/worker';
import { findTemporal } from '../dev-server/find-temporal.ts';
import { hideOtherServers } from '../dev-server/hide-other-servers.ts';
import { startDevServer } from '../dev-server/start-dev-server.ts';
import { type AgentWorker, startAgentWorker } from './agent-worker.ts';
import type { CleanUp } from '../dev-server/clean-up.ts';

/** The environment of the demo: its own server, a client, a folder, and workers. */
export interface Stage {
  address: string;
  uiUrl: string;
  /** Process id of the server. */
  pid: number;
  client: CountersignClient;
  /** Where a person may answer in a browser: the address of the gateway. Undefined: nobody is asked. */
  gatewayUrl: string | undefined;
  /** The folder that the agent tidies. */
  folder: string;
  /** The log of the agent's tools, one line per action. */
  log: string;
  startWorker(): Promise<AgentWorker>;
}

export interface StageOptions {
  cleanUp: CleanUp;
  /** Aborts what is in flight, such as building the server. */
  signal: AbortSignal;
  /** Receives progress lines for a person while the server is downloaded or built. */
  progress: (line: string) => void;
  /** Receives the error if a worker ends by itself. */
  onWorkerEnd: (error: Error) => void;
  /** True: the gateway and its inbox start, too. */
  inbox: boolean;
}

export async function startStage(options: StageOptions): Promise<Stage> {
  const { cleanUp, signal, progress, onWorkerEnd } = options;
  const home = await mkdtemp(join(tmpdir(), 'countersign-demo-'));
  cleanUp.add(() => rm(home, { recursive: true, force: true }));
  // Also if somebody does not wait for the orderly end.
  process.once('exit', () => rmSync(home, { recursive: true, force: true }));
  hideOtherServers(home);
  const finding = findTemporal({ log: progress, signal });
  cleanUp.add(() => finding.catch(() => undefined));
  const binary = await finding;
  cleanUp.check();
  const starting = startDevServer({ binary });
  cleanUp.add(async () => (await starting).stop());
  // Bundled once, so that the second worker takes over without delay.
  const [{ address, uiUrl, pid }, { code }] = await Promise.all([starting, bundleWorkflows()]);
  // Never closed, because a call that is being retried would throw from a timer of the SDK. It ends with this process.
  const client = await createClient({ address });
  const gatewayUrl = options.inbox ? await startInbox(client, uiUrl, cleanUp) : undefined;
  const folder = join(home, 'folder');
  const bundle = join(home, 'workflows.js');
  await writeFile(bundle, code);
  return {
    address,
    uiUrl: uiUrl ?? '',
    pid,
    client,
    gatewayUrl,
    folder,
    log: `${folder}.log`,
    startWorker: () => {
      cleanUp.check();
      return startAgentWorker({
        address,
        bundle,
        folder,
        onStart: (worker) => cleanUp.add(() => worker.stop()),
        onEnd: onWorkerEnd,
      });
    },
  };
}

async function startInbox(client: CountersignClient, uiUrl: string | null, cleanUp: CleanUp): Promise<string> {
  // Its log is for operators: what goes wrong here, the browser says.
  const gateway = await startGateway({ client, port: 0, temporalUi: uiUrl ?? undefined, log: () => undefined });
  cleanUp.add(() => gateway.stop());
  return gateway.url;
}
