import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';

const readyTimeoutMs = 60_000;
const pollIntervalMs = 50;
const dayMs = 86_400_000;

export interface StartingServer {
  address: string;
  namespace: string;
  retentionDays: number;
  /** Names of search attributes that must exist. */
  attributes: readonly string[];
  /** Where Temporal's UI listens; null: there is none. */
  ui: { host: string; port: number } | null;
  /** Resolves when the process has ended. */
  ended: Promise<void>;
}

/**
 * Waits until the server answers and its namespace is usable, and sets the retention. Throws if the process ends or
 * after 60 s.
 */
export async function whenReady(server: StartingServer): Promise<void> {
  const deadline = performance.now() + readyTimeoutMs;
  const gone = server.ended.then(() => true);
  for (;;) {
    try {
      return await prepare(server);
    } catch (error) {
      const pause = sleep(pollIntervalMs, false);
      if (await Promise.race([gone, pause])) throw new Error('the process ended before it answered', { cause: error });
      if (performance.now() > deadline) throw new Error(`no answer in ${readyTimeoutMs / 1_000} s`, { cause: error });
    }
  }
}

async function prepare({ address, namespace, retentionDays, attributes, ui }: StartingServer): Promise<void> {
  const connection = await Connection.connect({ address, connectTimeout: '1s' });
  try {
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    const missing = attributes.find((name) => !(name in (customAttributes ?? {})));
    if (missing !== undefined) throw new Error(`search attribute ${missing} is not there yet`);
    await connection.workflowService.updateNamespace({
      namespace,
      config: { workflowExecutionRetentionTtl: msToTs(retentionDays * dayMs) },
    });
    if (ui !== null) {
      const socket = connect(ui);
      await once(socket, 'connect');
      socket.destroy();
    }
  } finally {
    await connection.close();
  }
}
