import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { DataConverter } from '@temporalio/common';
import { createClient } from '../../../src/client.ts';
import { encrypted } from '../../../src/codec.ts';
import { startDevServer } from '../../../packages/cli/src/dev-server/start-dev-server.ts';
import { bundleWorkflows } from '../../../src/worker.ts';
import { openWorld } from '../../support/world.ts';

/** Words that only the texts below contain: an argument, a reason, a rule, an edit, a result, the agent's last text. */
const secrets = ['ZebraArgument', 'ZebraReason', 'ZebraRule', 'ZebraEdit', 'ZebraSummary', 'the bank is closed'];

/** Plays a run with an edited call, a denied one and a failed one, and returns everything that the server wrote. */
async function databaseAfterRun(dataConverter?: DataConverter): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-test-database-'));
  const binary = process.env['COUNTERSIGN_TEMPORAL_BINARY']!;
  const server = await startDevServer({ uiPort: null, dbFile: join(folder, 'temporal.db'), binary });
  try {
    const { code } = await bundleWorkflows(undefined, [], dataConverter);
    const world = await openWorld({ address: server.address, dataConverter, workflowBundle: { code } });
    const { taskQueue } = world;
    const client = await createClient({ address: server.address, taskQueue, dataConverter });
    const pay = (to: string, amount: number): object => ({ tool: 'pay', args: { to, amount } });
    const turns = [
      { calls: [pay('ZebraArgument', 1)] },
      { calls: [pay('ZebraArgument', 2)] },
      { calls: [{ tool: 'fail', args: {} }] },
      { text: 'ZebraSummary' },
    ];
    const rules = ['pay', 'fail'].map((pattern) => ({ pattern, action: 'ask' as const, reason: 'ZebraRule' }));
    const run = await client.start('tester', JSON.stringify(turns), { policy: { rules } });
    const { workflowId } = run;
    const answers = [
      { approved: true, modifiedArguments: { to: 'ZebraEdit', amount: 1 } },
      { approved: false, reason: 'ZebraReason' },
      { approved: true },
    ];
    const answered = new Set<string>();
    while ((await client.show(workflowId)).status !== 'completed') {
      for (const { requestId } of (await client.approvals.list({ workflowId })).approvals) {
        if (answered.has(requestId)) continue;
        answered.add(requestId);
        await client.decide({ requestId, ...(answers.shift() ?? { approved: true }) });
      }
    }
    expect((await run.result()).output).toContain('ZebraSummary');
    await client.close();
    await world.close();
  } finally {
    await server.stop();
  }
  const files = readdirSync(folder).map((file) => readFileSync(join(folder, file)));
  rmSync(folder, { recursive: true, force: true });
  return Buffer.concat(files);
}

test('the database of the server holds no argument, reason, memo text or error message', async () => {
  const database = await databaseAfterRun(encrypted());
  expect(secrets.filter((secret) => database.includes(secret))).toEqual([]);
  // What stays in clear text: the names of types and tools.
  expect(['agentRun', 'tool:pay'].filter((name) => database.includes(name))).toEqual(['agentRun', 'tool:pay']);
});

test('without a codec it holds all of them', async () => {
  const database = await databaseAfterRun();
  expect(secrets.filter((secret) => database.includes(secret))).toEqual(secrets);
});
