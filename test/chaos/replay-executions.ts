/** Replays every execution of a server in this process, and keeps those that do not replay. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { DefaultLogger, Runtime, Worker, makeTelemetryFilterString } from '@temporalio/worker';
import { connect } from '../../src/client/connect.ts';
import type { Violation } from './verify.ts';

/** Git ignores it. */
const keptIn = fileURLToPath(new URL('../failed-replays/', import.meta.url));
const rule = 'every history replays (I12)';

export async function replayExecutions({
  address,
  bundlePath,
}: {
  address: string;
  bundlePath: string;
}): Promise<Violation[]> {
  quiet();
  const { client, connection } = await connect({ address });
  const known = new Map<string, { workflowId: string; history: Parameters<typeof historyToJSON>[0] }>();
  async function* histories() {
    for await (const { workflowId, runId } of client.workflow.list()) {
      const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
      known.set(runId, { workflowId, history });
      yield { workflowId, history };
    }
  }
  const found: Violation[] = [];
  try {
    const workflowBundle = { codePath: bundlePath };
    for await (const { runId, error } of Worker.runReplayHistories({ workflowBundle }, histories())) {
      const { workflowId, history } = known.get(runId)!;
      known.delete(runId);
      if (error === undefined) continue;
      const file = join(keptIn, `${workflowId.replaceAll('/', '_')}-${runId}.json`);
      mkdirSync(keptIn, { recursive: true });
      writeFileSync(file, historyToJSON(history));
      found.push({ rule, workflowId, run: '', what: `${error.message.trim()} (${file})` });
    }
    return found;
  } finally {
    await connection.close();
  }
}

/** What does not replay is told by the violations alone. */
function quiet(): void {
  const logging = { filter: makeTelemetryFilterString({ core: 'ERROR' }) };
  try {
    Runtime.install({ logger: new DefaultLogger('ERROR'), telemetryOptions: { logging } });
  } catch {
    // The process has a runtime already: its logger stays.
  }
}
