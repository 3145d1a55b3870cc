/**
 * `npm run bench:recovery`: kill -9 of the worker with 1,000 waiting runs, restart, decide all (B7). Nothing may be
 * lost and nothing may run twice, as counted outside of the runs; prints the time to recover. `--json`, `--runs N`.
 * Exits with 1 if something was lost or ran twice.
 */
import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { createClient } from '../src/client/client.ts';
import type { ApprovalRequest } from '../src/contract.ts';
import { startDevServer } from '../packages/cli/src/dev-server/start-dev-server.ts';
import { bundleInto } from './bundle-into.ts';
import { replayRuns } from './replay-runs.ts';
import { showSpread, spreadOf } from './spread.ts';
import { until } from './until.ts';
import { waitingInput } from './waiting-agent.ts';
import { spawnWaiting } from './waiting-process.ts';

const { values } = parseArgs({ options: { runs: { type: 'string', default: '1000' }, json: { type: 'boolean' } } });
const runs = Number(values.runs);
const atOnce = 20;
const say = (line: string): void => void process.stderr.write(`${line}\n`);

const folder = mkdtempSync(join(tmpdir(), 'countersign-bench-'));
const ranFile = join(folder, 'ran.log');
const codePath = await bundleInto(folder, 'ours');
const taskQueue = `recovery-${randomUUID()}`;
const server = await startDevServer({ uiPort: null, log: say });
try {
  const countersign = await createClient({ address: server.address });
  const { workflow } = countersign.session.client;
  const first = await spawnWaiting({ address: server.address, taskQueue, kind: 'ours', ranFile, codePath });
  say(`starting ${runs} runs`);
  const ids = Array.from({ length: runs }, (_, index) => `recovery-${index}-${taskQueue}`);
  await each(ids, (workflowId) =>
    workflow.start('agentRun', {
      workflowId,
      taskQueue,
      args: [{ agent: 'bench', input: waitingInput, policy: { version: 1, approval: { timeout: '1h' } } }],
    }),
  );
  const requests = new Map<string, string>();
  await each(ids, async (workflowId) => {
    const [open] = await until('an open request', async () => {
      const found = await workflow.getHandle(workflowId).query<ApprovalRequest[]>('approvals');
      return found.length > 0 && found;
    });
    requests.set(workflowId, open!.requestId);
  });
  say('kill -9, restart, decide all');
  await first.kill();
  const killedAtMs = performance.now();
  const second = await spawnWaiting({ address: server.address, taskQueue, kind: 'ours', ranFile, codePath });
  const readyMs = performance.now() - killedAtMs;
  const endedMs: number[] = [];
  await each(ids, async (workflowId) => {
    await workflow.getHandle(workflowId).signal('decide', { requestId: requests.get(workflowId)!, approved: true });
  });
  const decidedMs = performance.now() - killedAtMs;
  let lost = 0;
  await each(ids, async (workflowId) => {
    const ended = await countersign
      .run(workflowId)
      .result({ signal: AbortSignal.timeout(120_000) })
      .catch(() => undefined);
    if (ended?.status !== 'completed') lost++;
    endedMs.push(performance.now() - killedAtMs);
  });
  await second.kill();
  await countersign.close();
  await replayRuns(server.address, [codePath]);
  const ran = existsSync(ranFile) ? readFileSync(ranFile, 'utf8').trim().split('\n') : [];
  report({ ready: readyMs, decided: decidedMs, lost, ran, endedMs });
} finally {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function each(ids: readonly string[], act: (id: string) => Promise<unknown>): Promise<void> {
  for (let from = 0; from < ids.length; from += atOnce) await Promise.all(ids.slice(from, from + atOnce).map(act));
}

function report(measured: { ready: number; decided: number; lost: number; ran: string[]; endedMs: number[] }): void {
  const { ready, decided, lost, ran, endedMs } = measured;
  const twice = ran.length - new Set(ran).size;
  const notRun = runs - new Set(ran).size;
  const spread = spreadOf(endedMs.map((ms) => ms / 1_000));
  if (values.json === true) {
    console.log(
      JSON.stringify(
        { runs, readyMs: ready, decidedMs: decided, endedSeconds: spread, lost, notRun, twice },
        undefined,
        2,
      ),
    );
  } else {
    console.log(`B7: ${runs} waiting runs, worker killed with -9 and restarted, all decided.`);
    console.log(`    lost ${lost}, approved and not run ${notRun}, run twice ${twice}`);
    console.log(
      `    seconds after the kill: worker back ${(ready / 1_000).toFixed(1)}, all decisions sent ${(decided / 1_000).toFixed(1)},`,
    );
    console.log(`    runs ended (least · median · p99 · most) ${showSpread(spread, 1)}`);
  }
  if (lost + twice + notRun > 0) process.exitCode = 1;
}
