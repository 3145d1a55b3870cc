/**
 * A server on which days pass in milliseconds, but only when a test skips time. Use it only for waiting: it enforces no
 * size limits and no parent close policy, and its continue-as-new is not atomic. Those are tested on the real server.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { InternalConnectionOptionsSymbol } from '@temporalio/client/lib/connection.js';
import { msToTs, tsToMs } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { searchAttributes } from '../../../src/contract.ts';
import { signalGroup, spawnBound } from '../../../packages/cli/src/dev-server/bound-child.ts';
import { freePort, loopback } from '../../../packages/cli/src/dev-server/free-port.ts';
import { reasonOf } from '../../../packages/cli/src/dev-server/pinned-temporal.ts';
import { startOn } from '../../support/start-on.ts';
import { type JavaServer, findJavaServer } from './time-skipping-java.ts';

export interface TimeSkippingServer {
  address: string;
  /** Advances the time by `durationMs` and fires the timers that are due. */
  skip(durationMs: number): Promise<void>;
  nowMs(): Promise<number>;
  close(): Promise<void>;
}

/** How to start one, or one sentence that says why there is none. */
export type FoundTimeSkipping = { start: () => Promise<TimeSkippingServer> } | { missing: string };

const downloadHost = 'https://temporal.download';
const answerTimeoutMs = 5_000;

/** Tries the SDK's download, then Java. */
export async function findTimeSkipping(env = process.env): Promise<FoundTimeSkipping> {
  const noDownload = await whyNoDownload(env);
  if (noDownload === undefined) return { start: startDownloaded };
  const java = await findJavaServer(env);
  if (!('missing' in java)) return { start: () => startJava(java) };
  return { missing: `no time-skipping server: ${noDownload}; with Java and Maven: ${java.missing}` };
}

async function whyNoDownload(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  if (env.COUNTERSIGN_TEMPORAL_DOWNLOAD === 'off') return 'the download is switched off';
  try {
    const { ok, status } = await fetch(downloadHost, { method: 'HEAD', signal: AbortSignal.timeout(answerTimeoutMs) });
    return ok || status === 404 ? undefined : `${downloadHost} answered ${status}`;
  } catch (error) {
    return `the SDK's download failed (${reasonOf(error)})`;
  }
}

async function startDownloaded(): Promise<TimeSkippingServer> {
  const environment = await TestWorkflowEnvironment.createTimeSkipping();
  return serverOf(environment.address, environment.connection, () => environment.teardown());
}

/** Does not use the SDK, which gives a server five seconds to start; Java on a busy machine needs more. */
async function startJava({ command, args }: JavaServer): Promise<TimeSkippingServer> {
  const port = await freePort();
  const address = `${loopback}:${port}`;
  return startOn(port, async () => {
    const child = spawnBound(command, [...args, String(port)], {});
    child.stdout.resume();
    let output = '';
    child.stderr.on('data', (chunk: Buffer) => (output = (output + chunk.toString()).slice(-4_000)));
    const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
    const connection = await connectTo(address, () => child.exitCode !== null).catch((error: unknown) => {
      throw new Error(`the time-skipping server has ended: ${output}`, { cause: error });
    });
    return serverOf(address, connection, async () => {
      await connection.close();
      signalGroup(child, 'SIGTERM');
      await ended;
    });
  });
}

/** Tries until it succeeds, or the server has ended. */
async function connectTo(address: string, hasEnded: () => boolean): Promise<Connection> {
  const testService = { [InternalConnectionOptionsSymbol]: { supportsTestService: true } };
  for (;;) {
    try {
      return await Connection.connect({ address, ...testService });
    } catch (error) {
      if (hasEnded()) throw error;
      await sleep(100);
    }
  }
}

async function serverOf(
  address: string,
  connection: Connection,
  close: () => Promise<void>,
): Promise<TimeSkippingServer> {
  const time = connection.testService!;
  const types = proto.temporal.api.enums.v1.IndexedValueType;
  await connection.operatorService.addSearchAttributes({
    namespace: 'default',
    searchAttributes: Object.fromEntries(
      Object.entries(searchAttributes).map(([name, type]) => [name, types[`INDEXED_VALUE_TYPE_${type}`]]),
    ),
  });
  return {
    address,
    skip: async (durationMs) => {
      await time.unlockTimeSkippingWithSleep({ duration: msToTs(durationMs) });
    },
    nowMs: async () => tsToMs((await time.getCurrentTime({})).time),
    close,
  };
}
