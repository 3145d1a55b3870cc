import { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { eventually } from './eventually.ts';
import { sharedAddress } from './shared-server.ts';

const dayMs = 86_400_000;

/** Creates a namespace without search attributes and waits until the whole server knows it. */
export async function makeNamespace(namespace: string, retentionDays = 2): Promise<void> {
  const connection = await Connection.connect({ address: sharedAddress() });
  try {
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: msToTs(retentionDays * dayMs),
    });
    await eventually(`the server knows namespace '${namespace}'`, () =>
      connection.operatorService.listSearchAttributes({ namespace }).catch(() => undefined),
    );
  } finally {
    await connection.close();
  }
}
